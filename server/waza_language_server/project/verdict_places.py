"""Locations in the files of a suite for verdicts: of a task, a grader, the rule of a check.

A run names tasks and graders; lines may have moved since it began, so they are looked up at each event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.project.suite_file import (
    SuiteFile,
    is_disabled,
    marked_node,
    prompts_in,
    rule_at,
    scalar_text,
)
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node


class VerdictLocations:
    """The locations of one suite in one state of its files; a missing item has that of its parent."""

    def __init__(self, project: Project, suite: Path) -> None:
        self._project = project
        self._suite = suite
        self._tasks: dict[str, tuple[Path, Node | None]] = {}
        self._texts: dict[Path, tuple[str, str]] = {}
        self._rows: dict[str, tuple[Path, Node]] | None = None
        self._graders: dict[Path, dict[tuple[str | None, str], Node]] = {}

    def of_suite(self) -> FileLocation:
        """Return the first line of the eval file."""
        return self._place(self._suite, self._project.tree(self._suite).root)

    def of_task(self, task: str) -> FileLocation:
        """Return where a task begins, in its own file or in the eval file."""
        path, node = self._task(task)
        return self._place(path, node)

    def file_of_task(self, task: str) -> Path | None:
        """Return the file that a task is written in; None for one that is made of other files."""
        found = self._written(task)
        return found[0] if found is not None else None

    def of_grader(self, task: str, grader: str) -> FileLocation:
        """Return where the grader of a task begins: one of its own, else one of the suite."""
        return self._grader(task, grader)[1]

    def of_check(self, task: str, grader: str, path: Sequence[str | int]) -> FileLocation:
        """Return the location of the rule of a check."""
        holder, place = self._grader(task, grader)
        if holder is None:
            return place
        rule = rule_at(holder[1], tuple(path), None)
        return place if rule is None else self._place(holder[0], marked_node(rule))

    def of_message(self, task: str, grader: str | None = None) -> FileLocation:
        """Return where to show a message about a task or a grader: a line of it that has no inlay hint."""
        if grader is None:
            path, node = self._task(task)
            inputs = node.get("inputs") if node is not None else None
            return self._place(path, marked_node(inputs) if inputs is not None else node)
        holder, place = self._grader(task, grader)
        named = holder[1].get("type") if holder is not None else None
        return place if holder is None or named is None else self._place(holder[0], named)

    def graders_of(self, task: str) -> Iterator[tuple[str, bool]]:
        """Yield the recorded graders of a task: those of the suite, its own, and its expectations.

        The names are those of records, which identify graders of checkpoints by their turn. Each comes with
        whether it can be run by itself: checkpoints and expectations are only judged with the task.
        """
        path, node = self._task(task)
        for entry in SuiteFile(self._project.tree(self._suite)).graders():
            if entry.recorded_as and (entry.task is None or entry.task.id == task):
                yield entry.recorded_as, entry.has_results
        if path != self._suite:
            for entry in SuiteFile(self._project.tree(path)).graders():
                if entry.recorded_as:
                    yield entry.recorded_as, entry.has_results
        expected = node.get("expected") if node is not None else None
        for key in EXPECTED_LISTS:
            listed = expected.get(key) if expected is not None else None
            if listed is not None and any(True for _ in listed.target.each_item()):
                yield f"_{key}", False

    def is_disabled(self, task: str) -> bool:
        """Return whether a run leaves the task out."""
        _, node = self._task(task)
        return node is not None and is_disabled(node)

    def of_prompt(self, prompt: str, *, should_trigger: bool) -> FileLocation:
        """Return the location of a trigger prompt."""
        for text, should, place in self.prompts():
            if (text, should) == (prompt, should_trigger):
                return place
        return self.of_suite()

    def prompts(self) -> Iterator[tuple[str, bool, FileLocation]]:
        """Yield the trigger prompts of the suite, whether the skill should start, and their locations."""
        is_json = self._suite.suffix == ".json"
        for path in [self._suite] if is_json else self._project.trigger_files(self._suite.parent):
            for prompt in prompts_in(self._project.tree(path).root):
                yield prompt.text, prompt.should_trigger, self._place(path, prompt.node)

    def _task(self, task: str) -> tuple[Path, Node | None]:
        known = self._tasks.get(task)
        if known is None:
            root = self._project.tree(self._suite).root
            known = self._tasks[task] = self._written(task) or (self._suite, root)
        return known

    def _written(self, task: str) -> tuple[Path, Node | None] | None:
        tree = self._project.tree(self._suite)
        inline = next((entry for entry in SuiteFile(tree).tasks() if entry.id == task), None)
        if inline is not None:
            return self._suite, inline.node
        suite = self._project.suite(self._suite)
        with self._project.disk.cached_lookups():
            paths = iter(self._project.tasks_with_id(suite, task))
            named = (path for path in self._project.task_paths(suite).value if path.stem == task)
            path = next(paths, None) or next(named, None)
        if path is None:
            return self._in_prompts(suite, task)
        return path, self._project.tree(path).root

    def _in_prompts(self, suite: Suite, task: str) -> tuple[Path, Node] | None:
        if self._rows is None:
            # Cached, since each event of a run asks for one of up to thousands.
            self._rows = {}
            for path in suite.prompts:
                root = self._project.tree(path).root
                for row in root.each_item() if root is not None else ():
                    self._rows.setdefault(scalar_text(row.get("id")) or "", (path, row))
        return self._rows.get(task)

    def _grader(self, task: str, name: str) -> tuple[tuple[Path, Node] | None, FileLocation]:
        path, node = self._task(task)
        found = self._own_grader(path, task, name) or self._own_grader(self._suite, None, name)
        if found is not None:
            return found, self._place(*found)
        # The lists of `expected` are graded under names of their own.
        expected = node.get("expected") if node is not None else None
        if expected is not None and name.startswith("_"):
            key = expected.get(name.removeprefix("_"))
            return (path, expected), self._place(path, marked_node(key) if key is not None else expected)
        return None, self._place(path, node)

    def _own_grader(self, path: Path, task: str | None, name: str) -> tuple[Path, Node] | None:
        known = self._graders.get(path)
        if known is None:
            # Cached, since a run reports thousands of verdicts.
            known = self._graders[path] = {}
            for entry in SuiteFile(self._project.tree(path)).graders():
                inside = entry.task.id if entry.task is not None else None
                known.setdefault((inside, entry.recorded_as), entry.node)
        # A task file is one task: its graders are not in an inline task.
        node = known.get((task if path == self._suite else None, name))
        return None if node is None else (path, node)

    def _place(self, path: Path, node: Node | None) -> FileLocation:
        known = self._texts.get(path)
        if known is None:
            uri = SuiteSource.at(self._project, path, "task").uri
            known = self._texts[path] = uri, self._project.text(path).value or ""
        uri, text = known
        if node is None:
            return FileLocation(uri, text, Span(0, 0))
        start = node.span.start
        end = text.find("\n", start)
        return FileLocation(uri, text, Span(start, min(node.span.end, len(text) if end < 0 else end)))
