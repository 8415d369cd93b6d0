"""The last runs of a suite over time: scores, flaky tasks, and since when a task has not passed."""

from __future__ import annotations

from collections.abc import Sequence

from waza_engine.moments import is_known
from waza_engine.results.codec.run_documents import commit_document
from waza_engine.results.json_values import Json
from waza_engine.results.reading.history import RecordedRun, RecordedTask
from waza_engine.scoring.pass_estimates import pass_estimates
from waza_engine.spec.executors import asked_model

_RED = ("failed", "errored")


def trend(runs: Sequence[RecordedRun]) -> Json:
    """Return the runs, oldest first, and each task over them.

    ``scores`` and ``verdicts`` have one item a run, null where a task did not run. ``passed`` of ``judged``
    runs passed; a task is ``flaky`` when its trials differ within a run: in those runs ``passed_trials`` of
    ``trials`` passed. ``estimates`` are pass@k and pass^k in each run, in words, null for one trial.
    ``red_since`` is the file of the first of the runs since which it has not passed, null
    when its newest run is not one of them, and ``passed_in`` the file of the run before, null when it did not
    pass there. The ``commit`` of a run is null where none was recorded, its ``part`` is the part of the suite
    that it covered, null for all of it. A task that passed chosen graders alone is not judged, and red when
    it failed them.
    """
    identifiers = dict.fromkeys(task.id for run in reversed(runs) for task in run.tasks)
    return {
        "runs": [
            {
                "file": run.file,
                "started": run.started.isoformat() if is_known(run.started) else None,
                "model": asked_model(run.executor, run.model),
                "verdict": run.verdict,
                "score": run.score,
                "part": run.part or None,
                "commit": commit_document(run.commit),
            }
            for run in runs
        ],
        "tasks": [
            _task(identifier, runs, [run.task(identifier) for run in runs]) for identifier in identifiers
        ],
    }


def _task(identifier: str, runs: Sequence[RecordedRun], found: Sequence[RecordedTask | None]) -> Json:
    judged = [task for task in found if task is not None and task.judged]
    uneven = [task for task in judged if task.flaky]
    since, passed_in = _red_since(runs, found)
    return {
        "id": identifier,
        "scores": [task.score if task is not None else None for task in found],
        "verdicts": [None if task is None else task.verdict for task in found],
        "passed": sum(task.verdict == "passed" for task in judged),
        "judged": len(judged),
        "flaky": bool(uneven),
        "passed_trials": sum(task.passed for task in uneven),
        "trials": sum(task.trials for task in uneven),
        "estimates": [
            pass_estimates(task.passed, task.trials).words if task is not None and task.trials > 1 else None
            for task in found
        ],
        "red_since": since,
        "passed_in": passed_in,
    }


def _red_since(
    runs: Sequence[RecordedRun], found: Sequence[RecordedTask | None]
) -> tuple[str | None, str | None]:
    since: str | None = None
    for run, task in zip(reversed(runs), reversed(found), strict=True):
        if task is None or task.verdict in ("skipped", "lost", "not run"):
            continue
        if run.chosen_graders and task.verdict not in _RED:
            continue
        if task.verdict not in _RED:
            return since, run.file if since is not None and task.verdict == "passed" else None
        since = run.file
    return since, None
