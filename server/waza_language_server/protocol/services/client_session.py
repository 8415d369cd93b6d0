"""The session of a client as its messages begin it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from waza_engine.boundary import note_open_folders
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.services.session import Session

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.text.line_index import Encoding


def begun_session(ls: WazaServer) -> Session:
    """Return a session with the folders and settings of the client."""
    encoding = cast("Encoding", str(ls.server_capabilities.position_encoding or "utf-16"))
    session = Session(client_roots(ls), encoding)
    if ls.options.severity is not None:
        from waza_language_server.analysis.directives import known_severities

        session.use_severities(known_severities(ls.options.severity))
    # Asked for each time: settings change, and what reads them is another then.
    session.project.run_with(lambda suite: dict(ls.run_settings.of(suite)))
    session.on_others = ls.refresh.ask_for_all

    def disk_as_it_is() -> AbstractContextManager[None]:
        # The disk may be another one when the client has opened other folders.
        return session.project.disk.as_it_is()

    ls.turns.set_aside(disk_as_it_is)
    return session


def client_roots(ls: WazaServer) -> list[Path]:
    """Return the folders that the client has open now, those on a disk; boundaries of suites count them."""
    roots = [path_of(folder.uri) for folder in ls.workspace.folders.values()]
    found = [root for root in roots if root is not None]
    note_open_folders(found)
    return found
