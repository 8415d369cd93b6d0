"""Changes of the client's settings: the interpreter that runs the suites, severities, and others.

Architecture invariant: trust is not a setting. It is only read from ``initialize``, since settings may come
from the very workspace that is not trusted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from waza_language_server.analysis.directives import known_severities
from waza_language_server.protocol.client import ShownKinds, known_live

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.protocol.server import WazaServer


def did_change(ls: WazaServer, params: types.DidChangeConfigurationParams) -> None:
    """Take the interpreter and the severities from clients that send their settings along."""
    settings: Any = params.settings
    section: Any = cast("dict[str, Any]", settings).get("waza") if isinstance(settings, dict) else None
    if not isinstance(section, dict):
        return
    _take_severities(ls, cast("dict[str, Any]", section).get("diagnostics"))
    _take_live(ls, cast("dict[str, Any]", section).get("live"))
    _take_run_options(ls, cast("dict[str, Any]", section))
    _take_shown(ls, cast("dict[str, Any]", section))
    interpreter: Any = cast("dict[str, Any]", section).get("interpreter")
    if isinstance(interpreter, str) and interpreter and ls.trusted:
        ls.options = replace(ls.options, interpreter=interpreter)
        ls.runs.use_interpreter(interpreter)
        ls.plug_in_types.forget()


def _take_live(ls: WazaServer, section: object) -> None:
    live = known_live(cast("dict[str, object]", section).get("enable")) if isinstance(section, dict) else None
    if live is not None and live != ls.options.live:
        ls.options = replace(ls.options, live=live)
        ls.live.start_again()


def _take_run_options(ls: WazaServer, section: dict[str, Any]) -> None:
    run, by_folder = section.get("run"), section.get("runByFolder")
    if isinstance(run, dict):
        ls.options = replace(ls.options, run=cast("dict[str, object]", run))
    if isinstance(by_folder, dict):
        ls.options = replace(ls.options, run_by_folder=cast("dict[str, object]", by_folder))
    if not isinstance(run, dict) and not isinstance(by_folder, dict):
        return
    ls.run_settings.read()
    ls.refresh.costs_changed()
    ls.refresh.ask_for_lenses()
    # Another executor or model may answer now, so verdicts can be stale.
    ls.refresh.ask_for_hints()
    ls.refresh.ask_for_marks()


def _take_shown(ls: WazaServer, section: dict[str, Any]) -> None:
    before = ls.options
    if isinstance(section.get("lens"), dict):
        ls.options = replace(ls.options, lens=ShownKinds.of(section["lens"]))
    if isinstance(section.get("hints"), dict):
        ls.options = replace(ls.options, hints=ShownKinds.of(section["hints"]))
    if ls.options.lens != before.lens:
        ls.refresh.ask_for_lenses()
    if ls.options.hints != before.hints:
        ls.refresh.ask_for_hints()


def _take_severities(ls: WazaServer, section: object) -> None:
    if not isinstance(section, dict) or "severity" not in section:
        return
    ls.options = replace(ls.options, severity=cast("dict[str, object]", section)["severity"])
    severities = known_severities(cast("dict[str, object]", section)["severity"])
    if ls.session.use_severities(severities):
        ls.refresh.rules_changed()
