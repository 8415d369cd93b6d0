"""Graders that check whether the agent loads the tested skill, whose text is already in its instructions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.suite_rules.skills import items_of, loads_skills
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.text.edit import Fix, Related

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node

_TYPE = "skill_invocation"
_OFF = "inject_skill_body"
_CONSEQUENCES = {
    "required_skills": "and then this grader fails",
    "forbidden_skills": "and this grader does not see that it uses it",
}


def loaded_skills(view: SuiteView) -> Found:
    """Yield the required and forbidden skills in graders that the agent has no reason to load."""
    yield from loaded_skills_of(view, (yield from view.graders.of_types((_TYPE,))))


def loaded_skills_of(view: SuiteView, graders: Iterable[Node]) -> Found:
    """Yield the same for some graders; only if every suite of the file gives the text of this skill."""
    path, project = path_of(view.document.uri), view.workspace.project
    graders = [grader for grader in graders if word(grader.get("type")) == _TYPE]
    suites = project.suites_of(path) if path is not None and graders else ()
    own = view.document.tree.root
    roots = [own if suite.path == path else project.tree(suite.path).root for suite in suites]
    tested = {word(root.get("skill")) for root in roots if root is not None and _gives_text(root)}
    if not suites or len(tested) != 1 or not all(root is not None and _gives_text(root) for root in roots):
        return
    for grader in graders:
        yield None
        for key, consequence in _CONSEQUENCES.items():
            for item in items_of(grader.get("config", key)):
                if item.value in tested:
                    yield _problem(view, item, suites[0].path, consequence)


def _gives_text(root: Node) -> bool:
    """Return whether the agent of a suite has the text of the tested skill in its instructions."""
    config = root.get("config")
    if config is None or not loads_skills(word(config.get("executor"))) or word(root.get("skill")) is None:
        return False
    left_out = (*items_of(config.get("disabled_skills")), *items_of(config.get("skill_directories")))
    return word(config.get(_OFF)) in (None, "true") and not {"*", "none"}.intersection(map(word, left_out))


def _problem(view: SuiteView, item: Node, suite: Path, consequence: str) -> Problem:
    tree, is_eval = view.document.tree, view.document.kind == "eval"
    config = tree.root.get("config") if tree.root is not None and is_eval else None
    written = config.get(_OFF) if config is not None else None
    fixes: tuple[Fix, ...] = ()
    if config is not None:
        repair = (
            partial(insert_entry, tree, config.target, _OFF, "false")
            if written is None
            else partial(replace_scalar, tree, written.target, "false")
        )
        fixes = (Fix(f"Set `{_OFF}: false`", repair),)
    there = view.workspace.project.tree(suite).root
    place = there.get("config") if there is not None and not is_eval else None
    related = (Related(place.span, f"`{_OFF}` belongs here.", uri_of(suite)),) if place is not None else ()
    message = (
        f"The agent has the text of `{item.value}` in its instructions, so it rarely loads it, "
        f"{consequence}; set `{_OFF}: false` in `config`."
    )
    return Problem("skill-already-loaded", item.span, message, "information", fixes, related)
