"""Skills that a suite needs and that do not exist: the tested one and those in ``required_skills``.

The skills are searched where a run searches them (``runs/agent/skills.py`` of the engine); nothing is
reported if the server cannot see what exists there. An executor that loads no skills misses none: there the
tested skill may be anywhere, unless its name is a typo of the skill next to the suite.
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
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.places import no_folder_at
from waza_language_server.project.skills_of_run import UnknownSkillsError, skills_of_run
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.spelling import nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite
    from waza_language_server.syntax.nodes import Node

CODE = "skill-not-found"
_MOST_TASKS = 200
"""Task files that are searched for skill directories of their own; more than these count as unknown."""


def missing_skills(view: SuiteView) -> Found:
    """Yield the tested skill and the required ones that do not exist; none for other files."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if document.kind != "eval" or path is None or root is None or hooks_may_make(root):
        return
    listed = [word(node) or "" for node in items_of(root.get("config", "skill_directories"))]
    disabled = {word(node) for node in items_of(root.get("config", "disabled_skills"))}
    tested, required = root.get("skill"), list(items_of(root.get("config", "required_skills")))
    if disabled or "none" in listed or not (word(tested) or required):
        return
    yield None
    suite = project.suite(path)
    if any(no_folder_at(project, suite.folder, written.strip()) for written in listed):
        # That directory is reported already, and the skill may be in there.
        return
    try:
        found = skills_of_run(project, suite, listed)
        lacks_tested = word(tested) and not _is_among(found, word(tested) or "")
        if lacks_tested:
            yield from _check_tasks(project, suite)
    except UnknownSkillsError:
        return
    if lacks_tested and tested is not None:
        node, lies_with = tested.target, tuple(_lies_with(suite, found))
        if loads_skills(word(root.get("config", "executor"))):
            missing = "The tested skill `{}` is not found, so the agent runs without it"
            yield _problem(view, node, missing, "name its folder in `skill_directories`.", found.values())
        elif slip_of(node.value, lies_with):
            near = {file.parent: name for file, name in Nearby(project, document).skill_files().items()}
            if not _is_among(near, node.value):
                yield _problem(view, node, "The tested skill `{}` is not found", "", lies_with)
    for node in required:
        if word(node) and node.target.value not in found.values():
            missing = "The required skill `{}` is not found, so the run stops"
            advice = "correct `skill_directories` or the name."
            yield _problem(view, node.target, missing, advice, found.values())


def loads_skills(executor: str | None) -> bool:
    """Return whether an executor is an agent that loads skills."""
    return executor is not None and executor in EXECUTORS and EXECUTORS[executor].costs


def _is_among(found: dict[Path, str], name: str) -> bool:
    """Return whether a skill of this name exists, or one whose folder has it."""
    wanted = name.casefold()
    return any(wanted in (known.casefold(), folder.name.casefold()) for folder, known in found.items())


def _lies_with(suite: Suite, found: dict[Path, str]) -> Iterator[str]:
    """Yield the skills whose folder contains the suite, or whose name or folder name is its folder's."""
    for folder, name in found.items():
        if (
            folder == suite.folder
            or folder in suite.folder.parents
            or suite.folder.name in (folder.name, name)
        ):
            yield name


def _check_tasks(project: Project, suite: Suite) -> Found:
    """Raise ``UnknownSkillsError`` when a task has skill directories of its own, or may have."""
    paths = project.task_paths(suite).value
    if len(paths) > _MOST_TASKS:
        raise UnknownSkillsError
    for path in paths:
        yield None
        if project.outline(path).skill_directories:
            raise UnknownSkillsError


def _problem(view: SuiteView, node: Node, missing: str, advice: str, known: Iterable[str]) -> Problem:
    """Return the problem of a missing skill.

    ``advice`` is added, unless the name is a typo of a ``known`` skill.
    """
    names = sorted(set(known))
    slip = slip_of(node.value, names)
    meant = slip or nearest(node.value, names)
    fixes: tuple[Fix, ...] = ()
    if meant is not None:
        repair = partial(replace_scalar, view.document.tree, node, meant)
        fixes = (Fix(f"Change to `{meant}`", repair, preferred=slip is not None),)
    if slip is not None:
        advice = f"did you mean `{slip}`?"
    return Problem(CODE, node.span, f"{missing.format(node.value)}; {advice}", "warning", fixes)


def items_of(node: Node | None) -> Iterator[Node]:
    """Yield the items of a list, or the single string that may replace a list."""
    if node is None:
        return
    if node.target.kind == "sequence":
        yield from (item.target for item in node.target.each_item())
    elif word(node):
        yield node.target
