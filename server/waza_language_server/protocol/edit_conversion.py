"""Places and changes in several files, in the words of the protocol.

Architecture invariant: an edit is sent only for the text it was made for. A document that the client has
changed meanwhile makes the whole answer outdated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.protocol.messages import OutdatedError
from waza_language_server.text.line_index import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_language_server.protocol.capabilities import ClientAbilities
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.text.span import Span
    from waza_language_server.text.workspace_edit import FileEdit, FilePlace, WorkspaceEdit

DocumentChange = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile


class FileConverter:
    """Converts for one answer; the lines of each file are counted once."""

    def __init__(self, session: Session, abilities: ClientAbilities) -> None:
        self._session = session
        self._abilities = abilities
        self._lines: dict[str, tuple[str, LineIndex]] = {}

    def location(self, place: FilePlace) -> types.Location:
        """Return a place; raises ``OutdatedError``."""
        if place.span.end == 0:
            # The start of a file, which need not be one that we read.
            return types.Location(place.uri, types.Range(types.Position(0, 0), types.Position(0, 0)))
        return types.Location(place.uri, self._range(place.uri, place.text, place.span))

    def workspace_edit(self, edit: WorkspaceEdit) -> types.WorkspaceEdit:
        """Return changes of the very versions they were made for; raises ``OutdatedError``.

        Clients that check versions refuse them for others. Operations on files must only be asked of a
        client that can carry them out (``creates_files``, ``renames_files``, ``deletes_files``).
        """
        if self._abilities.versions_edits:
            return types.WorkspaceEdit(document_changes=[*self._document_changes(edit)])
        assert not edit.creations
        assert not edit.renames
        assert not edit.deletions
        return types.WorkspaceEdit(changes={file.uri: self._text_edits(file) for file in edit.files})

    def _document_changes(self, edit: WorkspaceEdit) -> Iterator[DocumentChange]:
        for file in edit.files:
            identifier = types.OptionalVersionedTextDocumentIdentifier(
                file.uri, self._session.version(file.uri)
            )
            yield types.TextDocumentEdit(identifier, [*self._text_edits(file)])
        start = types.Position(0, 0)
        for new in edit.creations:
            yield types.CreateFile(new.uri)
            whole = types.TextEdit(types.Range(start, start), new.text)
            yield types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(new.uri), [whole])
        for rename in edit.renames:
            yield types.RenameFile(rename.uri, rename.new_uri)
        for deletion in edit.deletions:
            yield types.DeleteFile(deletion.uri)

    def _text_edits(self, file: FileEdit) -> list[types.TextEdit]:
        return [types.TextEdit(self._range(file.uri, file.text, edit.span), edit.text) for edit in file.edits]

    def _range(self, uri: str, text: str, span: Span) -> types.Range:
        known = self._lines.get(uri)
        if known is None or known[0] is not text:
            if self._session.text(uri) not in (None, text):
                raise OutdatedError
            known = self._lines[uri] = text, LineIndex(text)
        start, end = (
            types.Position(*known[1].position(at, self._session.encoding)) for at in (span.start, span.end)
        )
        return types.Range(start, end)
