"""The state of a suite when its results were recorded: its files, its agent, and what differs today."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.files import FileError, read_bytes, text_of
from waza_engine.markdown import code
from waza_engine.results.freshness import agent_differs
from waza_engine.spec.reading.scalars import Json
from waza_language_server.project.changed_inputs import (
    SUITE_REWRITTEN,
    ChangedInput,
    CurrentFiles,
    recorded_file_path,
)
from waza_language_server.project.claim import TRIGGER_NAMES
from waza_language_server.project.disk import MAX_BYTES, was_there
from waza_language_server.project.recorded_values import INPUTS, SUITE, Values
from waza_language_server.project.suite_file import is_disabled
from waza_language_server.project.values_of_suites import values_of_file
from waza_language_server.project.verdict_places import VerdictLocations

if TYPE_CHECKING:
    from waza_engine.results.inputs import InputFile
    from waza_engine.results.reading.scores import RunOrigin, RunResult
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite

_CUT_SHORT = frozenset({"broken", "interrupted", "limited"})
"""Verdicts of runs that may not have tried all trigger prompts."""


@dataclass(eq=False, slots=True)
class _Run:
    """A recorded run of a suite, and what differs today."""

    suite: Suite
    origin: RunOrigin
    moment: datetime
    whole: RunResult | None = None
    """Its result if it was a run of the entire suite."""
    files: Mapping[Path, InputFile] | None = None
    """The files in its record by their paths of then, once they are read."""
    moved: Mapping[Path, InputFile] = field(default_factory=dict["Path", "InputFile"])
    """Files of tasks that had another name then, by their paths of today."""
    changes: tuple[ChangedInput, ...] = ()
    rewritten: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """The tasks whose own file says something else today, and whether their prompt does."""
    added: str = ""
    has_other_trigger_prompts: bool = False


class RecordedRuns:
    """The runs that the newest results of some suites were recorded in, each by the moment of its record."""

    def __init__(self, project: Project, runs: Sequence[tuple[Suite, RunResult]]) -> None:
        self._project = project
        self._scores = project.scores
        self._on_disk: dict[Path, tuple[str, str]] = {}
        self._today: dict[Path, Json] = {}
        """The deciding values of the eval files of today."""
        self._then: dict[tuple[Path, datetime], Values | None] = {}
        self._runs: dict[datetime, _Run] = {}
        known: dict[tuple[Path, Path], _Run] = {}
        for suite, run in runs:
            graders = (grader for task in run.tasks.values() for grader in task.graders.values())
            whole = [run.whole] if run.whole else []
            for one in (run, *whole, *run.tasks.values(), *graders, *run.prompts):
                if one.origin is not None:
                    key = suite.path, one.origin.results
                    if key not in known:
                        known[key] = _Run(suite, one.origin, one.timestamp)
                    found = known[key]
                    self._runs.setdefault(one.timestamp, found)
                    if one is run.whole:
                        found.whole = run.whole

    def changes(self, moment: datetime, tasks: Collection[str]) -> tuple[ChangedInput, ...]:
        """Return the files that are not as they were at a run, of those that decide the tasks."""
        run = self._runs.get(moment)
        known = () if run is None else run.changes
        return tuple(change for change in known if not change.tasks or not change.tasks.isdisjoint(tasks))

    def changes_of_prompt(self, moment: datetime) -> tuple[ChangedInput, ...]:
        """Return the same of those that decide a trigger prompt: other prompts of its file do not."""
        return tuple(each for each in self.changes(moment, ()) if each.path.name not in TRIGGER_NAMES)

    def has_other_task_prompt(self, moment: datetime, task: str) -> bool:
        """Return whether the prompt in a task's own file has changed since a run."""
        run = self._runs.get(moment)
        return run is not None and run.rewritten.get(task, False)

    def has_other_tasks(self, moment: datetime, tasks: Collection[str]) -> bool:
        """Return whether the prompt or expectations in these tasks' own files have changed since a run."""
        run = self._runs.get(moment)
        return run is not None and not run.rewritten.keys().isdisjoint(tasks)

    def added_since(self, moment: datetime) -> str:
        """Return the id of a task in a file that a run of the whole suite had not, "" when there is none."""
        run = self._runs.get(moment)
        return "" if run is None else run.added

    def has_other_trigger_prompts(self, moment: datetime) -> bool:
        """Return whether the trigger prompts of a suite have changed since a run of the whole suite."""
        run = self._runs.get(moment)
        return run is not None and run.has_other_trigger_prompts

    def other_agent(self, moment: datetime) -> str:
        """Return how the agent of a run or the settings of its suite differ from today's, "" if they do not.

        In Markdown.
        """
        run = self._runs.get(moment)
        if run is None:
            return ""
        executor_today, model_today = self._project.agent_today(run.suite)
        executor, model = agent_differs(
            run.origin.executor, run.origin.model, executor_today or None, model_today or None
        )
        words = [f"the executor {code(run.origin.executor)}"] if executor else []
        if model:
            words.append(f"the model {code(run.origin.model)}" if run.origin.model else "the default model")
        if words:
            return f"it was recorded with {' and '.join(words)}"
        then = self.values_then(run.suite.path, moment)
        of_suite = then.get(("", SUITE)) if then is not None else None
        same = of_suite is None or self._today.get(run.suite.path) in (None, of_suite)
        return "" if same else SUITE_REWRITTEN

    def values_then(self, path: Path, moment: datetime) -> Values | None:
        """Return the values of a file of these suites at a moment; None if unknown."""
        # Thousands of graders have the same one; to find it out the file is read.
        if (path, moment) not in self._then:
            run = self._runs.get(moment)
            recorded = None if run is None else self._recorded(path, run)
            self._then[path, moment] = self._scores.values_then(path, moment, recorded)
        return self._then[path, moment]

    def read(self, today: CurrentFiles, of_task: str | None = None) -> None:
        """Compare the files of the runs with those of today, with a checkpoint after each.

        With ``of_task`` of the files that tasks have of their own that of this task alone.
        """
        for run in dict.fromkeys(self._runs.values()):
            suite, origin = run.suite, run.origin
            if suite.path not in self._today:
                self._today[suite.path] = values_of_file(self._project, suite.path).get(("", SUITE))
            if origin.inputs:
                tasks = {task.path: task for task in self._project.tasks_of(suite).value}
                run.moved = self._scores.inputs.moved(
                    origin, suite.path, tuple(tasks), lambda path, tasks=tasks: tasks[path].id
                )
                before = (recorded_file_path(suite.path, file.path) for file in run.moved.values())
                own = {suite.path, *tasks, *before}
                changes = self._scores.inputs.changed(origin, suite.path, today, own.__contains__)
                run.changes = tuple(self._of_lines(changes, run))
            run.rewritten = self._find_rewritten(run, today, of_task)
            if of_task is None and run.whole is not None:
                run.has_other_trigger_prompts = self._has_other_trigger_prompts(suite, run.whole)
                # A record that does not list its files cannot tell which ones are new.
                if origin.inputs and run.whole.tasks:
                    run.added = self._find_added(suite, run.whole.tasks)

    def _has_other_trigger_prompts(self, suite: Suite, whole: RunResult) -> bool:
        """Return whether a run tried other trigger prompts than the current ones, and was not cut short."""
        if not whole.prompts or whole.verdict in _CUT_SHORT:
            return False
        tried = {(prompt.prompt, prompt.should_trigger) for prompt in whole.prompts}
        prompts = VerdictLocations(self._project, suite.path).prompts()
        return tried != {(text, should_trigger) for text, should_trigger, _ in prompts}

    def _of_lines(self, changes: Collection[ChangedInput], run: _Run) -> Iterator[ChangedInput]:
        """Yield the changes, for a file of prompts with the tasks whose lines have changed."""
        for change in changes:
            is_rows = change.path in run.suite.prompts and not change.gone
            then = self.values_then(change.path, run.moment) if is_rows else None
            if then is None:
                yield change
                continue
            now = values_of_file(self._project, change.path)
            places = {*then, *now}
            tasks = frozenset(place[0] for place in places if then.get(place) != now.get(place))
            if tasks:
                yield replace(change, tasks=tasks)

    def _find_rewritten(self, run: _Run, today: CurrentFiles, of_task: str | None) -> Mapping[str, bool]:
        """Return the tasks whose own file has changed since a run, with whether their prompt has.

        A task with another id than then has its recorded id.
        """
        found: dict[str, bool] = {}
        for task in self._project.tasks_of(run.suite).value:
            if of_task not in (None, task.id):
                continue
            checkpoint()
            path = task.path
            file = self._file_then(run, path)
            if file is None:
                is_same = path not in today.documents and was_there(path, run.moment)
                is_same = is_same or bool(run.origin.inputs)
            else:
                is_same = self._scores.inputs.digest_now(path, today) in (None, file.sha256)
            if is_same:
                continue
            for then in set(map(str, file.tasks if file is not None else ())) - {task.id}:
                found[then] = True
            before = self.values_then(path, run.moment)
            now = values_of_file(self._project, path)
            if before is None or before != now:
                found[task.id] = before is None or before.get(("", INPUTS)) != now.get(("", INPUTS))
        return found

    def _find_added(self, suite: Suite, ran: Collection[str]) -> str:
        """Return the first task in a file of its own that a run would have today and had not, "" for none."""
        for task in self._project.tasks_of(suite).value:
            if task.id in ran:
                continue
            checkpoint()
            root = self._project.tree(task.path).root
            if root is not None and root.kind == "mapping" and not is_disabled(root):
                return task.id
        return ""

    def _recorded(self, path: Path, run: _Run) -> str | None:
        """Return the text of a suite file as it was at a run, None when it was not kept."""
        file = self._file_then(run, path)
        if file is None:
            return None
        # Prefer an unchanged file on disk: credentials are redacted in the record.
        if path not in self._on_disk:
            self._on_disk[path] = _text_and_digest(path)
        text, digest = self._on_disk[path]
        return text if digest == file.sha256 else self._scores.inputs.text_then(run.origin, file.path)

    def _file_then(self, run: _Run, path: Path) -> InputFile | None:
        """Return what a run recorded of a file, which may have had another name."""
        if run.files is None:
            files = self._scores.inputs.recorded(run.origin).files if run.origin.inputs else ()
            run.files = {recorded_file_path(run.suite.path, file.path): file for file in files}
        return run.moved.get(path) or run.files.get(path)


def _text_and_digest(path: Path) -> tuple[str, str]:
    """Return the text of a file and the SHA-256 of its content, both "" for one that cannot be read."""
    try:
        content = read_bytes(path, MAX_BYTES)
        return text_of(content), hashlib.sha256(content).hexdigest()
    except FileError:
        return "", ""
