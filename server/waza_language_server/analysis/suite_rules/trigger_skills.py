"""The skill of trigger prompts, when it is a misspelling of the one that the suite next to them tests.

A run compares the name exactly with those of the invoked skills: with a typo no prompt triggers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import SuiteView
from waza_language_server.analysis.schema_rules.keys.missing_keys import missing_key
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.spelling import nearest, slip_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span

CODE = "skill-not-found"


def skill_of_triggers(view: SuiteView) -> Iterator[Problem]:
    """Yield an unknown skill with a name similar to the tested one."""
    document, project = view.document, view.workspace.project
    if document.kind != "trigger_tests":
        return
    root, path = document.tree.root, path_of(document.uri)
    node = root.get("skill") if root is not None else None
    written = word(node)
    if root is not None and root.kind == "mapping" and root.entry("skill") is None:
        yield from _without_skill(view, root)
        return
    if path is None or node is None or not written:
        return
    names = sorted({suite.outline.skill for suite in project.suites_of(path) if suite.outline.skill})
    meant = nearest(written, names)
    if written in names or meant is None or written in Nearby(project, document).skills():
        return
    repair = partial(replace_scalar, document.tree, node.target, meant)
    fixes = (Fix(f"Change to `{meant}`", repair, preferred=slip_of(written, names) == meant),)
    message = f"The suite tests the skill `{meant}`, and no prompt ever triggers `{written}`."
    yield Problem(CODE, node.target.span, message, "warning", fixes)


def _without_skill(view: SuiteView, root: Node) -> Iterator[Problem]:
    """Yield that no skill is named, with a fix that names the one that the suite around tests."""
    document, catalog = view.document, view.workspace.catalog
    shapes = catalog.document_root(document.kind)
    misspelt = shapes.top.misspellings
    if any(slip_of(key, ("skill",)) or misspelt.get(key) == "skill" for key in root.key_names):
        return
    subject = Subject(document.tree, document.kind, catalog, root, shapes)
    if subject.may_lack(root):
        return
    path, project = path_of(document.uri), view.workspace.project
    suites = project.suites_of(path) if path is not None else ()
    known = sorted({suite.outline.skill for suite in suites if suite.outline.skill})
    names = known or Nearby(project, document).skills()[:1]
    problem = missing_key(subject, root, shapes.top, "skill")
    start, ending = root.span.start, line_break(document.text)
    first = (Fix(f"Insert `skill: {name}`", _line_above(start, name, ending)) for name in names)
    repairs = tuple(first) if root.style == "block" else ()
    yield replace(problem, fixes=repairs or problem.fixes)


def _line_above(start: int, name: str, ending: str) -> Edits:
    """Return the edit that names a skill before the first key, which is at the margin."""
    return (Edit(Span(start, start), f"skill: {plain_or_quoted(name)}{ending}"),)
