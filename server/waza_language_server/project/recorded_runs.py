"""The state of a suite when its results were recorded: its files, its agent, and what differs today."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
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
from waza_language_server.project.recorded_values import INPUTS, SUITE, Values, values_of_file
from waza_language_server.project.suite_file import is_switched_off
from waza_language_server.project.verdict_places import VerdictLocations

if TYPE_CHECKING:
    from waza_engine.results.inputs import InputFile
    from waza_engine.results.reading.scores import RunOrigin, RunResult
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite

_CUT_SHORT = frozenset({"broken", "interrupted", "limited"})
"""Verdicts of runs that may not have tried all trigger prompts."""


class RecordedRuns:
    """The runs that the newest results of some suites were recorded in, each by the moment of its record."""

    def __init__(self, project: Project, runs: Sequence[tuple[Suite, RunResult]]) -> None:
        self._project = project
        self._scores = project.scores
        self._changes: dict[tuple[Path, Path], tuple[ChangedInput, ...]] = {}
        self._moves: dict[tuple[Path, Path], Mapping[Path, InputFile]] = {}
        self._files: dict[tuple[Path, Path], Mapping[Path, InputFile]] = {}
        self._rewritten: dict[tuple[Path, Path], Mapping[str, bool]] = {}
        """The tasks with a file of their own that say something else today, and whether they ask it."""
        self._ran = {
            (suite.path, run.whole.origin.results): frozenset(run.whole.tasks)
            for suite, run in runs
            if run.whole is not None and run.whole.origin is not None and run.whole.tasks
        }
        """The tasks of each run of a whole suite."""
        self._tried = {
            (suite.path, run.whole.origin.results): frozenset(
                (prompt.prompt, prompt.should_trigger) for prompt in run.whole.prompts
            )
            for suite, run in runs
            if run.whole is not None
            and run.whole.origin is not None
            and run.whole.prompts
            and run.whole.verdict not in _CUT_SHORT
        }
        """The trigger prompts of each run of a whole suite that tried all of them."""
        self._other_prompts: dict[tuple[Path, Path], bool] = {}
        self._added: dict[tuple[Path, Path], str] = {}
        self._on_disk: dict[Path, tuple[str, str]] = {}
        self._today: dict[Path, Json] = {}
        """The deciding values of the eval files of today."""
        self._then: dict[tuple[Path, datetime], Values | None] = {}
        self._origins: dict[datetime, tuple[Suite, RunOrigin]] = {}
        for suite, run in runs:
            graders = (grader for task in run.tasks.values() for grader in task.graders.values())
            for one in (
                run,
                *([run.whole] if run.whole else []),
                *run.tasks.values(),
                *graders,
                *run.prompts,
            ):
                if one.origin is not None:
                    self._origins.setdefault(one.timestamp, (suite, one.origin))

    def changes(self, moment: datetime, tasks: Collection[str]) -> tuple[ChangedInput, ...]:
        """Return the files that are not as they were at a run, of those that decide the tasks."""
        found = self._origins.get(moment)
        known = () if found is None else self._changes.get((found[0].path, found[1].results), ())
        return tuple(change for change in known if not change.tasks or not change.tasks.isdisjoint(tasks))

    def changes_of_prompt(self, moment: datetime) -> tuple[ChangedInput, ...]:
        """Return the same of those that decide a trigger prompt: other prompts of its file do not."""
        return tuple(each for each in self.changes(moment, ()) if each.path.name not in TRIGGER_NAMES)

    def asks_otherwise(self, moment: datetime, task: str) -> bool:
        """Return whether the prompt in a task's own file has changed since a run."""
        return self._rewritten_since(moment).get(task, False)

    def says_otherwise(self, moment: datetime, tasks: Collection[str]) -> bool:
        """Return whether the prompt or expectations in these tasks' own files have changed since a run."""
        return not self._rewritten_since(moment).keys().isdisjoint(tasks)

    def added_since(self, moment: datetime) -> str:
        """Return the id of a task in a file that a run of the whole suite had not, "" when there is none."""
        found = self._origins.get(moment)
        return "" if found is None else self._added.get((found[0].path, found[1].results), "")

    def has_other_prompts(self, moment: datetime) -> bool:
        """Return whether the trigger prompts of a suite have changed since a run of the whole suite."""
        found = self._origins.get(moment)
        return found is not None and self._other_prompts.get((found[0].path, found[1].results), False)

    def _rewritten_since(self, moment: datetime) -> Mapping[str, bool]:
        found = self._origins.get(moment)
        return {} if found is None else self._rewritten.get((found[0].path, found[1].results), {})

    def other_agent(self, moment: datetime) -> str:
        """Return how the agent of a run or the settings of its suite differ from today's, "" if they do not.

        In Markdown.
        """
        found = self._origins.get(moment)
        if found is None:
            return ""
        suite, origin = found
        executor_today, model_today = self._project.agent_today(suite)
        executor, model = agent_differs(
            origin.executor, origin.model, executor_today or None, model_today or None
        )
        words = [f"the executor {code(origin.executor)}"] if executor else []
        words += [f"the model {code(origin.model)}" if origin.model else "the default model"] if model else []
        if words:
            return f"it was recorded with {' and '.join(words)}"
        then = self.values_then(suite.path, moment)
        of_suite = then.get(("", SUITE)) if then is not None else None
        same = of_suite is None or self._today.get(suite.path) in (None, of_suite)
        return "" if same else SUITE_REWRITTEN

    def values_then(self, path: Path, moment: datetime) -> Values | None:
        """Return the values of a file of these suites at a moment; None if unknown."""
        # Thousands of graders have the same one; to find it out the file is read.
        if (path, moment) not in self._then:
            found = self._origins.get(moment)
            recorded = None if found is None else self._recorded(path, *found)
            self._then[path, moment] = self._scores.values_then(path, moment, recorded)
        return self._then[path, moment]

    def read(self, today: CurrentFiles, of_task: str | None = None) -> None:
        """Compare the files of the runs with those of today, with a checkpoint after each.

        With ``of_task`` of the files that tasks have of their own that of this task alone.
        """
        for moment, (suite, origin) in tuple(self._origins.items()):
            key = suite.path, origin.results
            if suite.path not in self._today:
                values = values_of_file(self._project, suite.path)
                self._today[suite.path] = values.get(("", SUITE))
            if key not in self._changes and origin.inputs:
                tasks = {task.path: task for task in self._project.tasks_of(suite).value}
                self._moves[key] = moved = self._scores.inputs.moved(
                    origin, suite.path, tuple(tasks), lambda path, tasks=tasks: tasks[path].id
                )
                own = {
                    suite.path,
                    *tasks,
                    *(recorded_file_path(suite.path, file.path) for file in moved.values()),
                }
                changes = self._scores.inputs.changed(origin, suite.path, today, own.__contains__)
                self._changes[key] = tuple(self._of_lines(changes, suite, moment))
            if key not in self._rewritten:
                self._rewritten[key] = self._find_rewritten(moment, today, of_task)
            if of_task is None and key in self._tried and key not in self._other_prompts:
                prompts = VerdictLocations(self._project, suite.path).prompts()
                written = frozenset((text, should_trigger) for text, should_trigger, _ in prompts)
                self._other_prompts[key] = written != self._tried[key]
            # A record that does not list its files cannot tell which ones are new.
            if of_task is None and origin.inputs and key in self._ran and key not in self._added:
                self._added[key] = self._find_added(suite, self._ran[key])

    def _of_lines(
        self, changes: Collection[ChangedInput], suite: Suite, moment: datetime
    ) -> Iterator[ChangedInput]:
        """Yield changes; that of a file of prompts decides only the tasks whose lines have changed."""
        for change in changes:
            is_rows = change.path in suite.prompts and not change.gone
            then = self.values_then(change.path, moment) if is_rows else None
            if then is None:
                yield change
                continue
            now = values_of_file(self._project, change.path)
            places = {*then, *now}
            tasks = frozenset(place[0] for place in places if then.get(place) != now.get(place))
            if tasks:
                yield replace(change, tasks=tasks)

    def _find_rewritten(
        self, moment: datetime, today: CurrentFiles, of_task: str | None
    ) -> Mapping[str, bool]:
        """Return the tasks whose own file says something else than at a run, and whether they ask it.

        One that has another id today is named by that of then.
        """
        suite, origin = self._origins[moment]
        found: dict[str, bool] = {}
        for task in self._project.tasks_of(suite).value:
            if of_task not in (None, task.id):
                continue
            checkpoint()
            path = task.path
            file = self._file_then(suite, origin, path)
            if file is None:
                is_same = bool(origin.inputs) or (path not in today.documents and was_there(path, moment))
            else:
                is_same = self._scores.inputs.digest_now(path, today) in (None, file.sha256)
            if is_same:
                continue
            for then in set(map(str, file.tasks if file is not None else ())) - {task.id}:
                found[then] = True
            before = self.values_then(path, moment)
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
            if root is not None and root.kind == "mapping" and not is_switched_off(root):
                return task.id
        return ""

    def _recorded(self, path: Path, suite: Suite, origin: RunOrigin) -> str | None:
        """Return the text of a suite file as it was at a run, None when it was not kept."""
        file = self._file_then(suite, origin, path)
        if file is None:
            return None
        # Prefer an unchanged file on disk: credentials are redacted in the record.
        if path not in self._on_disk:
            self._on_disk[path] = _text_and_digest(path)
        text, digest = self._on_disk[path]
        return text if digest == file.sha256 else self._scores.inputs.text_then(origin, file.path)

    def _file_then(self, suite: Suite, origin: RunOrigin, path: Path) -> InputFile | None:
        """Return what a run recorded of a file, which may have had another name."""
        key = suite.path, origin.results
        if key not in self._files:
            files = self._scores.inputs.recorded(origin).files if origin.inputs else ()
            self._files[key] = {recorded_file_path(suite.path, file.path): file for file in files}
        return self._moves.get(key, {}).get(path) or self._files[key].get(path)


def _text_and_digest(path: Path) -> tuple[str, str]:
    """Return the text of a file and the SHA-256 of its content, both "" for one that cannot be read."""
    try:
        content = read_bytes(path, MAX_BYTES)
        return text_of(content), hashlib.sha256(content).hexdigest()
    except FileError:
        return "", ""
