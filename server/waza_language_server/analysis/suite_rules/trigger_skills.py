"""The skill of trigger prompts, when it is a misspelling of the one that the suite beside them tests.

A run compares the name with those of the invoked skills, letter by letter: with a slip no prompt triggers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import SuiteView
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suite_file import word
from waza_language_server.project.uris import path_of
from waza_language_server.spelling import nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

CODE = "skill-not-found"


def skill_of_triggers(view: SuiteView) -> Iterator[Problem]:
    """Yield the skill that no skill of the workspace is called, and that is near to the tested one."""
    document, project = view.document, view.workspace.project
    root, path = document.tree.root, path_of(document.uri)
    node = root.get("skill") if root is not None else None
    written = word(node)
    if document.kind != "trigger_tests" or path is None or node is None or not written:
        return
    names = sorted({suite.outline.skill for suite in project.suites_of(path) if suite.outline.skill})
    meant = nearest(written, names)
    if written in names or meant is None or written in Nearby(project, document).skills():
        return
    repair = partial(replace_scalar, document.tree, node.target, meant)
    fixes = (Fix(f"Change to `{meant}`", repair, preferred=slip_of(written, names) == meant),)
    message = f"The suite tests the skill `{meant}`, and no prompt ever triggers `{written}`."
    yield Problem(CODE, node.target.span, message, "warning", fixes)
