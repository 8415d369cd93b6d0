"""The formats that an eval file can be converted to, offered at its first line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from waza_language_server.features.runnables.runnables import suites_run_from
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document, DocumentKind
    from waza_language_server.project.workspace import Workspace

TITLES: Mapping[str, str] = {
    "waza": "Convert to a waza suite",
    "evals.json": "Convert to evals.json",
    "vally": "Convert to a Vally eval file",
    "harness": "Convert to agent-eval-harness files",
}
"""The titles of the actions, by the names of the formats."""
_FORMATS: Mapping[DocumentKind, Sequence[str]] = {
    "eval": ("evals.json", "vally", "harness"),
    "evals_json": ("waza", "vally"),
    "trigger_list": ("waza",),
    "vally_eval": ("waza", "evals.json"),
}


def suite_conversions(document: Document, workspace: Workspace, selected: Span) -> Sequence[str]:
    """Return the formats that a file can be converted to; none for a selection below its first key."""
    root = document.tree.root
    head = next(root.each_entry(), None) if root is not None else None
    line = document.lines.line_of(head.key.span.start) if head is not None else 0
    if document.lines.line_of(selected.start) > line or not suites_run_from(document, workspace):
        return ()
    return _FORMATS.get(document.kind, ())
