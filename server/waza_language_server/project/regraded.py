"""Verdicts of recorded answers that were graded again here, laid over those of the record.

They last until a newer run records others, and stand in no file: what a run has recorded stays its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import CheckResult, GraderResult, TaskResult
    from waza_engine.spec.reading.scalars import Json

MAX_KEPT = 20_000
"""Verdicts that are remembered."""


@frozen()
class Regraded:
    """A verdict of now on a recorded answer; ``entry`` is the grader entry that gave it, ``at`` when.

    ``live`` says that it is judged anew at each edit, ``failing`` which trials it fails, from 1.
    """

    result: GraderResult
    entry: Json
    at: datetime
    live: bool = False
    failing: tuple[int, ...] = ()


@frozen()
class RegradedTask:
    """What the graders of a task say now of what was recorded at ``timestamp``; ``error`` is why not."""

    timestamp: datetime
    status: str
    score: float
    error: str
    graders: Mapping[str, Regraded]


class Regradings:
    """The newest of each task, by its suite."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[Path, str], RegradedTask] = {}

    def add(self, suite: Path, task: str, regraded: RegradedTask) -> None:
        """Take what grading a task again has found; verdicts of graders that were not asked stay."""
        known = self._tasks.pop((suite, task), None)
        if known is not None and known.timestamp == regraded.timestamp:
            # What is judged live of the same text says the same, and goes on with the next edit.
            found = {
                name: one
                for name, one in regraded.graders.items()
                if one.live or not (name in known.graders and _is_live_of(known.graders[name], one.entry))
            }
            regraded = replace(regraded, graders={**known.graders, **found})
        self._tasks[suite, task] = regraded
        while len(self._tasks) > 1 and sum(len(one.graders) for one in self._tasks.values()) > MAX_KEPT:
            del self._tasks[next(iter(self._tasks))]

    def of(self, suite: Path, task: TaskResult, grader: str) -> Regraded | None:
        """Return what a grader says now of what was last recorded of a task; None when it was not asked."""
        known = self._tasks.get((suite, task.id))
        if known is None:
            return None
        found = known.graders.get(grader)
        recorded = task.graders.get(grader)
        newest = task.timestamp if recorded is None else recorded.timestamp
        return found if found is not None and found.result.timestamp == newest else None

    def drop(self, suite: Path, task: str, grader: str) -> None:
        """Forget what a grader says of a task: it is not judged any more."""
        known = self._tasks.get((suite, task))
        if known is not None and grader in known.graders:
            graders = {name: one for name, one in known.graders.items() if name != grader}
            self._tasks[suite, task] = replace(known, graders=graders)

    def forget_live(self, suite: Path, tasks: Collection[str]) -> None:
        """Forget what was judged live of some tasks: nobody judges it any more."""
        for task in tasks:
            known = self._tasks.get((suite, task))
            if known is not None:
                graders = {name: one for name, one in known.graders.items() if not one.live}
                self._tasks[suite, task] = replace(known, graders=graders)

    def hold(self, suite: Path, entries: Mapping[tuple[str, str], Json], tasks: Collection[str]) -> None:
        """Take the live verdicts of some tasks for those of the entries as they are written now."""
        for task in tasks:
            known = self._tasks.get((suite, task))
            if known is not None:
                graders = {
                    name: replace(one, entry=_entry(entries, task, name, one.result.type))
                    if one.live
                    else one
                    for name, one in known.graders.items()
                }
                self._tasks[suite, task] = replace(known, graders=graders)


def live_task(
    grader: str, block: object, then: TaskResult, entries: Mapping[tuple[str, str], Json], at: datetime
) -> RegradedTask | None:
    """Return what a grader says of a task in ``live.verdicts``; None for what is not judged."""
    if _text(block, "origin") != "live":
        return None
    result = _result(grader, block, then)
    failing = tuple(
        trial
        for each in _list(block, "trials")
        if _block_value(each, "passed") is not True and isinstance(trial := _block_value(each, "trial"), int)
    )
    entry = _entry(entries, then.id, grader, result.type)
    verdict = Regraded(result, entry, at, live=True, failing=failing)
    return RegradedTask(then.timestamp, then.status, then.score, "", {grader: verdict})


def _is_live_of(known: Regraded, entry: Json) -> bool:
    return known.live and known.entry == entry


def _entry(entries: Mapping[tuple[str, str], Json], task: str, name: str, grader_type: str) -> Json:
    """Return what is written of a grader of a task, or of what a task expects."""
    name = "//expected" if grader_type == "expected" else name
    return entries.get((task, name), entries.get(("", name)))


def regraded_tasks(
    answer: object, recorded: Mapping[str, TaskResult], entries: Mapping[tuple[str, str], Json], at: datetime
) -> Iterator[tuple[str, RegradedTask]]:
    """Yield what the engine answers to ``grader.grade``, task by task, with the grader entries that it asked.

    ``entries`` are by task and name, those of the suite at the task ``""``.
    """
    for name, task in block(answer, "tasks").items():
        then = recorded.get(name)
        if then is None:
            continue
        graders = {
            grader: Regraded(
                _result(grader, said, then), entries.get((name, grader), entries.get(("", grader))), at
            )
            for grader, said in block(task, "graders").items()
            if _text(said, "origin") == "live"
        }
        score = _block_value(task, "overall_score")
        yield (
            name,
            RegradedTask(
                then.timestamp, _text(task, "status"), _number(score), _text(task, "error"), graders
            ),
        )


def _result(name: str, said: object, then: TaskResult) -> GraderResult:
    from waza_engine.results.reading.newest_scores import GraderResult

    recorded = then.graders.get(name)
    origin = then.origin if recorded is None else recorded.origin
    return GraderResult(
        name=name,
        type=_text(said, "type"),
        status=_text(said, "status"),
        score=_number(_block_value(said, "score")),
        passed=_block_value(said, "passed") is True,
        scores=tuple(map(_number, _list(said, "scores"))),
        passes=tuple(passed is True for passed in _list(said, "passes")),
        feedback=_text(said, "feedback"),
        checks=tuple(map(_check, _list(said, "checks"))),
        timestamp=then.timestamp if recorded is None else recorded.timestamp,
        origin=origin,
    )


def _check(said: object) -> CheckResult:
    from waza_engine.results.reading.newest_scores import CheckResult

    path = tuple(step for step in _list(said, "path") if isinstance(step, str | int))
    passed, trials = _block_value(said, "passed_trials"), _block_value(said, "trials")
    return CheckResult(
        path,
        _block_value(said, "passed") is True,
        passed if isinstance(passed, int) else 0,
        trials if isinstance(trials, int) else 0,
        _text(said, "message"),
    )


def block(value: object, key: str) -> Mapping[str, Any]:
    """Return the object at a key of an answer; none when there is none."""
    found = _block_value(value, key)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _block_value(value: object, key: str) -> Any:
    return cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None


def _list(value: object, key: str) -> Sequence[Any]:
    found = _block_value(value, key)
    return cast("Sequence[Any]", found) if isinstance(found, list) else ()


def _text(value: object, key: str) -> str:
    found = _block_value(value, key)
    return found if isinstance(found, str) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
