"""Between the editor words of the core and the words of the protocol.

Architecture invariant: offsets become positions here and nowhere else, in the encoding that the client chose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.project.uris import path_of
from waza_language_server.text.line_index import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.analysis.problem import Edit, Problem, Related
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.capabilities import ClientAbilities
    from waza_language_server.text.line_index import Encoding
    from waza_language_server.text.span import Span

_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_TAG = {"unnecessary": types.DiagnosticTag.Unnecessary, "deprecated": types.DiagnosticTag.Deprecated}


class Converter:
    """Converts what belongs to one document."""

    def __init__(self, document: Document, encoding: Encoding, abilities: ClientAbilities) -> None:
        self._document = document
        self._encoding: Encoding = encoding
        self._abilities = abilities

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; positions behind a line or the text count as their ends."""
        return self._document.lines.offset(position.line, position.character, self._encoding)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        return types.Position(*self._document.lines.position(offset, self._encoding))

    def range(self, span: Span) -> types.Range:
        """Return the range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """Return the edits in the client's words."""
        return [types.TextEdit(self.range(edit.span), edit.text) for edit in edits]

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """Return edits for this version of the document; clients that check versions refuse them for others."""
        converted = self.edits(edits)
        if not self._abilities.versions_edits:
            return types.WorkspaceEdit(changes={self._document.uri: converted})
        identifier = types.OptionalVersionedTextDocumentIdentifier(self._document.uri, self._document.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, [*converted])])

    def diagnostic(self, problem: Problem, project: Project) -> types.Diagnostic:
        """Return a problem as the client may show it."""
        abilities = self._abilities
        diagnostic = types.Diagnostic(
            range=self.range(problem.span),
            message=problem.message,
            severity=_SEVERITY[problem.severity],
            code=problem.code,
            source="waza",
        )
        if problem.tag and abilities.shows_tags:
            diagnostic.tags = [_TAG[problem.tag]]
        if problem.related and abilities.shows_related_information:
            diagnostic.related_information = [
                types.DiagnosticRelatedInformation(self._location(place, project), place.message)
                for place in problem.related
            ]
        return diagnostic

    def _location(self, place: Related, project: Project) -> types.Location:
        uri, span = place.uri, place.span
        if uri is None or uri == self._document.uri:
            return types.Location(self._document.uri, self.range(span))
        path = path_of(uri)
        opened = project.documents.get(path) if path else None
        text = opened.text if opened else project.text(path).value if path else ""
        lines = opened.lines if opened else LineIndex(text)
        start, end = (types.Position(*lines.position(at, self._encoding)) for at in (span.start, span.end))
        return types.Location(opened.uri if opened else uri, types.Range(start, end))
