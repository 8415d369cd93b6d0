"""Files are created, renamed and deleted in the editor: update suites, and refresh features immediately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.renames.deleted_files import deleted_files
from waza_language_server.features.renames.moved_files import moved_files
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.edit_conversion import FileConverter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_language_server.protocol.server import WazaServer


async def will_rename(ls: WazaServer, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    """Return the edits of the paths in suites that name the files and folders, before they are renamed."""
    moves: dict[Path, Path] = {}
    for file in params.files:
        old, new = path_of(file.old_uri), path_of(file.new_uri)
        if old is not None and new is not None:
            moves[old] = new
    change = await ls.diagnostics.of_workspace_at_once(lambda workspace: moved_files(workspace, moves))
    files = FileConverter(ls.session, ls.abilities)
    return files.workspace_edit(change) if change.files else None


async def will_delete(ls: WazaServer, params: types.DeleteFilesParams) -> types.WorkspaceEdit | None:
    """Return the edits that take entries away that name files and folders, before these are deleted."""
    gone = [path for file in params.files if (path := path_of(file.uri)) is not None]
    change = await ls.diagnostics.of_workspace_at_once(lambda workspace: deleted_files(workspace, gone))
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
        ls.refresh.closed_files_changed(None)
        ls.refresh.files_changed()
