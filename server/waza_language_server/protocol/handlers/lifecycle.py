"""The client introduces itself."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.protocol.capabilities import resolve_abilities
from waza_language_server.protocol.client_options import client_options

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

LOAD_AFTER_SECONDS = 0.5


def initialize(ls: WazaServer, params: types.InitializeParams) -> None:
    """Learn what the client can do; nothing heavy is loaded before it has its answer."""
    ls.abilities = resolve_abilities(params.capabilities)
    ls.options = client_options(params.initialization_options)
    if ls.abilities.pulls_diagnostics:
        ls.register_pull_diagnostics()
    if params.process_id is not None:
        ls.on_client(params.process_id)


async def initialized(ls: WazaServer, _params: types.InitializedParams) -> None:
    """Ask to be told when files change, and load the features once the first documents were looked at."""
    if ls.abilities.watches_files:
        from waza_language_server.protocol.handlers.watched_files import watch_files

        await watch_files(ls)
    await asyncio.sleep(LOAD_AFTER_SECONDS)
    for feature in ("completion", "hover", "code_action", "code_lens", "inlay_hint"):
        import_module(f"waza_language_server.protocol.handlers.{feature}")
        await asyncio.sleep(0)
