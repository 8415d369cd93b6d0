"""Compare a suite and its tasks with their state when they were judged: by a run, or when graded again since.

The values of files are compared, not their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.markdown import code
from waza_engine.spec.reading.scalars import Json
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.project.changed_inputs import (
    A_JUDGE_REWRITTEN,
    PROMPTS_REWRITTEN,
    REWRITTEN,
    SUITE_GRADER_REWRITTEN,
    SUITE_REWRITTEN_AGAIN,
    TASK_ADDED,
    TASK_REWRITTEN,
)
from waza_language_server.project.recorded_values import INPUTS, ByPlace, Values, values_by_task
from waza_language_server.project.values_of_suites import entries, values_of_file

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult, TaskResult
    from waza_language_server.project.document_scores import DocumentScores
    from waza_language_server.project.regraded import RegradedResult

Written = Mapping[str, Json]
"""The values of a task, or of the eval file itself, by their names."""
EXPECTED = "//expected"
METRICS = "//metrics"


def in_parts(newest: RunResult) -> bool:
    """Return whether a part of a suite has finished a run since the last run of all of it."""
    whole, later = newest.whole, newest.later
    if whole is None or newest.timestamp <= whole.timestamp or (later and later.started > newest.timestamp):
        return False
    judged = (*newest.tasks.values(), *newest.prompts)
    return newest.origin is not None and any(map(whole.is_older_than, judged))


class SuiteFreshness:
    """The files of a suite as they are written today, compared with their state when judged.

    Messages name what has changed in the document of ``scores``, and say of other files that they have.
    """

    def __init__(self, scores: DocumentScores, run: RunResult) -> None:
        (self.suite, *_) = scores.suites_of(run)
        self._scores = scores
        self._project = scores.project
        self._recorded = scores.recorded
        self._prompts = self._project.suite(self.suite).prompts
        self._by_task: dict[int, tuple[Values, ByPlace]] = {}
        self._changed: tuple[Written, frozenset[str]] | None = None
        self.suite_again = self._project.scores.regraded.of_suite(self.suite, run)
        """The verdict when the entire suite was graded again, None if the verdict of its run holds."""

    def again(self, task: TaskResult) -> RegradedResult | None:
        """Return who has judged a task again as a whole, None when the verdict of its run holds."""
        return self._project.scores.regraded.again(self.suite, task)

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """The file that each task of today is written in."""
        found = dict.fromkeys(self._grouped(values_of_file(self._project, self.suite)), self.suite)
        for task in self._project.tasks_of(self._project.suite(self.suite)).value:
            checkpoint()
            if ("", INPUTS) in values_of_file(self._project, task.path):
                found[task.id] = task.path
        for path in self._prompts:
            found |= dict.fromkeys(self._grouped(values_of_file(self._project, path)), path)
        return {task: path for task, path in found.items() if task}

    @cached_property
    def _entries(self) -> Values:
        return entries(self._project, self.suite)

    def today(self, task: str) -> Written:
        """Return the values of a task as it is written now, of the eval file itself at ``""``."""
        path = self._file_of(task)
        return self._at(task, path, values_of_file(self._project, path))

    def then(self, task: str, moment: datetime) -> Written | None:
        """Return the same at a moment, None if unknown."""
        path = self._file_of(task)
        values = self._recorded.values_then(path, moment)
        return None if values is None else self._at(task, path, values)

    def judged(self, task: str, again: RegradedResult) -> Written:
        """Return the same when a whole task was graded again."""
        return self._grouped(again.entries).get(task, {})

    def _file_of(self, task: str) -> Path:
        path = self._scores.path
        if path is None or not task:
            return self.suite
        if task == self._scores.task or task in self._grouped(values_of_file(self._project, path)):
            return path
        return self.files.get(task, self.suite)

    def _at(self, task: str, path: Path, values: Values) -> Written:
        # The file of a task is that task as a whole.
        has_many = path == self.suite or path in self._prompts
        return self._grouped(values).get(task if has_many else "", {})

    def _grouped(self, values: Values) -> ByPlace:
        # Thousands of tasks share one file.
        known = self._by_task.get(id(values))
        if known is None:
            known = self._by_task[id(values)] = values, values_by_task(values)
        return known[1]

    def rewritten_task(self, task: TaskResult) -> str:
        """Return how the text that decided the verdict of a task has changed since, "" if unchanged."""
        moment, today, again = task.timestamp, self.today(task.id), self.again(task)
        if self._file_of(task.id) == self._scores.path:
            then, of_file, of_task = self.then(task.id, moment), REWRITTEN.format("file"), _TASK
        else:
            of_file = of_task = TASK_REWRITTEN
            if self._recorded.has_other_task_prompt(moment, task.id):
                return of_task
            # An unchanged file is not read as it was then.
            is_other = self._recorded.has_other_tasks(moment, (task.id,))
            then = self.then(task.id, moment) if is_other else today
        if then is None:
            return of_file
        if then.get(INPUTS) != today.get(INPUTS) or (again is None and then != today):
            return of_task
        return self._rewritten_around(task, today) if again is None else self._rejudged(task, then, again)

    def _rewritten_around(self, task: TaskResult, today: Written) -> str:
        """Return that a grader of the suite is not as it was when a run judged a task, "" when all are."""
        then = self.then("", task.timestamp)
        if then is None:
            return REWRITTEN.format("suite")
        changed = self._changed_since(then).difference(today)
        decides = any(name in task.graders or name not in then for name in changed)
        return SUITE_GRADER_REWRITTEN if decides else ""

    def _rejudged(self, task: TaskResult, then: Written, again: RegradedResult) -> str:
        """Return that a grader is not as it was when it judged the recorded answers of a task last."""
        today, suite_then = self.today(task.id), self.then("", task.timestamp)
        if suite_then is None:
            return REWRITTEN.format("suite")
        own, of_suite = then, suite_then
        if again.whole:
            own, of_suite = self.judged(task.id, again), self.judged("", again)
        kept = again.concluded.kept if again.whole and again.concluded is not None else ()

        def entry(name: str, written: Written, recorded: Written) -> Json:
            if name in kept:
                return recorded.get(name)
            is_asked = not again.whole and name in again.graders
            return again.graders[name] if is_asked else written.get(name)

        if any(entry(name, own, then) != today.get(name) for name in {*own, *today} - {INPUTS}):
            return A_JUDGE_REWRITTEN
        names = self._changed_since(of_suite).union(again.graders, kept).difference(today)
        suite_today = self.today("")
        others = [name for name in names if entry(name, of_suite, suite_then) != suite_today.get(name)]
        decides = any(name in task.graders or name not in of_suite for name in others)
        return A_JUDGE_REWRITTEN if decides else ""

    def rewritten_suite(self, run: RunResult) -> str:
        """Return how the text that decided the verdict of a suite has changed since, "" if unchanged."""
        return self._rewritten_whole(run, lambda written: written)

    def rewritten_metric(self, run: RunResult, name: str) -> str:
        """Return how the text of a metric has changed since a run, "" if not; others are ignored."""
        then = self.then("", run.timestamp)
        if then is not None and _metric(then, name) != _metric(self.today(""), name):
            return REWRITTEN.format("metric")
        if then is not None and name.startswith("trigger_"):
            return self._rewritten_prompts(run)
        return self._rewritten_whole(run, _without_metrics)

    def _rewritten_whole(self, run: RunResult, deciding: Callable[[ByPlace], ByPlace]) -> str:
        then, again = self._recorded.values_then(self.suite, run.timestamp), self.suite_again
        if then is None:
            return REWRITTEN.format("file")
        if again is not None:
            if deciding(values_by_task(again.entries)) != deciding(self._grouped(self._entries)):
                return SUITE_REWRITTEN_AGAIN
            for task in self.tasks_today(run).values():
                if reason := self.rewritten_task(task):
                    return reason
            return self.rewritten_around(run)
        before = deciding(self._grouped(then))
        today = deciding(self._grouped(values_of_file(self._project, self.suite)))
        if before != today:
            return REWRITTEN.format(_first_change(before, today))
        if self._recorded.has_other_tasks(run.timestamp, run.tasks):
            return TASK_REWRITTEN
        return self.rewritten_around(run)

    def tasks_today(self, run: RunResult) -> dict[str, TaskResult]:
        """Return the tasks of a run that the suite still has."""
        today = self._grouped(self._entries)
        return {name: task for name, task in run.tasks.items() if name and name in today}

    def rewritten_around(self, run: RunResult) -> str:
        """Return that the last entire run of the suite tried other trigger prompts, or lacks a task file.

        "" if neither. A task that was run since (it is in ``run.tasks``) does not count.
        """
        added = self._recorded.added_since(run.timestamp)
        if added and added not in run.tasks:
            return TASK_ADDED.format(code(added))
        return self._rewritten_prompts(run)

    def _rewritten_prompts(self, run: RunResult) -> str:
        return PROMPTS_REWRITTEN if self._recorded.has_other_trigger_prompts(run.timestamp) else ""

    def _changed_since(self, then: Written) -> frozenset[str]:
        """Return the graders of the suite that are not as they were, are new, or gone."""
        if self._changed is None or self._changed[0] is not then:
            today = self.today("")
            names = {name for name in (*then, *today) if not name.startswith("//")}
            self._changed = then, frozenset(name for name in names if then.get(name) != today.get(name))
        return self._changed[1]

    def graders_today(self, task: str) -> Sequence[str]:
        """Return the names under which the graders and expectations of a task are recorded."""
        own = self.today(task)
        expected = own.get(EXPECTED)
        named = (name for name in (*self.today(""), *own) if not name.startswith("//"))
        keys = expected.keys() if isinstance(expected, dict) else ()
        return [*dict.fromkeys(named), *(f"_{key}" for key in EXPECTED_LISTS if key in keys)]


_TASK = REWRITTEN.format("task")


def entry_in(own: Written, of_suite: Written, name: str) -> Json:
    """Return the value of a grader, a task's own before that of the suite, or of an expectation."""
    if name in own or not name.startswith("_"):
        return own.get(name, of_suite.get(name))
    expected = own.get(EXPECTED)
    if name in of_suite or not isinstance(expected, dict):
        return of_suite.get(name)
    return expected.get(name.removeprefix("_"))


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


def _metric(written: Written, name: str) -> Json:
    listed = written.get(METRICS)
    blocks = (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))
    return next((one for one in blocks if one.get("name") == name), None)


def _without_metrics(written: ByPlace) -> ByPlace:
    return {**written, "": {name: value for name, value in written.get("", {}).items() if name != METRICS}}
