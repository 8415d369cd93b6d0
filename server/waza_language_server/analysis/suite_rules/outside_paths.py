"""Paths outside the boundary of the suite: a run rejects them before it reads anything."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from waza_engine.boundary import is_foreign
from waza_engine.files import from_home, shown
from waza_engine.spec.program_files import is_rubric_path
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.skills import items_of
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.kept_items import items_where
from waza_language_server.syntax.nodes import Node

CODE = "outside-repository"
_UNKNOWN = frozenset("\0{$")
"""Characters of paths that do not name a file yet."""
TYPES_WITH_PATHS = frozenset({"diff", "json_schema", "llm", "prompt", "script", "trigger"})
_KEYS_OF_GRADERS = ("context_dir", "schema_file", "script", "skill_path")
_KEYS_OF_TASKS = frozenset({"context_dir", "inputs", "skill_directories"})
_KEYS_OF_CONFIG = ("adapter", "recording")


def outside_paths(view: SuiteView) -> Found:
    """Yield the paths of a suite or task, and of its graders, that are outside the boundary."""
    path, root = path_of(view.document.uri), view.document.tree.root
    if path is None or root is None or view.document.kind not in ("eval", "task"):
        return
    listed = [root.get("config", key) for key in _KEYS_OF_CONFIG]
    listed += items_of(root.get("config", "skill_directories"))
    tasks: Iterable[Node] = (root,)
    if view.document.kind == "eval":
        written = root.get("tasks")
        tasks = (yield from items_where(written, _names_paths)) if written is not None else ()
    for task in tasks:
        yield None
        if task.target.kind == "scalar":
            listed.append(task.target)
        else:
            listed += [task.get("context_dir"), *items_of(task.get("skill_directories"))]
            listed += [repository.get("source") for repository in items_of(task.get("inputs", "repos"))]
    yield from _outside(view, path, listed)
    yield from outside_paths_of(view, (yield from view.graders.where(names_paths, TYPES_WITH_PATHS)))


def outside_paths_of(view: SuiteView, graders: Iterable[Node]) -> Found:
    """Yield the paths of some graders that are outside the boundary."""
    path = path_of(view.document.uri)
    if path is not None:
        for grader in graders:
            yield None
            yield from _outside(view, path, _paths_of(grader))


def names_paths(grader: Node) -> bool:
    """Return whether a grader names a path relative to the suite."""
    return any(_paths_of(grader))


def _paths_of(grader: Node) -> list[Node | None]:
    rubric = grader.get("config", "rubric") or grader.get("rubric")
    is_path = rubric is not None and is_rubric_path(word(rubric) or "")
    return [*(grader.get("config", key) for key in _KEYS_OF_GRADERS), rubric if is_path else None]


def _names_paths(task: Node) -> bool:
    return task.kind == "scalar" or not _KEYS_OF_TASKS.isdisjoint(task.key_names)


def _outside(view: SuiteView, path: Path, nodes: Iterable[Node | None]) -> Found:
    project = view.workspace.project
    suites = [suite.folder for suite in project.suites_of(path)]
    starts = [path.parent] if view.document.kind == "eval" else suites
    for node in nodes:
        yield None
        written = (word(node) or "") if node is not None and node.target.kind == "scalar" else ""
        if node is None or not written or _UNKNOWN.intersection(written):
            continue
        # The part of a glob before its first star is a folder.
        place = from_home(written.partition("*")[0])
        within = [(start, project.disk.reach.around(start)) for start in starts]
        inside = any(
            boundary.holds(Path(os.path.normpath(base / place)))
            for start, boundary in within
            for base in (start, *project.roots)
        )
        if within and (is_foreign(written) or not inside):
            what = (
                "names a network share or a device" if is_foreign(written) else "leads out of the repository"
            )
            message = f"`{shown(written)}` {what}, so no run uses it; move what it names next to the suite."
            yield Problem(CODE, node.target.span, message, "error")
