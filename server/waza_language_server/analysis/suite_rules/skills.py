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
"""Task files that are asked for skill directories of their own; of more nobody knows."""


def missing_skills(view: SuiteView) -> Found:
    """Yield the tested skill and the required ones that are not found; nothing for other files."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if document.kind != "eval" or path is None or root is None or hooks_may_make(root):
        return
    listed = [word(node) or "" for node in items_of(root.get("config", "skill_directories"))]
    disabled = {word(node) for node in items_of(root.get("config", "disabled_skills"))}
    tested, required = root.get("skill"), list(items_of(root.get("config", "required_skills")))
    needs_tested = word(tested) and loads_skills(word(root.get("config", "executor")))
    if disabled or "none" in listed or not (needs_tested or required):
        return
    yield None
    suite = project.suite(path)
    if any(no_folder_at(project, suite.folder, written.strip()) for written in listed):
        # It is told there, and the skill may lie where it should have led.
        return
    try:
        found = skills_of_run(project, suite, listed)
        lacks_tested = needs_tested and not _is_among(found, word(tested) or "")
        if lacks_tested:
            yield from _check_tasks(project, suite)
    except UnknownSkillsError:
        return
    if lacks_tested and tested is not None:
        message = "is not found, so the agent runs without it; name its folder in `skill_directories`."
        yield _problem(view, tested.target, "tested", message, found.values())
    for node in required:
        if word(node) and node.target.value not in found.values():
            message = "is not found, so the run stops; correct `skill_directories` or the name."
            yield _problem(view, node.target, "required", message, found.values())


def loads_skills(executor: str | None) -> bool:
    """Whether an executor is an agent that loads skills."""
    return executor is not None and executor in EXECUTORS and EXECUTORS[executor].costs


def _is_among(found: dict[Path, str], name: str) -> bool:
    """Whether a skill of this name is there, also one whose folder is called so."""
    wanted = name.casefold()
    return any(wanted in (known.casefold(), folder.name.casefold()) for folder, known in found.items())


def _check_tasks(project: Project, suite: Suite) -> Found:
    """Raise ``UnknownSkillsError`` when a task has skill directories of its own, or nobody knows."""
    paths = project.task_paths(suite).value
    if len(paths) > _MOST_TASKS:
        raise UnknownSkillsError
    for path in paths:
        yield None
        if project.outline(path).skill_directories:
            raise UnknownSkillsError


def _problem(view: SuiteView, node: Node, which: str, message: str, known: Iterable[str]) -> Problem:
    names = sorted(set(known))
    meant = nearest(node.value, names)
    fixes: tuple[Fix, ...] = ()
    if meant is not None:
        repair = partial(replace_scalar, view.document.tree, node, meant)
        fixes = (Fix(f"Change to `{meant}`", repair, preferred=slip_of(node.value, names) == meant),)
    return Problem(CODE, node.span, f"The {which} skill `{node.value}` {message}", "warning", fixes)


def items_of(node: Node | None) -> Iterator[Node]:
    """Yield the items of a list, or the one text that stands for a list of it."""
    if node is None:
        return
    if node.target.kind == "sequence":
        yield from (item.target for item in node.target.each_item())
    elif word(node):
        yield node.target
