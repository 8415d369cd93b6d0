"""The last runs of a suite over time: scores, flaky tasks, and since when a task has not passed."""

from __future__ import annotations

from collections.abc import Sequence

from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.json_values import Json
from waza_engine.results.reading.recordings import Recording
from waza_engine.results.task_conclusion import TaskConclusion

_BARS = "▁▂▃▄▅▆▇█"
_NO_SCORE = "·"
_RED = ("failed", "errored", "lost")


def trend(recordings: Sequence[Recording]) -> Json:
    """Return the runs, oldest first, and each task over them.

    ``scores`` and ``verdicts`` have one item a run, null where a task did not run. ``passed`` of ``judged``
    runs passed; a task is ``flaky`` when its trials differ within a run. ``red_since`` is the file of the
    first of the runs since which it has not passed, null when its newest run is none of them.
    """
    concluded = [conclude(run_of(recording.document)) for recording in recordings]
    by_run = [{task.id: task for task in found.tasks} for found in concluded]
    identifiers = dict.fromkeys(identifier for tasks in reversed(by_run) for identifier in tasks)
    return {
        "runs": [
            {
                "file": recording.path.name,
                "started": recording.header.started.isoformat(),
                "model": recording.header.model,
                "verdict": found.verdict,
                "score": _mean([task.score for task in found.tasks if task.judged]),
            }
            for recording, found in zip(recordings, concluded, strict=True)
        ],
        "tasks": [
            _task(identifier, recordings, [tasks.get(identifier) for tasks in by_run])
            for identifier in identifiers
        ],
    }


def sparkline(scores: Sequence[float | None]) -> str:
    """Return a bar for each score from 0 to 1, a dot where there is none."""
    return "".join(
        _NO_SCORE if score is None else _BARS[min(len(_BARS) - 1, max(0, int(score * len(_BARS))))]
        for score in scores
    )


def _task(identifier: str, recordings: Sequence[Recording], found: Sequence[TaskConclusion | None]) -> Json:
    judged = [task for task in found if task is not None and task.judged]
    return {
        "id": identifier,
        "scores": [task.score if task is not None and task.judged else None for task in found],
        "verdicts": [None if task is None else task.verdict for task in found],
        "passed": sum(task.verdict == "passed" for task in judged),
        "judged": len(judged),
        "flaky": any(task.flaky for task in judged),
        "red_since": _red_since(recordings, found),
    }


def _red_since(recordings: Sequence[Recording], found: Sequence[TaskConclusion | None]) -> str | None:
    since: str | None = None
    for recording, task in zip(reversed(recordings), reversed(found), strict=True):
        if task is None or task.verdict in ("skipped", "not run"):
            continue
        if task.verdict not in _RED:
            break
        since = recording.path.name
    return since


def _mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None
