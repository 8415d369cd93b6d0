"""``textDocument/rename`` of the symbol at a position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_language_server.features.renames.rename import RenameError, renamable
from waza_language_server.features.renames.rename import rename as renamed
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.edit_conversion import FileConverter
from waza_language_server.text.labels import message

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


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
            with workspace.project.disk.held_still():
                found = renamed(document, workspace, offset, params.new_name, renames_files=moves)
        except RenameError as error:
            code = types.LSPErrorCodes.RequestFailed.value
            raise JsonRpcException(message(str(error)), code) from None
        if found is None:
            return None
        if found.kept_file is not None:
            ls.tell(types.MessageType.Info, f"The file of the task keeps its name, {found.kept_file.name}.")
        return FileConverter(ls.session, ls.abilities).workspace_edit(found.change)

    return ls.diagnostics.answer(params.text_document.uri, find)
