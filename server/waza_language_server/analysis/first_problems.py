"""The problems of the graders at the beginning of a long file, before the rest is checked.

Architecture invariant: each of these problems is also one of the entire file, whatever follows further down
(``syntax/beginning.py``). Rules that compare graders, or look beyond them, wait for the entire file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.steps import Steps
from waza_language_server.analysis.diagnose import in_order
from waza_language_server.analysis.directives import MARK, as_wanted
from waza_language_server.analysis.failures import guarded
from waza_language_server.analysis.file_rules.schema_version import VERSION_KEY, as_newer
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.grader_problems import problems_of_all
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.syntax.beginning import beginning

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

MOST = 500
"""With more at the beginning, perhaps not all are shown in the end."""
_OF_THE_WHOLE = (VERSION_KEY, MARK)
"""Words further down that may change the severity of a problem, or suppress it."""


def first_problems(
    document: Document, workspace: Workspace
) -> Steps[tuple[Document, tuple[Problem, ...]] | None]:
    """Return the beginning of a document that is not parsed yet, and the problems of its graders.

    With many pauses. None for a short document, and if the rest may change the problems at the beginning.
    """
    if document.kind not in ("eval", "task"):
        return None
    tree = yield from beginning(document.text)
    if tree is None or any(document.text.find(word, len(tree.text)) >= 0 for word in _OF_THE_WHOLE):
        return None
    first = document.begun_with(tree)
    try:
        workspace.catalog.document_root(document.kind)
    except Exception:  # noqa: BLE001 - said when the whole is judged
        return None
    view = FileView(tree, document.kind, workspace.catalog)
    graders = GraderEntries(tree, document.kind, workspace.catalog)
    found = as_newer(view, guarded("graders", lambda: problems_of_all(view, graders)))
    problems = yield from in_order(tree, found)
    if len(problems) > MOST:
        return None
    return first, (yield from as_wanted(problems, first, workspace))
