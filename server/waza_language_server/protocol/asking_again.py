"""Refresh requests to the client (``workspace/*/refresh``), if it supports them. Callers know what changed.

The first one is sent immediately; all changes in the moment after it lead to one more at its end. Some
editors report the files of a switched branch one by one, and would request everything again after each.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from waza_language_server.protocol.own_requests import MARKS_CHANGED

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.protocol.server import WazaServer

MOMENT_SECONDS = 0.05


def ask_for_all(ls: WazaServer) -> None:
    """Let the client ask again for all that it shows of open documents."""
    ask_for_problems(ls)
    if ls.abilities.refreshes_semantic_tokens and not ls.is_closing:
        _tell(ls, ls.workspace_semantic_tokens_refresh)
    ask_for_scores(ls)


def ask_for_scores(ls: WazaServer) -> None:
    """Let it ask again for all that shows scores."""
    ask_for_hints(ls)
    ask_for_marks(ls)
    ask_for_lenses(ls)


def ask_for_problems(ls: WazaServer) -> None:
    """Let a client that pulls problems ask for them again; to others they are pushed."""
    if ls.abilities.pulls_diagnostics and ls.abilities.refreshes_diagnostics and not ls.is_closing:
        _tell(ls, ls.workspace_diagnostic_refresh)


def ask_for_hints(ls: WazaServer) -> None:
    """Let it ask again for inlay hints."""
    if ls.abilities.refreshes_inlay_hints and not ls.is_closing:
        _tell(ls, ls.workspace_inlay_hint_refresh)


def ask_for_lenses(ls: WazaServer) -> None:
    """Let it ask again for code lenses."""
    if ls.abilities.refreshes_code_lenses and not ls.is_closing:
        _tell(ls, ls.workspace_code_lens_refresh)


def ask_for_marks(ls: WazaServer, *, files: bool = True) -> None:
    """Let a client that draws marks ask for them again; without ``files`` for those of lines alone."""
    if ls.options.draws_marks and not ls.is_closing:
        ls.protocol.notify(MARKS_CHANGED, {"files": files})


def _tell(ls: WazaServer, refresh: Callable[[None], object]) -> None:
    name = refresh.__name__
    if name in ls.just_told:
        ls.just_told[name] = True
        return
    ls.just_told[name] = False
    refresh(None)
    asyncio.get_running_loop().call_later(MOMENT_SECONDS, partial(_moment_over, ls, refresh))


def _moment_over(ls: WazaServer, refresh: Callable[[None], object]) -> None:
    if ls.just_told.pop(refresh.__name__) and not ls.is_closing:
        _tell(ls, refresh)
