"""The files of a client: opened in it, and changed as the protocol says, and back."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types

from tests.protocol.editor import Editor, applied, editing
from waza_language_server.project.uris import path_of
from waza_language_server.text.line_index import LineIndex


@asynccontextmanager
async def opened(path: Path, *name: Any, **given: Any) -> AsyncGenerator[tuple[Editor, str]]:
    """Open a file in an editor with its folder, made as ``editing`` does; the editor and the file's URI."""
    async with editing(path.parent, *name, **given) as editor:
        yield editor, editor.open(path)


@dataclass(frozen=True)
class Workspace:
    """A folder on the disk; positions count in the encoding."""

    folder: Path
    encoding: str = "utf-16"

    def contents(self) -> dict[str, bytes]:
        """Return every file by its path from the folder."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}

    def carry_out(self, change: types.WorkspaceEdit) -> types.WorkspaceEdit:
        """Carry out a change in order and return its inverse."""
        changes = list(change.document_changes or ())
        for uri, edits in (change.changes or {}).items():
            identifier = types.OptionalVersionedTextDocumentIdentifier(uri)
            changes.append(types.TextDocumentEdit(identifier, [*edits]))
        inverse = [self._carry_out(each) for each in changes]
        return types.WorkspaceEdit(document_changes=inverse[::-1])

    def _carry_out(
        self, change: types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile
    ) -> types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile:
        match change:
            case types.TextDocumentEdit():
                edits = [edit for edit in change.edits if isinstance(edit, types.TextEdit)]
                inverse = self._edit(_path(change.text_document.uri), edits)
                identifier = types.OptionalVersionedTextDocumentIdentifier(change.text_document.uri)
                return types.TextDocumentEdit(identifier, [*inverse])
            case types.CreateFile():
                path = _path(change.uri)
                assert not path.exists()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b"")
                return types.DeleteFile(change.uri)
            case types.RenameFile():
                assert not _path(change.new_uri).exists()
                _path(change.old_uri).rename(_path(change.new_uri))
                return types.RenameFile(change.new_uri, change.old_uri)
            case types.DeleteFile():
                _path(change.uri).unlink()
                return types.CreateFile(change.uri)

    def _edit(self, path: Path, edits: Sequence[types.TextEdit]) -> list[types.TextEdit]:
        """Apply edits to a file and return those that take them back."""
        old = path.read_bytes().decode()
        new = applied(old, edits, self.encoding)
        path.write_bytes(new.encode())
        before, after = LineIndex(old), LineIndex(new)
        inverse: list[types.TextEdit] = []
        shift = 0
        for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character)):
            start, end = (
                before.offset(at.line, at.character, self.encoding)  # type: ignore[arg-type]
                for at in (edit.range.start, edit.range.end)
            )
            places = (start + shift, start + shift + len(edit.new_text))
            range_ = types.Range(
                *(types.Position(*after.position(at, self.encoding)) for at in places)  # type: ignore[arg-type]
            )
            inverse.append(types.TextEdit(range_, old[start:end]))
            shift += len(edit.new_text) - (end - start)
        return inverse


def _path(uri: str) -> Path:
    path = path_of(uri)
    assert path is not None
    return path
