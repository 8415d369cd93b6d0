"""Changes of the client's settings: the interpreter that runs the suites, severities, and others.

Architecture invariant: trust is not a setting. It is only read from ``initialize``, since settings may come
from the very workspace that is not trusted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from waza_engine.results.json_values import block_of
from waza_language_server.analysis.directives import known_severities
from waza_language_server.protocol.client import ShownKinds, known_live

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_engine.results.json_values import Block
    from waza_language_server.protocol.server import WazaServer


def did_change(ls: WazaServer, params: types.DidChangeConfigurationParams) -> None:
    """Take the interpreter and the severities from clients that send their settings along."""
    settings: Any = params.settings
    section = block_of(cast("Block", settings if isinstance(settings, dict) else {}), "waza")
    _take_severities(ls, block_of(section, "diagnostics"))
    _take_live(ls, block_of(section, "live"))
    _take_run_options(ls, section)
    _take_shown(ls, section)
    interpreter = section.get("interpreter")
    if isinstance(interpreter, str) and interpreter and ls.trusted:
        ls.options = replace(ls.options, interpreter=interpreter)
        ls.runs.use_interpreter(interpreter)
        ls.plug_in_types.forget()


def _take_live(ls: WazaServer, section: Block) -> None:
    live = known_live(section.get("enable"))
    if live is not None and live != ls.options.live:
        ls.options = replace(ls.options, live=live)
        ls.live.start_again()


def _take_run_options(ls: WazaServer, section: Block) -> None:
    run, by_folder = section.get("run"), section.get("runByFolder")
    if isinstance(run, dict):
        ls.options = replace(ls.options, run=cast("dict[str, object]", run))
    if isinstance(by_folder, dict):
        ls.options = replace(ls.options, run_by_folder=cast("dict[str, object]", by_folder))
    if not isinstance(run, dict) and not isinstance(by_folder, dict):
        return
    ls.run_settings.read()
    ls.changes.costs_changed()
    ls.refresh.ask_for_lenses()
    # Another executor or model may answer now, so verdicts can be stale.
    ls.refresh.ask_for_hints()
    ls.refresh.ask_for_marks()


def _take_shown(ls: WazaServer, section: Block) -> None:
    before = ls.options
    if isinstance(section.get("lens"), dict):
        ls.options = replace(ls.options, lens=ShownKinds.of(section["lens"]))
    if isinstance(section.get("hints"), dict):
        ls.options = replace(ls.options, hints=ShownKinds.of(section["hints"]))
    if ls.options.lens != before.lens:
        ls.refresh.ask_for_lenses()
    if ls.options.hints != before.hints:
        ls.refresh.ask_for_hints()


def _take_severities(ls: WazaServer, section: Block) -> None:
    if "severity" not in section:
        return
    ls.options = replace(ls.options, severity=section["severity"])
    if ls.session.use_severities(known_severities(section["severity"])):
        ls.changes.rules_changed()
