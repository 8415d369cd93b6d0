"""Graders that passed, or failed, on everything when their strength was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, rule_at, task_id
from waza_language_server.project.uris import path_of
from waza_language_server.text.edit import Related

if TYPE_CHECKING:
    from waza_language_server.project.strengths import Strength


def weak_graders(view: SuiteView) -> Found:
    """Yield the name of each weak grader, and each check that decides nothing; nothing unless measured."""
    document, project = view.document, view.workspace.project
    path = path_of(document.uri)
    if path is None or not project.asked_for_scores or project.scores.strengths.empty:
        return
    strengths = project.scores.strengths
    suites = [suite.path for suite in project.suites_of(path)]
    if not strengths.has_any(suites):
        return
    own = task_id(document.tree.root, path) if document.kind == "task" else ""
    for grader in SuiteFile(document.tree).graders():
        yield None
        if not grader.recorded_as:
            continue
        place = grader.task.id if grader.task is not None else own
        found = strengths.of(suites, place, grader.recorded_as, grader.node.to_python())
        if found is not None:
            yield from _problems(grader, found)


def _problems(grader: GraderEntry, found: Strength) -> Found:
    name = grader.node.get("name") or grader.node.get("type")
    if found.finding and name is not None:
        related = tuple(Related(name.span, f"It passed on: {kind}.") for kind in found.passed_on)
        yield Problem("weak-grader", name.span, found.finding, "information", related=related)
    for check in found.weak_checks:
        node = rule_at(grader.node, check, found.entry)
        if node is not None:
            message = (
                "This passed on every recorded trial and on every change of them, so it decides nothing; "
                "the other checks of the grader do."
            )
            yield Problem("weak-grader", node.span, message, "information")
