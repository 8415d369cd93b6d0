"""Verdicts of recorded answers that were graded again in this session; they replace those of the record.

They are valid until a newer run is recorded, and are not stored: the record of a run is never changed.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import GraderResult, RunResult, TaskResult
    from waza_engine.results.record import MetricOutcome
    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.recorded_values import Values

PENDING_AFTER_SECONDS = 0.1
"""How long a live verdict of an older text stays visible."""
MOST_TASKS = 10_000
"""Tasks whose new verdicts are remembered."""


@frozen()
class Regraded:
    """A new verdict on a recorded answer; ``entry`` is the grader entry that gave it, ``at`` when.

    ``live`` says that it is graded again at each edit, ``failing`` which trials it fails, from 1.
    """

    result: GraderResult
    entry: Json
    at: datetime
    live: bool = False
    failing: tuple[int, ...] = ()
    baseline: datetime | None = None
    """When the run began whose trials were judged, if a person chose it; None for the newest answers."""
    read: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The files that it was judged by and no agent has seen, with the SHA-256 of each, "" for none."""
    recorded: GraderResult | None = None
    """The grader's result in the run, None if it did not run then; only known for live verdicts."""


@frozen()
class RegradedTask:
    """The new results of a task's graders on the trials of ``timestamp``; ``error`` is why there are none.

    ``kept`` are graders whose recorded verdict counts. The other values are as in ``TaskResult``.
    """

    timestamp: datetime
    status: str
    score: float
    passed_trials: int
    error: str
    graders: Mapping[str, Regraded]
    kept: Collection[str] = ()

    def over(self, task: TaskResult) -> TaskResult:
        """Return a recorded task with its new results; graders that other runs have judged since win."""
        # With the first results: most suites were never run.
        from waza_engine.results.reading.newest_scores import with_newer_graders

        results = {name: one.result for name, one in self.graders.items()}
        kept = {name: verdict for name, verdict in task.graders.items() if name in self.kept}
        now = replace(
            task,
            status=self.status,
            score=self.score,
            passed_trials=self.passed_trials,
            error=self.error,
            graders=kept | results,
        )
        newer = {
            name: verdict
            for name, verdict in task.graders.items()
            if verdict.timestamp > (results[name].timestamp if name in results else task.timestamp)
        }
        return with_newer_graders(now, newer)


@frozen()
class RegradedResult:
    """The graders of a task that were requested to grade again, each as it was written then.

    ``whole`` says that the task was judged by all of its graders in ``entries``, by task and name.
    ``concluded`` is its verdict at the moment ``at``, with the recorded results of graders that did not grade
    again; None if unknown, because some had been regraded before.
    """

    timestamp: datetime
    graders: Mapping[str, Json]
    whole: bool
    entries: Values
    at: datetime
    concluded: RegradedTask | None


@frozen()
class RegradedSuite:
    """The verdict of the entire run of ``timestamp`` when it was graded again at ``at``.

    ``entries`` are those that judged, by task and name; the other values are as in ``RunResult``.
    """

    timestamp: datetime
    tasks: Mapping[str, RegradedTask]
    verdict: str
    reasons: tuple[str, ...]
    metrics: tuple[MetricOutcome, ...]
    entries: Values
    at: datetime


class Regradings:
    """The newest regraded results of each task and suite."""

    def __init__(self) -> None:
        # Keyed by strings: every grader looks up every task, and paths are slow to compare.
        self._asked: dict[tuple[str, str], RegradedResult] = {}
        self._suites: dict[str, RegradedSuite] = {}
        self._tasks: dict[tuple[str, str], RegradedTask] = {}
        self._over: dict[str, tuple[RunResult, int, RunResult]] = {}
        """The last inputs and results of ``over``: it is called at each keystroke."""
        self._behind: dict[str, float] = {}
        """Since when the live verdicts of suites have lagged behind their texts."""
        self.version = 0
        """Grows with each change."""

    def note_edit(self, suite: Path) -> None:
        """Record that a newer text of a suite is being graded live."""
        self._behind.setdefault(str(suite), time.monotonic())

    def note_answer(self, suite: Path) -> None:
        """Record that the newest text of a suite was graded, or cannot be."""
        self._behind.pop(str(suite), None)

    def behind(self, suite: Path) -> Literal["no", "briefly", "long"]:
        """Return whether, and how long, the live verdicts of a suite are of an older text."""
        since = self._behind.get(str(suite)) if self._behind else None
        if since is None:
            return "no"
        return "briefly" if time.monotonic() - since < PENDING_AFTER_SECONDS else "long"

    def add(self, suite: Path, task: str, regraded: RegradedTask) -> None:
        """Add the regraded results of a task; verdicts of other graders stay."""
        self.version += 1
        known = self._tasks.pop((str(suite), task), None)
        if known is not None and known.timestamp == regraded.timestamp:
            # A live verdict on the same text is the same, and stays live at the next edit.
            found = {
                name: one
                for name, one in regraded.graders.items()
                if one.live
                or not ((before := known.graders.get(name)) and before.live and before.entry == one.entry)
            }
            regraded = replace(regraded, graders={**known.graders, **found})
        self._tasks[str(suite), task] = regraded
        if len(self._tasks) > MOST_TASKS:
            del self._tasks[next(iter(self._tasks))]

    def note_asked(
        self, suite: Path, task: str, regraded: RegradedTask, entries: Values, at: datetime, *, whole: bool
    ) -> None:
        """Remember the graders by which a task was judged again on request.

        ``whole`` says that all graders of the task in ``entries`` have judged it.
        """
        self.version += 1
        known = self._asked.pop((str(suite), task), None)
        judged = regraded.graders.items()
        graders = {name: entry_of(entries, task, name, one.result.type) for name, one in judged}
        asked = RegradedResult(regraded.timestamp, graders, whole, entries, at, regraded)
        if known is not None and known.timestamp == regraded.timestamp and not whole:
            judged_now = known.graders.keys() <= graders.keys() and not known.whole
            asked = replace(
                known,
                graders={**known.graders, **graders},
                at=at,
                concluded=regraded if judged_now else known.concluded if known.whole else None,
            )
        self._asked[str(suite), task] = asked
        if len(self._asked) > MOST_TASKS:
            del self._asked[next(iter(self._asked))]

    def note_suite(self, suite: Path, regraded: RegradedSuite) -> None:
        """Remember the new verdict of the last run of an entire suite that was graded again."""
        self.version += 1
        self._suites[str(suite)] = regraded

    def over(self, suite: Path, found: RunResult | None) -> RunResult | None:
        """Return the results of a suite with the new verdicts of tasks that were graded again."""
        if found is None or not self._asked:
            return found
        known = self._over.get(str(suite))
        if known is None or known[0] is not found or known[1] != self.version:
            result = replace(found, tasks={task.id: self._now(suite, task) for task in found.tasks.values()})
            of_suite, whole = self.of_suite(suite, found), found.whole
            if whole is not None and of_suite is not None:
                result = replace(result, whole=_suite_now(whole, of_suite))
            elif whole is not None and any(self.again(suite, task) for task in found.tasks.values()):
                # The conclusion of the run no longer matches the verdicts of its tasks.
                result = replace(result, whole=replace(whole, status="", verdict="", reasons=(), lasting=()))
            known = self._over[str(suite)] = found, self.version, result
        return known[2]

    def again(self, suite: Path, task: TaskResult) -> RegradedResult | None:
        """Return the result of a task that was graded again as a whole, None without one."""
        known = self.asked(suite, task)
        if known is None or known.concluded is None or not known.concluded.graders:
            return None
        return None if _was_reviewed(task, known.at) else known

    def of_suite(self, suite: Path, found: RunResult) -> RegradedSuite | None:
        """Return the new verdict of the last run of an entire suite, None if it was not graded again."""
        known, run = self._suites.get(str(suite)), found.whole
        if known is None or run is None or known.timestamp != run.timestamp:
            return None
        return None if any(_was_reviewed(task, known.at) for task in run.tasks.values()) else known

    def _now(self, suite: Path, task: TaskResult) -> TaskResult:
        known = self.again(suite, task)
        return task if known is None or known.concluded is None else known.concluded.over(task)

    def asked(self, suite: Path, task: TaskResult) -> RegradedResult | None:
        """Return what was graded again of a task's newest record; None if that was not requested."""
        known = self._asked.get((str(suite), task.id))
        return known if known is not None and known.timestamp == task.timestamp else None

    def of(self, suite: Path, task: TaskResult, grader: str) -> Regraded | None:
        """Return the new result of a grader on the last record of a task; None if it did not grade again."""
        known = self._tasks.get((str(suite), task.id)) if self._tasks else None
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
        """Remove the result of a grader on a task, which is no longer updated."""
        known = self._tasks.get((str(suite), task))
        if known is not None and grader in known.graders:
            graders = {name: one for name, one in known.graders.items() if name != grader}
            self.version += 1
            self._tasks[str(suite), task] = replace(known, graders=graders)

    def forget_live(self, suite: Path, tasks: Collection[str]) -> None:
        """Remove the live verdicts of some tasks, which are no longer updated."""
        for task in tasks:
            known = self._tasks.get((str(suite), task))
            if known is not None:
                graders = {name: one for name, one in known.graders.items() if not one.live}
                self.version += 1
                self._tasks[str(suite), task] = replace(known, graders=graders)

    def hold(self, suite: Path, entries: Values, tasks: Collection[str]) -> None:
        """Declare the live verdicts of some tasks valid for the current grader entries."""
        for task in tasks:
            known = self._tasks.get((str(suite), task))
            changed = {
                name: replace(one, entry=entry)
                for name, one in (known.graders.items() if known is not None else ())
                if one.live and (entry := entry_of(entries, task, name, one.result.type)) != one.entry
            }
            if known is not None and changed:
                self.version += 1
                self._tasks[str(suite), task] = replace(known, graders={**known.graders, **changed})


def _suite_now(run: RunResult, regraded: RegradedSuite) -> RunResult:
    tasks = {
        name: regraded.tasks[name].over(task) if name in regraded.tasks else task
        for name, task in run.tasks.items()
    }
    return replace(
        run,
        tasks=tasks,
        verdict=regraded.verdict,
        reasons=regraded.reasons,
        lasting=(),
        metrics=regraded.metrics,
    )


def _was_reviewed(task: TaskResult, since: datetime) -> bool:
    """Return whether a person has given a verdict of a task since."""
    return any(each.reviewed is not None and each.reviewed > since for each in task.graders.values())


def entry_of(entries: Values, task: str, name: str, grader_type: str) -> Json:
    """Return the entry of a grader of a task, or of an expectation of a task."""
    name = "//expected" if grader_type == "expected" else name
    return entries.get((task, name), entries.get(("", name)))
