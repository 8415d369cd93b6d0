"""Files that a task or a grading program needs and that are not there: a run with an agent stops for them.

Nothing is said where a hook may still make them, and where it cannot be seen whether they are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import shown
from waza_engine.spec.program_files import is_path, script_of
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.places import bases_of_run, found_at
from waza_language_server.project.suite_file import SuiteFile, word
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import grader_type
from waza_language_server.spelling import nearest, path_slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from waza_language_server.project.places import Kind
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node

CODE = "missing-file"
_OF_FILES = ("script", "inline", "program")
"""The types of graders that consist of a file."""
_MOST_WITH_FIXES = 20
"""For how many files of one text similar ones are looked for on the disk."""


def missing_files(view: SuiteView) -> Found:
    """Yield what the tasks and the grading programs of a file name and what is not there."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if path is None or root is None or document.kind not in ("eval", "task"):
        return
    suites = project.suites_of(path)
    if not suites or any(hooks_may_make(project.tree(suite.path).root) for suite in suites):
        return
    tasks = (task.node for task in SuiteFile(document.tree).tasks()) if document.kind == "eval" else (root,)
    files = _Files(view, suites)
    for task in tasks:
        yield None
        yield from files.of_task(task, path)
    for grader in (yield from view.graders.of_types(_OF_FILES)):
        yield None
        yield from files.of_grader(grader)


def hooks_may_make(root: Node | None) -> bool:
    """Whether a suite has hooks that run before its tasks: what is not there now may be there then."""
    hooks = root.get("hooks") if root is not None else None
    return hooks is not None and any(hooks.get(key) is not None for key in ("before_run", "before_task"))


class _Files:
    """The files around one document."""

    def __init__(self, view: SuiteView, suites: tuple[Suite, ...]) -> None:
        self._view = view
        self._suites = suites
        self._project = view.workspace.project
        self._seen: dict[tuple[object, ...], bool] = {}
        self._told = 0

    def of_task(self, task: Node, path: Path) -> Iterator[Problem]:
        """Yield what a task needs: its prompt, its fixtures, its instruction files."""
        inputs = task.get("inputs")
        if inputs is None or inputs.target.kind != "mapping":
            return
        named = [_listed_file(item) for item in _items(inputs.get("files"))]
        named += [item.target for item in _items(task.get("instruction_files"))]
        yield from self._of_fixtures(task, [node for node in named if node is not None and word(node)])
        prompt, context = inputs.get("prompt_file"), inputs.get("context")
        if prompt is not None and word(prompt):
            yield from self._absent(prompt.target, lambda _: (path.parent,), "file", "beside the task file")
        fixture = context.get("fixture") if context is not None else None
        if fixture is not None and word(fixture):
            yield from self._absent(
                fixture.target, lambda suite: (suite.folder,), None, "beside the eval file"
            )

    def of_grader(self, grader: Node) -> Iterator[Problem]:
        """Yield the file that a grading program consists of."""
        node = _program_file(grader)
        if node is not None and self._project.roots:
            where = "beside the eval file or in a folder above it"
            yield from self._absent(node.target, self._bases_of_run, "file", where)

    def _bases_of_run(self, suite: Suite) -> tuple[Path, ...]:
        return bases_of_run(self._project, suite.folder)

    def _of_fixtures(self, task: Node, named: list[Node]) -> Iterator[Problem]:
        folder = task.get("context_dir") if named else None
        if folder is None or not word(folder):
            for node in named:
                yield from self._absent(
                    node, lambda suite: (suite.folder / "fixtures",), "file", "in `fixtures`"
                )
            return
        written, found = word(folder) or "", list[Path]()
        for suite in self._suites:
            for place in found_at(self._project, suite.folder, self._bases_of_run(suite), written, "folder"):
                if place is None:
                    return
                found.append(place)
        if not found and self._project.roots:
            yield self._problem(folder.target, f"There is no folder `{shown(written)}` with the task's files")
        for node in named if found else ():
            yield from self._absent(node, lambda _: found, "file", "in `context_dir`")

    def _absent(
        self, node: Node, bases: Callable[[Suite], Sequence[Path]], kind: Kind | None, where: str
    ) -> Iterator[Problem]:
        written = node.value.strip()
        if any(self._may_be_there(suite, tuple(bases(suite)), written, kind) for suite in self._suites):
            return
        fixtures = where.startswith("in ")
        what = "no file" if kind == "file" else "nothing called"
        yield self._problem(node, f"There is {what} `{shown(written)}` {where}", has_fixtures=fixtures)

    def _may_be_there(self, suite: Suite, bases: tuple[Path, ...], written: str, kind: Kind | None) -> bool:
        """Whether it is in one place, or one where nobody can tell; tasks name the same again and again."""
        key = suite.folder, bases, written, kind
        if key not in self._seen:
            self._seen[key] = any(True for _ in found_at(self._project, suite.folder, bases, written, kind))
        return self._seen[key]

    def _problem(self, node: Node, what: str, *, has_fixtures: bool = False) -> Problem:
        fixes: tuple[Fix, ...] = ()
        self._told += 1
        if has_fixtures and self._told <= _MOST_WITH_FIXES:
            known = Nearby(self._project, self._view.document).fixtures().value
            meant = nearest(node.value, known)
            if meant is not None:
                repair = partial(replace_scalar, self._view.document.tree, node, meant)
                preferred = path_slip_of(node.value, known) == meant
                fixes = (Fix(f"Change to `{meant}`", repair, preferred=preferred),)
        message = f"{what}; a run with an agent stops before it begins."
        return Problem(CODE, node.span, message, "warning", fixes)


def _listed_file(item: Node) -> Node | None:
    """Return the path of a file that is copied from the fixtures, None for one with its own text."""
    item = item.target
    if item.kind != "mapping":
        return item
    path, content = item.get("path"), item.get("content")
    return None if path is None or (content is not None and word(content)) else path.target


def _program_file(grader: Node) -> Node | None:
    """Return the file that a grading program consists of."""
    node, kind = None, grader_type(grader)
    if kind == "script":
        node = grader.get("config", "script") or grader.get("script")
    elif kind == "inline":
        node = grader.get("config", "grader")
    elif kind == "program":
        node = _script(grader)
    return node if node is not None and word(node) else None


def _script(grader: Node) -> Node | None:
    """Return the script that a program is to run, or the program itself when it is a path."""
    command = grader.get("config", "command")
    if command is None or command.target.kind != "scalar":
        return None
    if is_path(command.target.value):
        return command
    arguments = [item.target for item in _items(grader.get("config", "args"))]
    texts = [argument.value if argument.kind == "scalar" else "" for argument in arguments]
    return arguments[0] if script_of(command.target.value, texts) else None


def _items(node: Node | None) -> Iterator[Node]:
    return iter(()) if node is None or node.target.kind != "sequence" else node.target.each_item()
