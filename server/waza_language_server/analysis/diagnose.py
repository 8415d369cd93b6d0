"""Every problem of a document: syntax, structure, graders, and what other files say about it.

Architecture invariant: no rule makes ``diagnose`` raise. One that fails is left out (see ``failures``).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from waza_language_server.analysis.failures import guarded, note_failure
from waza_language_server.analysis.file_rules.syntax_problems import multiplies_itself, syntax_problems
from waza_language_server.analysis.grader_problems import grader_problems
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found, GradersView, SuiteView, found_by
from waza_language_server.analysis.rules import (
    FILE_RULES,
    GRADERS_RULES,
    ITEM_RULES,
    SUITE_RULES,
    TEXT_RULES,
)
from waza_language_server.schema.catalog import Catalog, default_catalog
from waza_language_server.schema.locate import graders_in
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.steps import finished
from waza_language_server.syntax.tree import Tree

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project

_PROBLEMS_PER_PAUSE = 500


def diagnose(
    document: Document, project: Project | None = None, catalog: Catalog | None = None
) -> tuple[Problem, ...]:
    """Return the problems of a document in the order of its text.

    ``project`` adds what other files say; without it only the document itself is judged.
    """
    return finished(diagnose_in_steps(document, project, catalog))


def diagnose_in_steps(
    document: Document, project: Project | None = None, catalog: Catalog | None = None
) -> Generator[None, None, tuple[Problem, ...]]:
    """Do the same with many pauses, where the caller may do something else or stop."""
    yield from document.read_in_steps()
    return (yield from in_order(document.tree, _problems_of(document, project, catalog)))


def in_order(tree: Tree, found: Found) -> Generator[None, None, tuple[Problem, ...]]:
    """Return what rules have found in a text, each problem once, in the order of the text."""
    problems: dict[tuple[int, int, str, str], Problem] = {}
    for count, problem in enumerate(found):
        if problem is None or not count % _PROBLEMS_PER_PAUSE:
            yield
        if problem is not None and problem.span.end <= len(tree.text):
            key = (problem.span.start, problem.span.end, problem.code, problem.message)
            problems.setdefault(key, problem)
    yield
    ordered = sorted(problems)
    yield
    return tuple(map(problems.__getitem__, ordered))


def _problems_of(document: Document, project: Project | None, catalog: Catalog | None) -> Found:
    tree, kind = document.tree, document.kind
    try:
        catalog = catalog or default_catalog()
        catalog.document_root(kind)
    except Exception as error:  # noqa: BLE001 - noted
        note_failure("reading the schemas", error)
        yield from guarded("syntax", lambda: syntax_problems(tree, kind, None))
        return
    view = FileView(tree, kind, catalog)
    yield from found_by(TEXT_RULES, view)
    if multiplies_itself(tree):
        return
    yield from found_by(FILE_RULES, view)
    root = tree.root
    if root is None:
        return
    yield from found_by(ITEM_RULES, view)
    graders: list[Node] = []
    for entry in guarded("graders", lambda: graders_in(root, kind, catalog)):
        graders.append(entry)
        yield None
    for entry in graders:
        yield from grader_problems(view, entry)
        yield None
    yield from found_by(GRADERS_RULES, GradersView(tree.text, graders))
    if project is not None:
        yield from found_by(SUITE_RULES, SuiteView(document, project, catalog, graders))
