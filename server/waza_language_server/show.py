"""Draws a file as an editor would show it: problems below lines, lenses above, scores at their ends."""

from __future__ import annotations

from pathlib import Path

from waza_engine.frozen import frozen
from waza_language_server.analysis.failures import RuleFailure, failures_noted
from waza_language_server.check import diagnose_with_plug_ins, open_document, workspace_of
from waza_language_server.features.annotated_source import Hint, Lens, annotate_source, carets_of
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.scores.inlay_hints import inlay_hints


@frozen()
class Drawing:
    """The annotated source of a file, and the parts that are missing because of internal errors."""

    text: str
    failures: tuple[RuleFailure, ...]


def show_file(path: Path) -> Drawing | None:
    """Return the drawing of a file, None when it is none of ours or cannot be read."""
    workspace = workspace_of([path])
    document = open_document(workspace.project, path)
    if document is None:
        return None
    workspace = workspace.with_document(document)
    with failures_noted() as failures:
        problems, workspace = diagnose_with_plug_ins(document, workspace)
    marks = carets_of(problems)
    marks += [Lens(lens.span.start, lens.title) for lens in code_lenses(document, workspace)]
    marks += [Hint(hint.offset, hint.label) for hint in inlay_hints(document, workspace)]
    return Drawing(annotate_source(document.text, marks), tuple(failures))
