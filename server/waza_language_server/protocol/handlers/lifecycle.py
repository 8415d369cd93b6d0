"""The client introduces itself."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.protocol.capabilities import resolve_abilities
from waza_language_server.protocol.client_options import client_options
from waza_language_server.protocol.rehearsal import COMPLETION_REHEARSED, rehearse_completion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_engine.steps import Steps
    from waza_language_server.protocol.server import WazaServer

_LOADED_FIRST = (
    *("syntax.tree", "project.index", "schema.catalog", "protocol.handlers.documents"),
    "protocol.services.schedule",
)
_LOADED_BEHIND_RULES = (
    *("protocol.handlers.diagnostics", "protocol.handlers.hover"),
    *("text.scalar_map", "syntax.edits", "analysis.schema_rules.wrong_values", "embedded.python.at_cursor"),
    *("embedded.regex.explanation", "protocol.handlers.code_lens", "protocol.handlers.inlay_hint"),
    *("protocol.handlers.code_action", "protocol.handlers.navigation", "protocol.handlers.rename"),
    *("protocol.handlers.runnables", "protocol.handlers.suite_tree"),
)


def initialize(ls: WazaServer, params: types.InitializeParams) -> None:
    """Learn what the client can do; nothing heavy is loaded before it has its answer."""
    ls.abilities = resolve_abilities(params.capabilities)
    ls.options = client_options(params.initialization_options)
    ls.abilities = replace(
        ls.abilities, shows_changes=ls.options.shows_changes, opens_trials=ls.options.opens_trials
    )
    if ls.abilities.pulls_diagnostics:
        ls.register_pull_diagnostics()
    if params.process_id is not None:
        ls.on_client(params.process_id)


def initialized(ls: WazaServer, _params: types.InitializedParams) -> None:
    """Load the features while the client is busy with itself, and ask to be told when files change."""
    ls.idle.add(COMPLETION_REHEARSED, lambda: rehearse_completion(ls))
    ls.idle.add("features", lambda: _load_features(ls))
    ls.idle.add("workspace", lambda: _read_workspace(ls))
    if ls.abilities.watches_files:
        from waza_language_server.protocol.handlers.watched_files import watch_files

        ls.in_background(watch_files(ls))


def _read_workspace(ls: WazaServer) -> Steps[None]:
    from waza_language_server.protocol.handlers.watched_files import read_workspace

    yield
    yield from read_workspace(ls)


def _load_features(ls: WazaServer) -> Steps[None]:
    """Load what the first requests need, the soonest first, with many pauses."""
    yield from _load(_LOADED_FIRST)
    from waza_language_server.analysis.loading import load_rules

    yield from load_rules()
    yield from _load(_LOADED_BEHIND_RULES)
    ls.on_loaded()


def _load(modules: Iterable[str]) -> Steps[None]:
    for module in modules:
        import_module(f"waza_language_server.{module}")
        yield
