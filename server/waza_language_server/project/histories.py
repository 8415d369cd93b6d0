"""The results of the recorded runs of suites over time, as last reported by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import cast

from waza_engine.frozen import frozen
from waza_engine.results.codec.run_documents import commit_in
from waza_engine.results.json_values import Block, blocks_of, items_of, number_or_none, whole
from waza_engine.vocabulary import Commit

MOST_SUITES = 200


@frozen()
class TaskHistory:
    """A task over the runs. ``scores`` has one item a run, 0..1, None where it was not judged.

    It passed in ``passed`` of ``judged`` runs. In the runs in which its trials differed ``passed_trials`` of
    ``trials`` passed; both are 0 without any. ``red_since`` is the first of the runs since which it has not
    passed, as a position in the runs, None when it has; ``passed_in`` is the run before, if it passed there.
    """

    scores: tuple[float | None, ...]
    passed: int
    judged: int
    passed_trials: int
    trials: int
    red_since: int | None
    passed_in: int | None


@frozen()
class RunOnce:
    """A recorded run: its file, when it started, the model, and its mean score, None without any.

    ``part`` says to what part of the suite it was limited, "" for all of it. ``commit`` is what its suite's
    repository was at, None where none was recorded.
    """

    file: str
    started: datetime
    model: str
    score: float | None
    commit: Commit | None = None
    part: str = ""


@frozen()
class SuiteHistory:
    """The last runs of a suite, oldest first, and its tasks over them by their ids."""

    runs: tuple[RunOnce, ...]
    tasks: Mapping[str, TaskHistory]


class Histories:
    """The memory of histories, by eval file; the oldest goes when there are too many."""

    def __init__(self) -> None:
        self._known: dict[Path, SuiteHistory] = {}

    def of(self, suite: Path) -> SuiteHistory | None:
        """Return the known history of a suite."""
        return self._known.get(suite)

    def take(self, suite: Path, found: SuiteHistory | None) -> bool:
        """Store the current history of a suite; return whether it has changed."""
        before = self._known.pop(suite, None)
        if found is not None:
            self._known[suite] = found
            if len(self._known) > MOST_SUITES:
                del self._known[next(iter(self._known))]
        return before != found


def history_of(answer: object) -> SuiteHistory | None:
    """Return the history in an answer to ``result.history``; None without runs, or if it is malformed."""
    block = cast("Block", answer if isinstance(answer, Mapping) else {})
    runs = [_run(run) for run in blocks_of(block.get("runs"))]
    known = [run for run in runs if run is not None]
    if not known or len(known) < len(runs):
        return None
    places = {run.file: place for place, run in enumerate(known)}
    tasks = {str(task.get("id")): _task(task, places) for task in blocks_of(block.get("tasks"))}
    return SuiteHistory(tuple(known), tasks)


def _run(run: Block) -> RunOnce | None:
    try:
        started = datetime.fromisoformat(str(run.get("started")))
    except ValueError:
        return None
    return RunOnce(
        file=str(run.get("file")),
        started=started,
        model=str(run.get("model") or ""),
        score=number_or_none(run.get("score")),
        commit=commit_in(run),
        part=str(run.get("part") or ""),
    )


def _task(task: Block, places: Mapping[str, int]) -> TaskHistory:
    return TaskHistory(
        scores=tuple(map(number_or_none, items_of(task.get("scores")))),
        passed=whole(task.get("passed")),
        judged=whole(task.get("judged")),
        passed_trials=whole(task.get("passed_trials")),
        trials=whole(task.get("trials")),
        red_since=places.get(str(task.get("red_since"))),
        passed_in=places.get(str(task.get("passed_in"))),
    )
