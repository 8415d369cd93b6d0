"""Verdicts of recorded answers that were graded again here, laid over those of the record.

They last until a newer run records others, and stand in no file: what a run has recorded stays its own.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.results.json_values import (
    Block,
    block_of,
    blocks_by_name,
    blocks_of,
    items_of,
    number,
    path_of,
    text_of,
    whole,
)

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import CheckResult, GraderResult, TaskResult
    from waza_engine.spec.reading.scalars import Json

MAX_KEPT = 20_000
"""Verdicts that are remembered."""
MAX_ASKED = 10_000
"""Tasks that were graded again and are remembered."""


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
    bed: datetime | None = None
    """When the run began on whose trials it was judged, of one that was chosen; None for the last answers."""
    read: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The files that it was judged by and no agent has seen, with the SHA-256 of each, "" for none."""


@frozen()
class RegradedTask:
    """What the graders of a task say now of what was recorded at ``timestamp``; ``error`` is why not."""

    timestamp: datetime
    status: str
    score: float
    error: str
    graders: Mapping[str, Regraded]


@frozen()
class AskedAgain:
    """What of a task somebody has had graded again: the graders that judged, each as it was written then.

    ``whole`` says that the task was judged by all that ``entries`` have of it, by task and name.
    """

    timestamp: datetime
    graders: Mapping[str, Json]
    whole: bool
    entries: Mapping[tuple[str, str], Json]


class Regradings:
    """The newest of each task, by its suite."""

    def __init__(self) -> None:
        # By the path as text: every grader asks of every task, and paths take long to compare.
        self._asked: dict[tuple[str, str], AskedAgain] = {}
        self._tasks: dict[tuple[str, str], RegradedTask] = {}
        self._count = 0
        self.version = 0
        """Another number whenever something else may be said."""

    def add(self, suite: Path, task: str, regraded: RegradedTask) -> None:
        """Take what grading a task again has found; verdicts of graders that were not asked stay."""
        self.version += 1
        known = self._tasks.pop((str(suite), task), None)
        if known is not None and known.timestamp == regraded.timestamp:
            # What is judged live of the same text says the same, and goes on with the next edit.
            found = {
                name: one
                for name, one in regraded.graders.items()
                if one.live or not (name in known.graders and _is_live_of(known.graders[name], one.entry))
            }
            regraded = replace(regraded, graders={**known.graders, **found})
        self._count += len(regraded.graders) - (0 if known is None else len(known.graders))
        self._tasks[str(suite), task] = regraded
        while len(self._tasks) > 1 and self._count > MAX_KEPT:
            self._count -= len(self._tasks.pop(next(iter(self._tasks))).graders)

    def note_asked(
        self,
        suite: Path,
        task: str,
        regraded: RegradedTask,
        entries: Mapping[tuple[str, str], Json],
        *,
        whole: bool,
    ) -> None:
        """Remember by which graders a task was judged again because somebody has asked for it."""
        known = self._asked.pop((str(suite), task), None)
        judged = regraded.graders.items()
        graders = {name: _entry(entries, task, name, one.result.type) for name, one in judged}
        if known is not None and known.timestamp == regraded.timestamp:
            graders = {**known.graders, **graders}
            whole, entries = (True, entries) if whole else (known.whole, known.entries)
        self._asked[str(suite), task] = AskedAgain(regraded.timestamp, graders, whole, entries)
        while len(self._asked) > MAX_ASKED:
            del self._asked[next(iter(self._asked))]

    def asked(self, suite: Path, task: TaskResult) -> AskedAgain | None:
        """Return what was judged again of a task's newest record; None when nobody has asked for that."""
        known = self._asked.get((str(suite), task.id))
        return known if known is not None and known.timestamp == task.timestamp else None

    def of(self, suite: Path, task: TaskResult, grader: str) -> Regraded | None:
        """Return what a grader says now of what was last recorded of a task; None when it was not asked."""
        known = self._tasks.get((str(suite), task.id))
        if known is None:
            return None
        found = known.graders.get(grader)
        recorded = task.graders.get(grader)
        newest = task.timestamp if recorded is None else recorded.timestamp
        return found if found is not None and found.result.timestamp == newest else None

    def files_read(self, suite: Path, tasks: Iterable[str]) -> set[Path]:
        """Return the files that the live verdicts of some tasks were judged by."""
        known = (self._tasks.get((str(suite), task)) for task in tasks)
        return {
            path
            for one in known
            for grader in (one.graders.values() if one is not None else ())
            for path in grader.read
        }

    def drop(self, suite: Path, task: str, grader: str) -> None:
        """Forget what a grader says of a task: it is not judged any more."""
        known = self._tasks.get((str(suite), task))
        if known is not None and grader in known.graders:
            graders = {name: one for name, one in known.graders.items() if name != grader}
            self._count -= 1
            self.version += 1
            self._tasks[str(suite), task] = replace(known, graders=graders)

    def forget_live(self, suite: Path, tasks: Collection[str]) -> None:
        """Forget what was judged live of some tasks: nobody judges it any more."""
        for task in tasks:
            known = self._tasks.get((str(suite), task))
            if known is not None:
                graders = {name: one for name, one in known.graders.items() if not one.live}
                self.version += 1
                self._count += len(graders) - len(known.graders)
                self._tasks[str(suite), task] = replace(known, graders=graders)

    def hold(self, suite: Path, entries: Mapping[tuple[str, str], Json], tasks: Collection[str]) -> None:
        """Take the live verdicts of some tasks for those of the entries as they are written now."""
        for task in tasks:
            known = self._tasks.get((str(suite), task))
            changed = {
                name: replace(one, entry=entry)
                for name, one in (known.graders.items() if known is not None else ())
                if one.live and (entry := _entry(entries, task, name, one.result.type)) != one.entry
            }
            if known is not None and changed:
                self.version += 1
                self._tasks[str(suite), task] = replace(known, graders={**known.graders, **changed})


def live_task(
    grader: str,
    block: Block,
    then: TaskResult,
    entries: Mapping[tuple[str, str], Json],
    at: datetime,
    bed: datetime | None = None,
) -> RegradedTask | None:
    """Return what a grader says of a task in ``live.verdicts``; None for what is not judged.

    ``bed`` is when the run began that was chosen for it.
    """
    if text_of(block.get("origin")) != "live":
        return None
    result = _result(grader, block, then)
    failing = tuple(
        trial
        for each in blocks_of(block.get("trials"))
        if each.get("passed") is not True and isinstance(trial := each.get("trial"), int)
    )
    entry = _entry(entries, then.id, grader, result.type)
    written = block_of(block, "read")
    read = {Path(os.path.normpath(path)): text_of(written.get(path)) for path in written}
    verdict = Regraded(result, entry, at, live=True, failing=failing, bed=bed, read=read)
    return RegradedTask(then.timestamp, then.status, then.score, "", {grader: verdict})


def _is_live_of(known: Regraded, entry: Json) -> bool:
    return known.live and known.entry == entry


def _entry(entries: Mapping[tuple[str, str], Json], task: str, name: str, grader_type: str) -> Json:
    """Return what is written of a grader of a task, or of what a task expects."""
    name = "//expected" if grader_type == "expected" else name
    return entries.get((task, name), entries.get(("", name)))


def regraded_tasks(
    answer: Block, recorded: Mapping[str, TaskResult], entries: Mapping[tuple[str, str], Json], at: datetime
) -> Iterator[tuple[str, RegradedTask]]:
    """Yield what the engine answers to ``grader.grade``, task by task, with the grader entries that it asked.

    ``entries`` are by task and name, those of the suite at the task ``""``.
    """
    for name, task in blocks_by_name(answer, "tasks").items():
        then = recorded.get(name)
        if then is None:
            continue
        graders = {
            grader: Regraded(
                _result(grader, said, then), entries.get((name, grader), entries.get(("", grader))), at
            )
            for grader, said in blocks_by_name(task, "graders").items()
            if text_of(said.get("origin")) == "live"
        }
        yield (
            name,
            RegradedTask(
                then.timestamp,
                text_of(task.get("status")),
                number(task.get("overall_score")),
                text_of(task.get("error")),
                graders,
            ),
        )


def _result(name: str, said: Block, then: TaskResult) -> GraderResult:
    from waza_engine.results.reading.newest_scores import GraderResult

    recorded = then.graders.get(name)
    origin = then.origin if recorded is None else recorded.origin
    return GraderResult(
        name=name,
        type=text_of(said.get("type")),
        status=text_of(said.get("status")),
        score=number(said.get("score")),
        passed=said.get("passed") is True,
        scores=tuple(map(number, items_of(said.get("scores")))),
        passes=tuple(passed is True for passed in items_of(said.get("passes"))),
        feedback=text_of(said.get("feedback")),
        checks=tuple(map(_check, blocks_of(said.get("checks")))),
        timestamp=then.timestamp if recorded is None else recorded.timestamp,
        origin=origin,
    )


def _check(said: Block) -> CheckResult:
    from waza_engine.results.reading.newest_scores import CheckResult

    return CheckResult(
        path_of(said.get("path")),
        said.get("passed") is True,
        whole(said.get("passed_trials")),
        whole(said.get("trials")),
        text_of(said.get("message")),
    )
