"""Skill directories that do not exist, and those that upstream does not find.

A run searches next to the eval file, in its working directory and in the folders above; upstream searches
only next to the eval file, and silently ignores a missing folder. Nothing is reported if a hook may still
create it, or if no skill is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import shown
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import CODE, hooks_may_make
from waza_language_server.analysis.suite_rules.skills import items_of, loads_skills
from waza_language_server.project.places import bases_of_run, found_at, is_plain
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.spelling import nearest, path_slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node


_MOST_BESIDE = 500
"""The most names in a folder to compare a missing one with."""


def skill_directories(view: SuiteView) -> Found:
    """Yield the skill directories of a suite or a task that one of the engines does not find."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if path is None or root is None or document.kind not in ("eval", "task") or not project.roots:
        return
    where = ("config", "skill_directories") if document.kind == "eval" else ("skill_directories",)
    listed = list(items_of(root.get(*where)))
    suites = (project.suite(path),) if document.kind == "eval" else project.suites_of(path)
    if not listed or not suites or not all(_loads(project, suite, root, path) for suite in suites):
        return
    for node in listed:
        yield None
        written = word(node) or ""
        if written != "none" and is_plain(written):
            yield from _of_directory(view, node, suites)


def _loads(project: Project, suite: Suite, root: Node, path: Path) -> bool:
    """Return whether skills are loaded that no hook creates."""
    read = root if suite.path == path else project.tree(suite.path).root
    if read is None or hooks_may_make(read):
        return False
    return loads_skills(word(read.get("config", "executor"))) or any(
        True for _ in items_of(read.get("config", "required_skills"))
    )


def _similar(view: SuiteView, node: Node, suites: tuple[Suite, ...]) -> tuple[Fix, ...]:
    """Return the fix that writes the folder next to the missing one that has a similar name."""
    project, written = view.workspace.project, node.value.strip()
    above, _, _ = written.rstrip("/").rpartition("/")
    found: set[str] = set()
    for suite in suites:
        place = Path(os.path.normpath(suite.folder / above))
        boundary = project.disk.reach.around(suite.folder)
        names = project.disk.names(place).value[:_MOST_BESIDE] if boundary.holds(place) else ()
        found.update(f"{above}/{name}" if above else name for name, is_folder in names if is_folder)
    meant = nearest(written, sorted(found))
    if meant is None:
        return ()
    repair = partial(replace_scalar, view.document.tree, node, meant)
    return (Fix(f"Change to `{shown(meant)}`", repair, preferred=path_slip_of(written, found) == meant),)


def _of_directory(view: SuiteView, node: Node, suites: tuple[Suite, ...]) -> Iterator[Problem]:
    project, written = view.workspace.project, node.value.strip()
    places: set[Path] = set()
    for suite in suites:
        beside = [*found_at(project, suite.folder, (suite.folder,), written, "folder")]
        found = [*found_at(project, suite.folder, bases_of_run(project, suite.folder), written, "folder")]
        if beside or None in found[:1]:
            return
        places.update(place for place in found[:1] if place is not None)
    if not places:
        where = "" if written.startswith("..") else " or in a folder above it"
        what = f"There is no folder `{shown(written)}` beside the eval file{where}"
        fixes = _similar(view, node, suites)
        yield Problem(CODE, node.span, f"{what}; its skills are not loaded.", "warning", fixes)
        return
    meant = {Path(os.path.relpath(place, suite.folder)).as_posix() for place in places for suite in suites}
    fixes: tuple[Fix, ...] = ()
    advice = "."
    if len(meant) == 1:
        (new,) = meant
        advice = f"; write `{shown(new)}`."
        fixes = (Fix(f"Change to `{shown(new)}`", partial(replace_scalar, view.document.tree, node, new)),)
    message = f"Only this engine finds `{shown(written)}`: upstream looks beside the eval file alone{advice}"
    yield Problem("path-not-portable", node.span, message, "warning", fixes)
