"""Graders that passed, or failed, on everything in mutation testing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, rule_at, task_id
from waza_language_server.project.uris import path_of
from waza_language_server.text.edit import Related

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from waza_language_server.project.strengths import Strength, Strengths
    from waza_language_server.syntax.nodes import Node


def weak_graders(view: SuiteView) -> Found:
    """Yield the names of weak graders, keys of weak lists of ``expected``, and redundant checks.

    Nothing without results of mutation testing.
    """
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
    root = document.tree.root
    if document.kind == "task" and root is not None:
        yield from _of_expected(root, own, strengths, suites)
    for task in SuiteFile(document.tree).tasks() if document.kind == "eval" else ():
        yield None
        yield from _of_expected(task.node, task.id, strengths, suites)


def _problems(grader: GraderEntry, found: Strength) -> Found:
    name = grader.node.get("name") or grader.node.get("type")
    if name is not None:
        yield from _weak(name, found)
    yield from _weak_checks(grader.node, found)


def _of_expected(task: Node, place: str, strengths: Strengths, suites: Sequence[Path]) -> Found:
    """Yield the key of each weak list in ``expected``, and each string in one that decides nothing."""
    expected = task.get("expected")
    for key in EXPECTED_LISTS if expected is not None else ():
        listed = expected.entry(key) if expected is not None else None
        if expected is None or listed is None:
            continue
        found = strengths.of_expected(suites, place, key, listed.value.to_python())
        if found is not None:
            yield from _weak(listed.key, found)
            yield from _weak_checks(expected, found)


def _weak(head: Node, found: Strength) -> Found:
    if found.finding:
        related = tuple(Related(head.span, f"It passed on: {kind}.") for kind in found.passed_on)
        yield Problem("weak-grader", head.span, found.finding, "information", related=related)
    if found.rejected:
        related = tuple(Related(head.span, message) for message in found.rejected[1:])
        yield Problem("weak-grader", head.span, found.rejected[0], "information", related=related)


def _weak_checks(entry: Node, found: Strength) -> Found:
    for check in found.weak_checks:
        node = rule_at(entry, check.path, found.entry)
        if node is not None:
            yield Problem("weak-grader", node.span, check.message, "information")
