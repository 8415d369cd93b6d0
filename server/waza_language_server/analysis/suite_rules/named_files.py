"""Files that a suite names and that do not exist, or lie outside of the repository; missing programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from json import dumps
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from waza_engine.boundary import is_foreign
from waza_engine.checkpoint import checkpoint
from waza_engine.files import from_home, printable
from waza_engine.later_patterns import compiled_later
from waza_engine.scaffold.grader_patterns import STARTED_BY_A_RUN, grader_source, kind_of
from waza_engine.spec.program_files import MODULE_RUNTIMES, is_module, is_path, is_rubric_path, split_command
from waza_engine.spelling import path_typo_of
from waza_language_server.analysis.problem import Problem, suggestion
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.grader_files import (
    STOPS,
    TYPES_WITH_FILES,
    NeededFile,
    files_needed,
)
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.search_folders import FIXTURES, bases_of_run, found_at, is_plain
from waza_language_server.project.suite_file import SuiteFile, scalar_text, task_nodes
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.syntax.nodes import Node, listed_in
from waza_language_server.syntax.placed_text import inserted
from waza_language_server.syntax.tried_edits import checked, entries_of
from waza_language_server.text.edit import Edit, Edits, FileCreation, Fix

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.search_folders import Kind
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.tree import Tree

_MISSING = "missing-file"
_OF_EXECUTORS: Mapping[str, tuple[str, Kind | None]] = {
    "command": ("adapter", "file"),
    "replay": ("recording", None),
}
"""The key of ``config`` that names a file, and what it may name, by the executor that needs it."""
_FIXTURES, _FIXTURES_OF_TASK = "in `fixtures`", "in `context_dir`"
_MOST_BESIDE = 500
"""The most names in a folder to compare a missing one with."""
_MOST_TASKS = 200
"""Task files that are searched for directories of their own."""
_MOST_WITH_FIXES = 20
"""For at most this many missing files of one text the disk is searched for similar names."""


def missing_files(view: SuiteView) -> Found:
    """Yield the missing files that the settings, the tasks and the graders of a file name."""
    document, files = view.document, _files_around(view)
    path = path_of(document.uri)
    if files is None or path is None:
        return
    yield from files.of_executor(document.tree.root if document.kind == "eval" else None)
    for task in task_nodes(document.tree, document.kind):
        checkpoint()
        yield from files.of_task(task, path)
    if document.kind == "eval":
        yield from files.of_config(document.tree.root)
    for grader in view.graders.of_types(TYPES_WITH_FILES):
        checkpoint()
        yield from files.of_grader(grader)


def _files_around(view: SuiteView) -> _Files | None:
    """Return the files around a document, None if they are unknown."""
    path, project = path_of(view.document.uri), view.workspace.project
    if path is None or view.document.kind not in ("eval", "task"):
        return None
    suites = project.suites_of(path)
    if not suites or any(hooks_may_make(project.tree(suite.path).root) for suite in suites):
        return None
    return _Files(view, suites) if project.knows_suites_of(path) else None


def hooks_may_make(root: Node | None) -> bool:
    """Return whether a suite has hooks that run before its tasks and may create missing files."""
    hooks = root.get("hooks") if root is not None else None
    return hooks is not None and any(hooks.get(key) is not None for key in ("before_run", "before_task"))


class _Files:
    """The files around one document."""

    def __init__(self, view: SuiteView, suites: tuple[Suite, ...]) -> None:
        self._view = view
        self._suites = suites
        self._project = view.workspace.project
        self._fixtures: dict[Path, tuple[Path, ...] | None] = {}
        self._reported = 0

    def of_executor(self, root: Node | None) -> Found:
        """Yield the file with which the executor of a suite starts or replaces the agent."""
        executor = root.get("config", "executor") if root is not None else None
        key, kind = _OF_EXECUTORS.get(scalar_text(executor) or "", ("", None))
        node = root.get("config", key) if root is not None and key else None
        if node is not None and scalar_text(node):
            where, so = "next to the eval file", "a run stops before it begins"
            yield from self._absent(node.target, lambda suite: (suite.folder,), kind, where, so)

    def of_task(self, task: Node, path: Path) -> Found:
        """Yield the files that a task needs: its prompt, its fixtures, its instruction files."""
        inputs = task.get("inputs")
        if inputs is None or inputs.target.kind != "mapping":
            return
        listed = map(_listed_file, listed_in(inputs.get("files")))
        instructions = listed_in(task.get("instruction_files"))
        named = [node for node in (*listed, *instructions) if node is not None and scalar_text(node)]
        yield from self._of_fixtures(task, named)
        prompt, context = inputs.get("prompt_file"), inputs.get("context")
        if prompt is not None and scalar_text(prompt):
            yield from self._absent(prompt.target, lambda _: (path.parent,), "file", "beside the task file")
        fixture = context.get("fixture") if context is not None else None
        if fixture is not None and scalar_text(fixture):
            yield from self._absent(
                fixture.target, lambda suite: (suite.folder,), None, "beside the eval file"
            )

    def of_config(self, root: Node | None) -> Found:
        """Yield the instruction files of all tasks that no fixture folder of the suite has."""
        written = root.get("config", "instruction_files") if root is not None else None
        places = {suite.path: self._fixtures_of(suite) for suite in self._suites} if written else {}
        known = {path: folders for path, folders in places.items() if folders is not None}
        for node in listed_in(written) if len(known) == len(places) else ():
            if scalar_text(node):
                yield from self._absent(node, partial(_of_suite, known), "file", _FIXTURES)

    def of_grader(self, grader: Node) -> Iterator[Problem]:
        """Yield the files that a grader needs."""
        if not self._project.roots:
            return
        for needed in files_needed(grader):
            bases = {suite.path: self._bases_of(needed, suite) for suite in self._suites}
            known = {path: folders for path, folders in bases.items() if folders is not None}
            if len(known) < len(bases):
                continue
            places = partial(_of_suite, known)
            for problem in self._absent(needed.node, places, needed.kind, needed.where, needed.so):
                new = self._new_grader_file(grader, needed.node)
                yield problem if new is None else replace(problem, fixes=(*problem.fixes, new))
            if needed.inside:
                yield from self._empty_folder(needed)

    def _new_grader_file(self, grader: Node, node: Node) -> Fix | None:
        """Return the fix that creates the file of an ``inline`` grader next to the eval file.

        One for a program that the system starts needs a permission that no edit gives.
        """
        written = node.value.strip()
        folder = self._suites[0].folder
        file = Path(os.path.normpath(folder / written))
        is_new = grader_type(grader) == "inline" and file.suffix[1:] in STARTED_BY_A_RUN
        if (
            not is_new
            or not is_plain(written)
            or not self._project.disk.boundaries.around(folder).holds(file)
        ):
            return None
        source = grader_source(kind_of(file.stem), file.suffix[1:])
        return Fix(f"Create grader `{printable(file.name)}`", (), creates=FileCreation(uri_of(file), source))

    def _empty_folder(self, needed: NeededFile) -> Iterator[Problem]:
        """Yield a folder that lacks the file that it is named for."""
        written = needed.node.value.strip()
        for suite in self._suites:
            place = next(found_at(self._project, suite.folder, self._bases_of_run(suite), written), None)
            names = self._project.disk.names(place) if place is not None else None
            if names is None or not names.known or any(name == needed.inside for name, _ in names.value):
                return
        what = f"The folder `{printable(written)}` has no `{needed.inside}`"
        yield self._problem(needed.node, what, needed.so)

    def _bases_of(self, needed: NeededFile, suite: Suite) -> tuple[Path, ...] | None:
        """Return the base folders of a grader's path, None if unknown."""
        if needed.folder is not None:
            if not needed.folder:
                return (suite.folder,)
            folders = (base / needed.folder for base in self._bases_of_run(suite))
            return tuple(folders) if is_plain(needed.folder) else None
        fixtures = self._fixtures_of(suite) if needed.with_fixtures else ()
        return (*fixtures, *self._bases_of_run(suite)) if fixtures is not None else None

    def _fixtures_of(self, suite: Suite) -> tuple[Path, ...] | None:
        """Return the fixture folders of a suite's tasks, each of which may have its own."""
        if suite.path not in self._fixtures:
            written = self._context_dirs(suite)
            places = None
            if written is not None and all(map(is_plain, written)):
                bases = self._bases_of_run(suite)
                places = (suite.folder / FIXTURES, *(base / each for each in written for base in bases))
            self._fixtures[suite.path] = places
        return self._fixtures[suite.path]

    def _context_dirs(self, suite: Suite) -> set[str] | None:
        root, paths = self._view.document.tree.root, self._project.task_paths(suite).value
        if len(paths) > _MOST_TASKS:
            return None
        tasks = [task.node for task in SuiteFile(self._view.document.tree).tasks()]
        own = (task.get("context_dir") for task in (*tasks, *([root] if root is not None else [])))
        listed = {scalar_text(node) for node in own} | {
            self._project.outline(path).context_dir for path in paths
        }
        return {each for each in listed if each}

    def _bases_of_run(self, suite: Suite) -> tuple[Path, ...]:
        return bases_of_run(self._project, suite.folder)

    def _of_fixtures(self, task: Node, named: list[Node]) -> Found:
        folder = task.get("context_dir") if named else None
        if folder is None or not scalar_text(folder):
            for node in named:
                checkpoint()
                yield from self._absent(node, lambda suite: (suite.folder / FIXTURES,), "file", _FIXTURES)
            return
        written, found = scalar_text(folder) or "", list[Path]()
        for suite in self._suites:
            for place in found_at(self._project, suite.folder, self._bases_of_run(suite), written, "folder"):
                if place is None:
                    return
                found.append(place)
        if not found and self._project.roots:
            yield self._problem(
                folder.target, f"There is no folder `{printable(written)}` with the task's files"
            )
        for node in named if found else ():
            checkpoint()
            yield from self._absent(node, lambda _: found, "file", _FIXTURES_OF_TASK)

    def _absent(
        self,
        node: Node,
        bases: Callable[[Suite], Sequence[Path]],
        kind: Kind | None,
        where: str,
        so: str = STOPS,
    ) -> Iterator[Problem]:
        written = node.value.strip()
        for suite in self._suites:
            if any(True for _ in found_at(self._project, suite.folder, tuple(bases(suite)), written, kind)):
                return
        what = "no file" if kind == "file" else "nothing called"
        known: Sequence[str] = ()
        if self._reported < _MOST_WITH_FIXES:
            of_fixtures = where in (_FIXTURES, _FIXTURES_OF_TASK)
            known = self._known_fixtures if of_fixtures else self._beside(bases, written, kind)
        yield self._problem(node, f"There is {what} `{printable(written)}` {where}", so, known)

    @cached_property
    def _known_fixtures(self) -> Sequence[str]:
        return Nearby(self._project, self._view.document).fixtures().value

    def _beside(
        self, bases: Callable[[Suite], Sequence[Path]], written: str, kind: Kind | None
    ) -> Sequence[str]:
        """Return the paths of entries in the folders of a path."""
        if not is_plain(written):
            return ()
        starts = ((suite.folder, base) for suite in self._suites for base in bases(suite))
        found = (names_beside(self._project, start, base, written, kind) for start, base in starts)
        return tuple(dict.fromkeys(chain.from_iterable(found)))

    def _problem(self, node: Node, what: str, so: str = STOPS, known: Sequence[str] = ()) -> Problem:
        self._reported += 1
        _, fixes = suggestion(self._view.document.tree, node, known, typo_of=path_typo_of)
        return Problem(_MISSING, node.span, f"{what}; {so}.", "warning", fixes)


def _of_suite(places: Mapping[Path, tuple[Path, ...]], suite: Suite) -> tuple[Path, ...]:
    return places[suite.path]


def _listed_file(item: Node) -> Node | None:
    """Return the path of a file that is copied from the fixtures, None for one with inline content."""
    if item.kind != "mapping":
        return item
    path, content = item.get("path"), item.get("content")
    if path is None or (content is not None and (content.target.kind != "scalar" or scalar_text(content))):
        return None
    return path.target


_OUTSIDE = "outside-repository"
_UNKNOWN = frozenset("\0{$")
"""Characters of paths that do not name a file yet."""
TYPES_WITH_PATHS = frozenset({"diff", "json_schema", "llm", "prompt", "script", "trigger"})
_KEYS_OF_GRADERS = ("context_dir", "schema_file", "script", "skill_path")
_KEYS_OF_CONFIG = ("adapter", "recording")


def outside_paths(view: SuiteView) -> Found:
    """Yield the paths of a suite or task, and of its graders, that are outside the boundary."""
    path, root = path_of(view.document.uri), view.document.tree.root
    if path is None or root is None or view.document.kind not in ("eval", "task"):
        return
    listed = [root.get("config", key) for key in _KEYS_OF_CONFIG]
    listed += items_of(root.get("config", "skill_directories"))
    written = root.get("tasks") if view.document.kind == "eval" else None
    listed += [item for item in listed_in(written) if item.kind == "scalar"]
    for task in task_nodes(view.document.tree, view.document.kind):
        listed += [task.get("context_dir"), *items_of(task.get("skill_directories"))]
        listed += [repository.get("source") for repository in items_of(task.get("inputs", "repos"))]
    yield from _outside(view, path, listed)
    for grader in view.graders.of_types(TYPES_WITH_PATHS):
        checkpoint()
        yield from _outside(view, path, _paths_of(grader))


def _paths_of(grader: Node) -> list[Node | None]:
    rubric = grader.get("config", "rubric") or grader.get("rubric")
    is_path = rubric is not None and is_rubric_path(scalar_text(rubric) or "")
    return [*(grader.get("config", key) for key in _KEYS_OF_GRADERS), rubric if is_path else None]


def _outside(view: SuiteView, path: Path, nodes: Iterable[Node | None]) -> Found:
    project = view.workspace.project
    suites = [suite.folder for suite in project.suites_of(path)]
    starts = [path.parent] if view.document.kind == "eval" else suites
    for node in nodes:
        checkpoint()
        written = (scalar_text(node) or "") if node is not None and node.target.kind == "scalar" else ""
        if node is None or not written or _UNKNOWN.intersection(written):
            continue
        # The part of a glob before its first star is a folder.
        place = from_home(written.partition("*")[0])
        within = [(start, project.disk.boundaries.around(start)) for start in starts]
        inside = any(
            boundary.holds(Path(os.path.normpath(base / place)))
            for start, boundary in within
            for base in (start, *project.roots)
        )
        if within and (is_foreign(written) or not inside):
            what = (
                "names a network share or a device" if is_foreign(written) else "leads out of the repository"
            )
            message = (
                f"`{printable(written)}` {what}, so no run uses it; move what it names next to the suite."
            )
            yield Problem(_OUTSIDE, node.target.span, message, "error")


_WITH_PROGRAMS = ("program", "inline")
_SHELL = compiled_later(r"\A(?:[|<>;]|&&|\d?>)|\$[A-Za-z({]|[|;]\Z")
"""Syntax that only a shell understands."""


def missing_programs(view: SuiteView) -> Found:
    """Yield the programs and interpreters of grader entries that are not installed on this computer."""
    find = cache(shutil.which)
    path, project = path_of(view.document.uri), view.workspace.project
    suites = project.suites_of(path) if path is not None else ()
    if any(hooks_may_make(project.tree(suite.path).root) for suite in suites):
        return

    for grader in view.graders.of_types(_WITH_PROGRAMS):
        checkpoint()
        kind = grader_type(grader)
        if kind == "program":
            node = grader.get("config", "command")
            command = scalar_text(node) or ""
            if node is not None and (words := split_command(command)) and not find(command):
                yield _with_arguments(view.document.tree, node, words)
            elif node is not None and command and not is_path(command) and not find(command):
                message = f"There is no program `{printable(command)}` on PATH, so this grader fails."
                yield Problem("missing-program", node.target.span, message, "warning")
        elif kind == "inline":
            node = grader.get("config", "grader")
            is_loaded = is_module(PurePath(scalar_text(node) or ""))
            if node is not None and is_loaded and not any(map(find, MODULE_RUNTIMES)):
                message = "A module needs bun or Node.js, and neither is on PATH, so this grader fails."
                yield Problem("missing-program", node.target.span, message, "warning")


def _with_arguments(tree: Tree, command: Node, words: Sequence[str]) -> Problem:
    """Return the problem of a program written as a shell command line, as other tools accept it."""
    program, *arguments = words
    message = f"`{printable(command.target.value)}` as a whole is read as the name of a program, so this "
    fixes: tuple[Fix, ...] = ()
    if any(_SHELL.search(word) for word in words):
        message += "grader fails; no shell reads it."
        new = "sh", ["-c", command.target.value]
        title = "Have it run by `sh`"
    else:
        message += "grader fails; its arguments belong in `args`."
        new = program, arguments
        title = "Move the arguments into `args`"
    if command.parent is not None and command.parent.get("args") is None:
        fixes = (Fix(title, partial(_divided, tree, command, *new)),)
    return Problem("missing-program", command.target.span, message, "warning", fixes)


def _divided(tree: Tree, command: Node, program: str, arguments: Sequence[str]) -> Edits:
    config = command.parent
    entry = config.entry("command") if config is not None else None
    if config is None or entry is None or command.target is not command:
        return ()
    listed = inserted(tree, config, f"args: {dumps(arguments, ensure_ascii=False)}", entry)
    edits = Edit(command.span, program), *listed
    new = {"command": program, "args": list(arguments)}
    return checked(tree, edits, config.path, lambda old: {**entries_of(old), **new})


def names_beside(project: Project, start: Path, base: Path, written: str, kind: Kind | None) -> Iterator[str]:
    """Yield the names next to a path from ``base``, as paths; none outside the boundary of ``start``."""
    head = written.rstrip("/").rpartition("/")[0]
    place = Path(os.path.normpath(base / head))
    names = project.disk.names(place).value if project.disk.boundaries.around(start).holds(place) else ()
    for name, is_folder in islice(names, _MOST_BESIDE):
        if kind is None or is_folder == (kind == "folder"):
            yield f"{head}/{name}" if head else name


def items_of(node: Node | None) -> Iterator[Node]:
    """Yield the items of a list, or the single string that may replace a list."""
    if node is None:
        return
    if node.target.kind == "sequence":
        yield from listed_in(node)
    elif scalar_text(node):
        yield node.target
