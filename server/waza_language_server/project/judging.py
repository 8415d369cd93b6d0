"""Whether a suite and its tasks are written today as they were judged: by a run, or when graded again since.

What a file says is compared, not its text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from waza_engine.markdown import code
from waza_engine.spec.reading.scalars import Json
from waza_engine.steps import Steps
from waza_language_server.project.recorded_values import (
    INPUTS,
    Values,
    entries_in_steps,
    values_of_file_in_steps,
    values_today_in_steps,
)
from waza_language_server.project.staleness import (
    A_JUDGE_REWRITTEN,
    REWRITTEN,
    SUITE_GRADER_REWRITTEN,
    SUITE_REWRITTEN_AGAIN,
    TASK_ADDED,
    TASK_REWRITTEN,
)

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult, TaskResult
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores
    from waza_language_server.project.regraded import AskedAgain, RegradedSuite

_Said = Mapping[str, Json]
_ByPlace = Mapping[str, _Said]
"""What is written, by the task that it belongs to (``""`` for the file itself) and by its name."""


def judging_in_steps(document: Document, scores: DocumentScores, run: RunResult) -> Steps[Judging]:
    """Return how the suite of a document is written that the newest results are of, with pauses."""
    (suite, *_) = scores.suites_of(run)
    own: Values = {}
    if document.kind != "trigger_tests":
        own = yield from values_today_in_steps(document.tree)
    of_suite = own
    if document.kind == "task":
        of_suite = yield from values_of_file_in_steps(scores.project, suite)
    again = scores.project.scores.regraded.of_suite(suite, run) if document.kind == "eval" else None
    entries: Values = {}
    if document.kind == "eval" and (again is not None or in_parts(run)):
        entries = yield from entries_in_steps(scores.project, suite)
    return Judging(scores, suite, own, of_suite, again, entries)


def in_parts(newest: RunResult) -> bool:
    """Tell whether a part of a suite has come to its end since the last run of all of it."""
    whole, later = newest.whole, newest.later
    if whole is None or newest.timestamp <= whole.timestamp or (later and later.started > newest.timestamp):
        return False
    return newest.origin is not None and newest.status != "canceled"


class Judging:
    """A document and its eval file as they are written today, beside what they said when they were judged."""

    def __init__(
        self,
        scores: DocumentScores,
        suite: Path,
        own: Values,
        of_suite: Values,
        suite_again: RegradedSuite | None,
        entries: Values,
    ) -> None:
        self._scores = scores
        self._suite = suite
        self._own = _by_place(own)
        self._of_suite = _of_file(of_suite)
        self._entries = entries
        self._parts = _by_place(entries)
        self._then: dict[datetime, _ByPlace | None] = {}
        self._of_suite_then: dict[datetime, _Said | None] = {}
        self._judged: tuple[Values, _ByPlace] | None = None
        self._changed: tuple[_Said, frozenset[str]] | None = None
        self.suite_again = suite_again
        """What the suite came to when all of it was graded again, None when the verdict of its run holds."""

    def again(self, task: TaskResult) -> AskedAgain | None:
        """Return who has judged a task again as a whole, None when the verdict of its run holds."""
        return self._scores.project.scores.regraded.again(self._suite, task)

    @property
    def tasks_today(self) -> Collection[str]:
        """The ids of all tasks of the suite, where it is told in parts or was graded again."""
        return self._parts.keys() - {""}

    def rewritten_task(self, task: TaskResult, place: str) -> str:
        """Return what is written otherwise than what came to the verdict of a task, "" when nothing is.

        ``place`` is where the document has it: by its id, ``""`` for the file of a task.
        """
        then = self._at(task.timestamp)
        if then is None:
            return REWRITTEN.format("file")
        before, today = then.get(place, {}), self._own.get(place, {})
        if self.again(task) is not None:
            is_asked = before.get(INPUTS) == today.get(INPUTS)
            return self._rejudged(task, today) if is_asked else REWRITTEN.format("task")
        return REWRITTEN.format("task") if before != today else self._rewritten_around(task, today)

    def rewritten_part(self, task: TaskResult) -> str:
        """Return the same of any task of an eval file, the file of which may be another one."""
        if task.id in self._own:
            return self.rewritten_task(task, task.id)
        recorded, today = self._scores.recorded, self._parts.get(task.id, {})
        if self.again(task) is not None:
            asks = recorded.asks_otherwise(task.timestamp, task.id)
            return TASK_REWRITTEN if asks else self._rejudged(task, today)
        if recorded.says_otherwise(task.timestamp, (task.id,)):
            return TASK_REWRITTEN
        return self._rewritten_around(task, today)

    def _rejudged(self, task: TaskResult, today: _Said) -> str:
        again = self.again(task)
        if again is None:
            return ""
        judged = self._judged_by(again.entries)
        is_same = _without_inputs(judged.get(task.id, {})) == _without_inputs(today)
        is_same = is_same and not self._decides(judged.get("", {}), today, task)
        return "" if is_same else A_JUDGE_REWRITTEN

    def _rewritten_around(self, task: TaskResult, today: _Said) -> str:
        of_suite = self._of_suite_at(task.timestamp)
        if of_suite is None:
            return REWRITTEN.format("suite")
        return SUITE_GRADER_REWRITTEN if self._decides(of_suite, today, task) else ""

    def rewritten_suite(self, run: RunResult) -> str:
        """Return what is written otherwise than what came to the verdict of a suite, "" when nothing is."""
        recorded, then, again = self._scores.recorded, self._at(run.timestamp), self.suite_again
        if then is None:
            return REWRITTEN.format("file")
        if again is not None:
            if again.entries != self._entries:
                return SUITE_REWRITTEN_AGAIN
            inline = (task for task in run.tasks if task in self._own and task in then)
            asks = any(then[task].get(INPUTS) != self._own[task].get(INPUTS) for task in inline)
            if asks or any(recorded.asks_otherwise(run.timestamp, task) for task in run.tasks):
                return TASK_REWRITTEN
        elif then != self._own:
            return REWRITTEN.format("suite")
        elif recorded.says_otherwise(run.timestamp, run.tasks):
            return TASK_REWRITTEN
        added = recorded.added_since(run.timestamp)
        return TASK_ADDED.format(code(added)) if added else ""

    def _decides(self, then: _Said, own: _Said, task: TaskResult) -> bool:
        """Tell whether a grader of the suite that judges a task is not as it was, or new."""
        if self._changed is None or self._changed[0] is not then:
            names = {name for name in (*then, *self._of_suite) if not name.startswith("//")}
            changed = frozenset(name for name in names if then.get(name) != self._of_suite.get(name))
            self._changed = then, changed
        changed = self._changed[1].difference(own)
        return any(name in task.graders or name not in then for name in changed)

    def _at(self, moment: datetime) -> _ByPlace | None:
        """Return what the document said at a moment, task by task; None when nobody knows."""
        if moment not in self._then:
            values = self._scores.then(moment)
            self._then[moment] = None if values is None else _by_place(values)
        return self._then[moment]

    def _of_suite_at(self, moment: datetime) -> _Said | None:
        if moment not in self._of_suite_then:
            values = self._scores.recorded.values_then(self._suite, moment)
            self._of_suite_then[moment] = None if values is None else _of_file(values)
        return self._of_suite_then[moment]

    def _judged_by(self, entries: Values) -> _ByPlace:
        # All tasks that were judged together share them.
        if self._judged is None or self._judged[0] is not entries:
            self._judged = entries, _by_place(entries)
        return self._judged[1]


def _by_place(values: Values) -> _ByPlace:
    found: dict[str, dict[str, Json]] = {}
    for place, name in values:
        found.setdefault(place, {})[name] = values[place, name]
    return found


def _of_file(values: Values) -> _Said:
    return {name: value for (place, name), value in values.items() if not place}


def _without_inputs(said: _Said) -> _Said:
    return {name: value for name, value in said.items() if name != INPUTS}
