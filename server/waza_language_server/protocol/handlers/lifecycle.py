"""The client introduces itself."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.protocol.capabilities import resolve_abilities
from waza_language_server.protocol.client_options import client_options
from waza_language_server.protocol.loading import BEHIND_RULES, FIRST, load

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer


def initialize(ls: WazaServer, params: types.InitializeParams) -> None:
    """Resolve the client's capabilities; the rules are not loaded before it has its answer."""
    ls.abilities = resolve_abilities(params.capabilities)
    ls.options = client_options(params.initialization_options)
    ls.abilities = replace(
        ls.abilities, shows_changes=ls.options.shows_changes, opens_trials=ls.options.opens_trials
    )
    if not ls.abilities.knows_code_actions:
        ls.keep_kinds_of_actions()
    if ls.abilities.pulls_diagnostics:
        ls.register_pull_diagnostics()
    if params.process_id is not None:
        ls.on_client(params.process_id)


def initialized(ls: WazaServer, _params: types.InitializedParams) -> None:
    """Load the features while the client is busy with itself, and register for file changes."""
    ls.turns.later("features", _load_features)
    ls.turns.later("workspace", lambda: _read_workspace(ls))
    if ls.abilities.watches_files:
        from waza_language_server.protocol.handlers.watched_files import watch_files

        ls.in_background(watch_files(ls))


def _read_workspace(ls: WazaServer) -> object:
    from waza_language_server.protocol.handlers.watched_files import read_workspace

    checkpoint()
    return read_workspace(ls)


def _load_features() -> None:
    """Load the modules that the first requests need, the soonest first."""
    load(FIRST)
    from waza_language_server.analysis.loading import load_rules

    load_rules()
    load(BEHIND_RULES)
    # Loaded modules stay, so the collector need not look at them.
    gc.freeze()
