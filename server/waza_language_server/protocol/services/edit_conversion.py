"""Places and changes in several files, in the words of the protocol.

Architecture invariant: an edit is sent only for the text it was made for. A document that the client has
changed meanwhile makes the whole answer outdated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_engine.checkpoint import collect
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.messages import OutdatedError
from waza_language_server.text.label_escaping import message
from waza_language_server.text.line_index import LineIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.protocol.client import ClientAbilities
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.text.span import Span
    from waza_language_server.text.workspace_edit import FileEdit, FileLocation, WorkspaceEdit

DocumentChange = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile


class FileConverter:
    """Converts for one answer; the lines of each file are counted once."""

    def __init__(self, session: Session, abilities: ClientAbilities) -> None:
        self._session = session
        self._abilities = abilities
        self._lines: dict[str, tuple[str, LineIndex]] = {}

    def location(self, place: FileLocation) -> types.Location:
        """Return a place; raises ``OutdatedError``."""
        if place.span.end == 0 or self.shows_others(place):
            # The start of a file, which need not be one that we read.
            return types.Location(place.uri, types.Range(types.Position(0, 0), types.Position(0, 0)))
        return types.Location(place.uri, self._range(place.uri, place.text, place.span))

    def shows_others(self, file: FileLocation | FileEdit) -> bool:
        """Return whether a file that is not ours is open with unsaved text: we have read it from the disk."""
        shown = self._session.text(file.uri)
        return shown not in (None, file.text) and self._session.document(file.uri) is None

    def location_then(self, place: FileLocation) -> types.Location:
        """Return a location in the text that was searched, for lists that are requested again after edits."""
        return types.Location(place.uri, self._range_in(LineIndex(place.text), place.span))

    def workspace_edit(self, edit: WorkspaceEdit) -> types.WorkspaceEdit:
        """Return changes of the very versions they were made for; raises ``OutdatedError``.

        Those of a file that ``shows_others`` are refused in words. Clients that check versions refuse them
        for others. Operations on files must only be asked of a client that can carry them out
        (``creates_files``, ``renames_files``, ``deletes_files``).
        """
        for file in filter(self.shows_others, edit.files):
            why = f"{_name(file.uri)} has unsaved text that is no suite file; save or close it first."
            raise JsonRpcException(message(why), types.LSPErrorCodes.RequestFailed.value)
        if self._abilities.versions_edits:
            found = types.WorkspaceEdit(document_changes=self._document_changes(edit))
        else:
            assert not edit.creations
            assert not edit.renames
            assert not edit.deletions
            changes: dict[str, Sequence[types.TextEdit]] = {}
            for file in edit.files:
                changes[file.uri] = self._text_edits(file)
            found = types.WorkspaceEdit(changes=changes)
        for file in edit.files:
            self._check(file.uri, file.text)
        return found

    def _check(self, uri: str, text: str) -> None:
        if self._session.text(uri) not in (None, text):
            raise OutdatedError

    def _document_changes(self, edit: WorkspaceEdit) -> list[DocumentChange]:
        found: list[DocumentChange] = []
        for file in edit.files:
            identifier = types.OptionalVersionedTextDocumentIdentifier(
                file.uri, self._session.version(file.uri)
            )
            found.append(types.TextDocumentEdit(identifier, [*self._text_edits(file)]))
        start = types.Position(0, 0)
        for new in edit.creations:
            found.append(types.CreateFile(new.uri))
            whole = types.TextEdit(types.Range(start, start), new.text)
            identifier = types.OptionalVersionedTextDocumentIdentifier(new.uri)
            found.append(types.TextDocumentEdit(identifier, [whole]))
        found += [types.RenameFile(rename.uri, rename.new_uri) for rename in edit.renames]
        found += [types.DeleteFile(deletion.uri) for deletion in edit.deletions]
        return found

    def _text_edits(self, file: FileEdit) -> list[types.TextEdit]:
        return collect(
            types.TextEdit(self._range(file.uri, file.text, edit.span), edit.text) for edit in file.edits
        )

    def _range(self, uri: str, text: str, span: Span) -> types.Range:
        known = self._lines.get(uri)
        if known is None or known[0] is not text:
            self._check(uri, text)
            opened = self._session.document(uri)
            known = self._lines[uri] = text, LineIndex(text) if opened is None else opened.lines
        return self._range_in(known[1], span)

    def _range_in(self, lines: LineIndex, span: Span) -> types.Range:
        start, end = (
            types.Position(*lines.position(at, self._session.encoding)) for at in (span.start, span.end)
        )
        return types.Range(start, end)


def _name(uri: str) -> str:
    path = path_of(uri)
    return uri if path is None else path.name
