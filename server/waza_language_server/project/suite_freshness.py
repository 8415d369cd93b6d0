"""Compare a suite and its tasks with their state when they were judged: by a run, or when graded again since.

The values of a file are compared, not its text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from waza_engine.markdown import code
from waza_engine.spec.reading.scalars import Json
from waza_language_server.project.changed_inputs import (
    A_JUDGE_REWRITTEN,
    PROMPTS_REWRITTEN,
    REWRITTEN,
    SUITE_GRADER_REWRITTEN,
    SUITE_REWRITTEN_AGAIN,
    TASK_ADDED,
    TASK_REWRITTEN,
)
from waza_language_server.project.recorded_values import (
    INPUTS,
    ByPlace,
    Values,
    current_values,
    entries,
    values_by_task,
    values_of_file,
)

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult, TaskResult
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores
    from waza_language_server.project.regraded import RegradedResult, RegradedSuite

_Said = Mapping[str, Json]
_METRICS = "//metrics"


def suite_freshness(document: Document, scores: DocumentScores, run: RunResult) -> SuiteFreshness:
    """Return how the suite of a document is written that the newest results are of."""
    (suite, *_) = scores.suites_of(run)
    own: Values = {}
    if document.kind != "trigger_tests":
        own = current_values(document.tree)
    of_suite, written = own, dict[tuple[str, str], Json]()
    if document.kind in {"task", "prompts"}:
        of_suite = values_of_file(scores.project, suite)
    regraded = scores.project.scores.regraded
    is_again = any(regraded.again(suite, task) is not None for task in run.tasks.values())
    can_be_again = document.kind in {"eval", "vally_eval"}
    if can_be_again and (is_again or in_parts(run)):
        written = entries(scores.project, suite)
    again = regraded.of_suite(suite, run) if can_be_again else None
    return SuiteFreshness(scores, suite, own, of_suite, again, written)


def in_parts(newest: RunResult) -> bool:
    """Return whether a part of a suite has finished a run since the last run of all of it."""
    whole, later = newest.whole, newest.later
    if whole is None or newest.timestamp <= whole.timestamp or (later and later.started > newest.timestamp):
        return False
    judged = (*newest.tasks.values(), *newest.prompts)
    return newest.origin is not None and any(map(whole.is_older_than, judged))


class SuiteFreshness:
    """A document and its eval file as they are written today, compared with their state when judged."""

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
        self._own = values_by_task(own)
        self._of_suite = _of_file(of_suite)
        self._entries = entries
        self._parts = values_by_task(entries)
        self._then: dict[datetime, ByPlace | None] = {}
        self._of_suite_then: dict[datetime, _Said | None] = {}
        self._judged: tuple[Values, ByPlace] | None = None
        self._changed: tuple[_Said, frozenset[str]] | None = None
        self.suite_again = suite_again
        """The verdict when the entire suite was graded again, None if the verdict of its run holds."""

    def again(self, task: TaskResult) -> RegradedResult | None:
        """Return who has judged a task again as a whole, None when the verdict of its run holds."""
        return self._scores.project.scores.regraded.again(self._suite, task)

    @property
    def tasks_today(self) -> Collection[str]:
        """The ids of all tasks of the suite, if it was run in parts or graded again."""
        return self._parts.keys() - {""}

    def rewritten_task(self, task: TaskResult, place: str) -> str:
        """Return how the text behind the verdict of a task has changed since, "" if it has not.

        ``place`` is where the document has it: by its id, ``""`` for the file of a task.
        """
        then = self._at(task.timestamp)
        if then is None:
            return REWRITTEN.format("file")
        before, today, again = then.get(place, {}), self._own.get(place, {}), self.again(task)
        if before.get(INPUTS) != today.get(INPUTS) or (again is None and before != today):
            return REWRITTEN.format("task")
        return self._rewritten_around(task, today) if again is None else self._rejudged(task, before, today)

    def rewritten_part(self, task: TaskResult) -> str:
        """Return the same for any task of an eval file, which may be in another file."""
        if task.id in self._own:
            return self.rewritten_task(task, task.id)
        recorded, today, again = self._scores.recorded, self._parts.get(task.id, {}), self.again(task)
        is_other = recorded.says_otherwise(task.timestamp, (task.id,))
        if recorded.asks_otherwise(task.timestamp, task.id) or (again is None and is_other):
            return TASK_REWRITTEN
        if again is None:
            return self._rewritten_around(task, today)
        return self._rejudged(task, self._file_then(task) if is_other else today, today)

    def _rewritten_around(self, task: TaskResult, today: _Said) -> str:
        """Return that a grader of the suite is not as it was when a run judged a task, "" when all are."""
        then = self._of_suite_at(task.timestamp)
        if then is None:
            return REWRITTEN.format("suite")
        changed = self._changed_since(then).difference(today)
        decides = any(name in task.graders or name not in then for name in changed)
        return SUITE_GRADER_REWRITTEN if decides else ""

    def _rejudged(self, task: TaskResult, then: _Said, today: _Said) -> str:
        """Return that a grader is not as it was when it judged the recorded answers of a task last."""
        again, suite_then = self.again(task), self._of_suite_at(task.timestamp)
        if again is None or suite_then is None:
            return REWRITTEN.format("suite")
        judged = self._judged_by(again.entries)
        own, of_suite = (judged.get(task.id, {}), judged.get("", {})) if again.whole else (then, suite_then)
        kept = again.concluded.kept if again.whole and again.concluded is not None else ()

        def entry(name: str, written: _Said, recorded: _Said) -> Json:
            if name in kept:
                return recorded.get(name)
            is_asked = not again.whole and name in again.graders
            return again.graders[name] if is_asked else written.get(name)

        if any(entry(name, own, then) != today.get(name) for name in {*own, *today} - {INPUTS}):
            return A_JUDGE_REWRITTEN
        names = self._changed_since(of_suite).union(again.graders, kept).difference(today)
        others = [name for name in names if entry(name, of_suite, suite_then) != self._of_suite.get(name)]
        decides = any(name in task.graders or name not in of_suite for name in others)
        return A_JUDGE_REWRITTEN if decides else ""

    def rewritten_suite(self, run: RunResult) -> str:
        """Return how the text behind the verdict of a suite has changed since, "" if it has not."""
        return self._rewritten_whole(run, lambda written: written)

    def rewritten_metric(self, run: RunResult, name: str) -> str:
        """Return how the text behind a metric has changed since a run, "" if not; others do not count."""
        then = self._at(run.timestamp)
        if then is not None and _metric(then, name) != _metric(self._own, name):
            return REWRITTEN.format("metric")
        if then is not None and name.startswith("trigger_"):
            return self._rewritten_prompts(run)
        return self._rewritten_whole(run, _without_metrics)

    def _rewritten_whole(self, run: RunResult, deciding: Callable[[ByPlace], ByPlace]) -> str:
        recorded, then, again = self._scores.recorded, self._at(run.timestamp), self.suite_again
        if then is None:
            return REWRITTEN.format("file")
        if again is not None:
            if deciding(values_by_task(again.entries)) != deciding(self._parts):
                return SUITE_REWRITTEN_AGAIN
            today = self.tasks_today
            for name, task in run.tasks.items():
                if name in today and (said := self.rewritten_part(task)):
                    return said
        elif deciding(then) != deciding(self._own):
            return REWRITTEN.format(_first_change(deciding(then), deciding(self._own)))
        elif recorded.says_otherwise(run.timestamp, run.tasks):
            return TASK_REWRITTEN
        return self.rewritten_around(run)

    def rewritten_around(self, run: RunResult) -> str:
        """Return that the last entire run of the suite tried other trigger prompts, or lacks a task file.

        "" if neither. A task that was run since (it is in ``run.tasks``) does not count.
        """
        added = self._scores.recorded.added_since(run.timestamp)
        return (
            TASK_ADDED.format(code(added))
            if added and added not in run.tasks
            else self._rewritten_prompts(run)
        )

    def _rewritten_prompts(self, run: RunResult) -> str:
        return PROMPTS_REWRITTEN if self._scores.recorded.has_other_prompts(run.timestamp) else ""

    def _changed_since(self, then: _Said) -> frozenset[str]:
        """Return the graders of the suite that are not as they were, are new, or gone."""
        if self._changed is None or self._changed[0] is not then:
            names = {name for name in (*then, *self._of_suite) if not name.startswith("//")}
            changed = frozenset(name for name in names if then.get(name) != self._of_suite.get(name))
            self._changed = then, changed
        return self._changed[1]

    def _file_then(self, task: TaskResult) -> _Said:
        """Return the values of a task file when it was run, empty if unknown."""
        project = self._scores.project
        suites = (known for known in project.suites_of(self._suite) if known.path == self._suite)
        paths = (one.path for known in suites for one in project.tasks_of(known).value if one.id == task.id)
        for path in paths:
            values = self._scores.recorded.values_then(path, task.timestamp)
            if values is not None:
                return _of_file(values)
        return {}

    def _at(self, moment: datetime) -> ByPlace | None:
        """Return the values of the document at a moment, task by task; None if unknown."""
        if moment not in self._then:
            values = self._scores.then(moment)
            self._then[moment] = None if values is None else values_by_task(values)
        return self._then[moment]

    def _of_suite_at(self, moment: datetime) -> _Said | None:
        if moment not in self._of_suite_then:
            values = self._scores.recorded.values_then(self._suite, moment)
            self._of_suite_then[moment] = None if values is None else _of_file(values)
        return self._of_suite_then[moment]

    def _judged_by(self, entries: Values) -> ByPlace:
        # All tasks that were judged together share them.
        if self._judged is None or self._judged[0] is not entries:
            self._judged = entries, values_by_task(entries)
        return self._judged[1]


def _first_change(then: ByPlace, now: ByPlace) -> str:
    """Return what of an eval file is not as it was, the suite where that has no name."""
    for place in dict.fromkeys((*then, *now)):
        before, today = then.get(place, {}), now.get(place, {})
        for name in dict.fromkeys((*before, *today)):
            if before.get(name) != today.get(name):
                whose = f" of the task {code(place)}" if place else ""
                if not name.startswith("//"):
                    return f"grader {code(name)}{whose}"
                return f"{code(name.removeprefix('//'))}{whose}" if name != INPUTS or place else "suite"
    return "suite"


def _metric(written: ByPlace, name: str) -> Json:
    listed = written.get("", {}).get(_METRICS)
    blocks = (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))
    return next((one for one in blocks if one.get("name") == name), None)


def _without_metrics(written: ByPlace) -> ByPlace:
    return {**written, "": {name: value for name, value in written.get("", {}).items() if name != _METRICS}}


def _of_file(values: Values) -> _Said:
    return {name: value for (place, name), value in values.items() if not place}
