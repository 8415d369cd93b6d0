"""The client introduces itself; the features are loaded while it is busy with itself."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.protocol.client import client_options, resolve_abilities

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer


FIRST = (
    *("syntax.tree", "project.index", "schema.catalog", "protocol.handlers.documents"),
    "protocol.services.schedule",
)
"""The modules that an opened document needs, before the rules."""
BEHIND_RULES = (
    *("features.completion.complete", "protocol.handlers.completion", "protocol.services.engine_answers"),
    *("analysis.text_rules.repairs",),
    *("protocol.handlers.documents", "protocol.handlers.hover"),
    *("syntax.scalar_map", "syntax.edits"),
    *("embedded.regex.explanation", "protocol.handlers.code_lens", "protocol.handlers.scores"),
    *("protocol.handlers.code_action", "protocol.handlers.navigation", "protocol.handlers.renames"),
    *("protocol.handlers.runnables", "features.scores.stale_results"),
)
"""The modules that the next requests need, the soonest first."""


def load(modules: Iterable[str]) -> None:
    """Load modules of the server by their names in it."""
    for module in modules:
        import_module(f"waza_language_server.{module}")
        checkpoint()


def initialize(ls: WazaServer, params: types.InitializeParams) -> None:
    """Resolve the client's capabilities; the rules are not loaded before it has its answer."""
    ls.abilities = resolve_abilities(params.capabilities)
    ls.options = client_options(params.initialization_options)
    ls.abilities = replace(
        ls.abilities, shows_changes=ls.options.shows_changes, opens_trials=ls.options.opens_trials
    )
    if not ls.abilities.knows_code_actions:
        # The kinds of actions may only be sent to clients that support them.
        ls.protocol.keep_options(types.TEXT_DOCUMENT_CODE_ACTION)
    if ls.abilities.pulls_diagnostics:
        ls.register_pull_diagnostics()
    if params.process_id is not None:
        ls.on_client(params.process_id)


def initialized(ls: WazaServer, _params: types.InitializedParams) -> None:
    """Load the features while the client is busy with itself, and register for file changes."""
    ls.turns.later("features", _load_features)
    ls.turns.later("workspace", ls.changes.read_workspace)
    if ls.abilities.watches_files:
        from waza_language_server.protocol.services.watching import watch_files

        ls.in_background(watch_files(ls))


def _load_features() -> None:
    """Load the modules that the first requests need, the soonest first."""
    load(FIRST)
    from waza_language_server.analysis.rule_loading import load_rules

    load_rules()
    load(BEHIND_RULES)
    # Loaded modules stay, so the collector need not look at them.
    gc.freeze()
