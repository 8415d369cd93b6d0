"""The skills that a suite needs, the tested one and those in ``required_skills``, and that nobody finds.

The skills are looked for where a run looks (``runs/agent/skills.py`` of the engine); nothing is said where
it cannot be seen what is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.spec.executors import EXECUTORS
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import hooks_may_make
from waza_language_server.project.claim import CONFIG_NAMES, SKILL_NAME
from waza_language_server.project.places import bases_of_run, found_at
from waza_language_server.project.skills import skill_name
from waza_language_server.project.suite_file import word
from waza_language_server.project.suites import folders_above
from waza_language_server.project.uris import path_of
from waza_language_server.spelling import nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node

CODE = "skill-not-found"
_AGENT_SUFFIX = ".agent.md"
_LEVELS_DOWN = 5
_MOST_FOLDERS = 2_000
_MOST_TASKS = 200
"""Task files that are asked for skill directories of their own; of more nobody knows."""
_SKIPPED = frozenset({"node_modules", "vendor"})


class _UnknownError(Exception):
    """It cannot be seen which skills there are."""


def missing_skills(view: SuiteView) -> Found:
    """Yield the tested skill and the required ones that are not found; nothing for other files."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if document.kind != "eval" or path is None or root is None or hooks_may_make(root):
        return
    listed = [word(node) or "" for node in _items(root.get("config", "skill_directories"))]
    disabled = {word(node) for node in _items(root.get("config", "disabled_skills"))}
    tested, required = root.get("skill"), list(_items(root.get("config", "required_skills")))
    needs_tested = word(tested) and _loads_skills(word(root.get("config", "executor")))
    if disabled or "none" in listed or not (needs_tested or required):
        return
    yield None
    suite = project.suite(path)
    try:
        found = _Skills(project, suite).found(listed)
        lacks_tested = needs_tested and not _is_among(found, word(tested) or "")
        if lacks_tested:
            yield from _check_tasks(project, suite)
    except _UnknownError:
        return
    if lacks_tested and tested is not None:
        message = "is not found, so the agent runs without it; name its folder in `skill_directories`."
        yield _problem(view, tested.target, "tested", message, found.values())
    for node in required:
        if word(node) and node.target.value not in found.values():
            message = "is not found, so the run stops; correct `skill_directories` or the name."
            yield _problem(view, node.target, "required", message, found.values())


def _loads_skills(executor: str | None) -> bool:
    return executor is not None and executor in EXECUTORS and EXECUTORS[executor].costs


def _is_among(found: dict[Path, str], name: str) -> bool:
    """Whether a skill of this name is there, also one whose folder is called so."""
    wanted = name.casefold()
    return any(wanted in (known.casefold(), folder.name.casefold()) for folder, known in found.items())


def _check_tasks(project: Project, suite: Suite) -> Found:
    """Raise ``_UnknownError`` when a task has skill directories of its own, or nobody knows."""
    paths = project.task_paths(suite).value
    if len(paths) > _MOST_TASKS:
        raise _UnknownError
    for path in paths:
        yield None
        if project.outline(path).skill_directories:
            raise _UnknownError


def _problem(view: SuiteView, node: Node, which: str, message: str, known: Iterable[str]) -> Problem:
    names = sorted(set(known))
    meant = nearest(node.value, names)
    fixes: tuple[Fix, ...] = ()
    if meant is not None:
        repair = partial(replace_scalar, view.document.tree, node, meant)
        fixes = (Fix(f"Change to `{meant}`", repair, preferred=slip_of(node.value, names) == meant),)
    return Problem(CODE, node.span, f"The {which} skill `{node.value}` {message}", "warning", fixes)


class _Skills:
    """Where the skills of one suite lie."""

    def __init__(self, project: Project, suite: Suite) -> None:
        self._project = project
        self._folder = suite.folder
        self._boundary = project.disk.reach.around(suite.folder)
        self._looked_at = 0

    def found(self, listed: list[str]) -> dict[Path, str]:
        """Return the folders of the skills and their names. Raises ``_UnknownError``."""
        found: dict[Path, str] = {}
        for folder in self._above():
            if (name := self._skill_in(folder)) is not None:
                # The skill that the suite lies in is tested even where it is not listed.
                found[folder] = name
                break
        places = self._listed(listed) if listed else self._usual()
        for place in places:
            for folder in (place, *self._folders_in(place)) if listed else self._below(place, _LEVELS_DOWN):
                if (name := self._skill_in(folder)) is not None:
                    found[folder] = name
        return found

    def _above(self) -> Iterator[Path]:
        for folder in (self._folder, *self._folder.parents):
            if not self._boundary.holds(folder):
                return
            yield folder

    def _listed(self, listed: list[str]) -> Iterator[Path]:
        if not self._project.roots:
            raise _UnknownError
        for written in listed:
            bases = bases_of_run(self._project, self._folder)
            for place in found_at(self._project, self._folder, bases, written, "folder"):
                if place is None:
                    raise _UnknownError
                yield place

    def _usual(self) -> Iterator[Path]:
        for folder in folders_above(self._folder / "eval.yaml"):
            if not self._boundary.holds(folder):
                return
            for name in CONFIG_NAMES:
                if name in self._project.names(folder):
                    tree = self._project.tree(folder / name)
                    yield folder / (
                        word(tree.root.get("paths", "skills")) or "skills" if tree.root else "skills"
                    )
            yield from (folder / "skills", folder / ".github" / "skills")

    def _below(self, folder: Path, levels: int) -> Iterator[Path]:
        yield folder
        if self._skill_in(folder) is None and levels > 0:
            for below in self._folders_in(folder):
                if below.name not in _SKIPPED and not below.name.startswith("."):
                    yield from self._below(below, levels - 1)

    def _skill_in(self, folder: Path) -> str | None:
        """Return what the skill in a folder is called, None when there is none."""
        names = self._names(folder)
        if any(name == SKILL_NAME for name, _ in names):
            name = self._project.disk.derived(folder / SKILL_NAME, "skill", skill_name)
            return name or folder.name
        agents = [name for name, is_folder in names if name.endswith(_AGENT_SUFFIX) and not is_folder]
        if not agents:
            return None
        name = self._project.disk.derived(folder / agents[0], "skill", skill_name)
        return name or agents[0].removesuffix(_AGENT_SUFFIX)

    def _folders_in(self, folder: Path) -> list[Path]:
        return [folder / name for name, is_folder in self._names(folder) if is_folder]

    def _names(self, folder: Path) -> tuple[tuple[str, bool], ...]:
        self._looked_at += 1
        if self._looked_at > _MOST_FOLDERS or not self._boundary.holds(folder):
            raise _UnknownError
        names = self._project.disk.names(folder)
        if names.unknown:
            raise _UnknownError
        return names.value


def _items(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    if node.target.kind == "sequence":
        yield from (item.target for item in node.target.each_item())
    elif word(node):
        yield node.target
