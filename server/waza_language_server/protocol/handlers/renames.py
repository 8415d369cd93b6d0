"""Names, files and folders are renamed; files are created and deleted: update suites, refresh features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_language_server.features.renames.moved_files import deleted_files, moved_files
from waza_language_server.features.renames.rename import RenameError, renamable
from waza_language_server.features.renames.rename import rename as renamed
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.protocol.services.edit_conversion import FileConverter
from waza_language_server.text.label_escaping import message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


async def will_rename(ls: WazaServer, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    """Return the edits of the paths in suites that name the files and folders, before they are renamed."""
    moves: dict[Path, Path] = {}
    for file in params.files:
        old, new = path_of(file.old_uri), path_of(file.new_uri)
        if old is not None and new is not None:
            moves[old] = new
    change = await ls.diagnostics.answer_with_cached_lookups(lambda workspace: moved_files(workspace, moves))
    files = FileConverter(ls.session, ls.abilities)
    return files.workspace_edit(change) if change.files else None


async def will_delete(ls: WazaServer, params: types.DeleteFilesParams) -> types.WorkspaceEdit | None:
    """Return the edits that take entries away that name files and folders, before these are deleted."""
    gone = [path for file in params.files if (path := path_of(file.uri)) is not None]
    change = await ls.diagnostics.answer_with_cached_lookups(lambda workspace: deleted_files(workspace, gone))
    files = FileConverter(ls.session, ls.abilities)
    return files.workspace_edit(change) if change.files else None


def did_create(ls: WazaServer, params: types.CreateFilesParams) -> None:
    """Diagnose the files again that name the created ones."""
    _look_again(ls, (file.uri for file in params.files))


def did_rename(ls: WazaServer, params: types.RenameFilesParams) -> None:
    """Diagnose the files again that name the renamed ones, by the old name or the new one."""
    _look_again(ls, (uri for file in params.files for uri in (file.old_uri, file.new_uri)))


def did_delete(ls: WazaServer, params: types.DeleteFilesParams) -> None:
    """Diagnose the files again that name the deleted ones."""
    _look_again(ls, (file.uri for file in params.files))


def _look_again(ls: WazaServer, uris: Iterable[str]) -> None:
    """Do so without waiting for the client to watch files, which not every client does."""
    paths = [path for uri in uris if (path := path_of(uri)) is not None]
    if paths:
        # The files in a deleted folder are gone too, and any file may have named them.
        ls.changes.closed_files_changed(None)
        ls.changes.files_changed()


def prepare(ls: WazaServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Return what would be renamed at a position; nothing where nothing can."""

    def find(document: Document) -> types.PrepareRenamePlaceholder | None:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = renamable(document, ls.session.workspace, convert.offset(params.position))
        if found is None:
            return None
        return types.PrepareRenamePlaceholder(convert.range(found.span), found.name)

    return ls.diagnostics.answer(params.text_document.uri, find)


def rename(ls: WazaServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Return the edit that renames the symbol at a position in all files."""

    def find(document: Document) -> types.WorkspaceEdit | None:
        offset = Converter(document, ls.session.encoding, ls.abilities).offset(params.position)
        try:
            workspace, moves = ls.session.workspace, ls.abilities.renames_files
            with workspace.project.disk.cached_lookups():
                found = renamed(document, workspace, offset, params.new_name, renames_files=moves)
        except RenameError as error:
            code = types.LSPErrorCodes.RequestFailed.value
            raise JsonRpcException(message(str(error)), code) from None
        if found is None:
            return None
        if found.kept_file is not None:
            ls.show_message(
                types.MessageType.Info, f"The file of the task keeps its name, {found.kept_file.name}."
            )
        return FileConverter(ls.session, ls.abilities).workspace_edit(found.change)

    return ls.diagnostics.answer(params.text_document.uri, find)
