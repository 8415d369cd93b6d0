"""All problems of a document: syntax, structure, graders, and other files' references.

Architecture invariant: no rule makes ``diagnose`` raise. One that fails is left out (see ``failures``).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from waza_language_server.analysis.consequences import may_have_consequences, separate_consequences
from waza_language_server.analysis.directives import apply_severities
from waza_language_server.analysis.failures import guarded, note_failure
from waza_language_server.analysis.file_rules.eval_file import as_newer
from waza_language_server.analysis.fixes import with_fixes
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.grader_problems import problems_of_graders
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found, SuiteView, found_by
from waza_language_server.analysis.rules import (
    FILE_RULES,
    SUITE_RULES,
    TEXT_RULES,
    VALLY_RULES,
)
from waza_language_server.analysis.text_rules.syntax import multiplies_itself, syntax_faults
from waza_language_server.analysis.vally_rules.versions import as_of_version
from waza_language_server.schema.catalog import VALLY_KINDS
from waza_language_server.syntax.tree import Tree
from waza_language_server.syntax.tried_edits import as_json
from waza_language_server.text.edit import Edits, Fix

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

_with_consequences: WeakKeyDictionary[Document, tuple[Problem, ...]] = WeakKeyDictionary()
"""All problems of the documents in which some are not reported."""
_MOST_LAYERS = 2
"""The number of rounds in which typos are repaired that earlier repairs have revealed."""


def diagnose(document: Document, workspace: Workspace) -> tuple[Problem, ...]:
    """Return the problems of a document in source order."""
    with workspace.project.disk.cached_lookups():
        return _reported(document, workspace)


def all_problems(document: Document, workspace: Workspace) -> tuple[Problem, ...]:
    """Return all problems, including those that are not reported because a typo causes them."""
    if document not in _with_consequences:
        reported = diagnose(document, workspace)
        _with_consequences.setdefault(document, reported)
    return _with_consequences[document]


def _reported(document: Document, workspace: Workspace, deeper: int = _MOST_LAYERS) -> tuple[Problem, ...]:
    problems = _with_severities(document, workspace)
    if not may_have_consequences(document, problems):
        return problems

    def check_repaired(repaired: Document) -> tuple[Problem, ...]:
        around = workspace.with_document(repaired)
        return _reported(repaired, around, deeper - 1) if deeper else _with_severities(repaired, around)

    found = separate_consequences(document, problems, check_repaired)
    _with_consequences[document] = (*problems, *found.hidden)
    return _in_order(document.tree, iter((*found.reported, *found.hidden)))


def _with_severities(document: Document, workspace: Workspace) -> tuple[Problem, ...]:
    problems = _in_order(document.tree, _problems_of(document, workspace))
    view = FileView(document.tree, document.kind, workspace.catalog.of(document.kind))
    problems = tuple([_in_language(view.tree, with_fixes(view, problem)) for problem in problems])
    return apply_severities(problems, document, workspace)


def _in_language(tree: Tree, problem: Problem) -> Problem:
    """Return a problem with fixes that write the language of the text: rules write YAML."""
    if not tree.is_json or not problem.fixes:
        return problem
    fixes = (replace(fix, repair=partial(_edits_as_json, tree, fix), offset=0) for fix in problem.fixes)
    return replace(problem, fixes=tuple(fixes))


def _edits_as_json(tree: Tree, fix: Fix) -> Edits:
    return as_json(tree, fix.edits)


def _in_order(tree: Tree, found: Found) -> tuple[Problem, ...]:
    """Return the problems that rules found in a text, each one once, in source order."""
    problems: dict[tuple[int, int, str, str], Problem] = {}
    for problem in found:
        if problem.span.end <= len(tree.text):
            key = (problem.span.start, problem.span.end, problem.code, problem.message)
            problems.setdefault(key, problem)
    return tuple(problems[key] for key in sorted(problems))


def _problems_of(document: Document, workspace: Workspace) -> Found:
    tree, kind, catalog = document.tree, document.kind, workspace.catalog.of(document.kind)
    try:
        catalog.document_root(kind)
    except Exception as error:  # noqa: BLE001 - noted
        note_failure("reading the schemas", error)
        yield from guarded("syntax", lambda: syntax_faults(tree))
        return
    view = FileView(tree, kind, catalog)
    found = _found_by_rules(view, document, workspace)
    yield from as_of_version(document, workspace, found) if kind in VALLY_KINDS else as_newer(view, found)


def _found_by_rules(view: FileView, document: Document, workspace: Workspace) -> Found:
    tree, kind, catalog = view.tree, view.kind, view.catalog
    yield from found_by(TEXT_RULES, view)
    if multiplies_itself(tree):
        return
    yield from found_by(FILE_RULES, view)
    if tree.root is None:
        return
    yield from guarded("graders", lambda: problems_of_graders(view))
    graders = GraderEntries(tree, kind, catalog)
    suite = SuiteView(document, workspace, graders)
    if kind in VALLY_KINDS:
        yield from found_by(VALLY_RULES, suite)
        return
    yield from found_by(SUITE_RULES, suite)
