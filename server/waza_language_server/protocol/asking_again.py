"""What the client is told to ask for again, where it can. That something is new is known to who calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.protocol.own_requests import MARKS_CHANGED

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer


def ask_for_all(ls: WazaServer) -> None:
    """Let the client ask again for all that it shows of open documents."""
    ask_for_problems(ls)
    if ls.abilities.refreshes_semantic_tokens and not ls.is_closing:
        ls.workspace_semantic_tokens_refresh(None)
    ask_for_scores(ls)


def ask_for_scores(ls: WazaServer) -> None:
    """Let it ask again for all that shows scores."""
    ask_for_hints(ls)
    ask_for_marks(ls)
    ask_for_lenses(ls)


def ask_for_problems(ls: WazaServer) -> None:
    """Let a client that pulls problems ask for them again; to others they are pushed."""
    if ls.abilities.pulls_diagnostics and ls.abilities.refreshes_diagnostics and not ls.is_closing:
        ls.workspace_diagnostic_refresh(None)


def ask_for_hints(ls: WazaServer) -> None:
    """Let it ask again for inlay hints."""
    if ls.abilities.refreshes_inlay_hints and not ls.is_closing:
        ls.workspace_inlay_hint_refresh(None)


def ask_for_lenses(ls: WazaServer) -> None:
    """Let it ask again for code lenses."""
    if ls.abilities.refreshes_code_lenses and not ls.is_closing:
        ls.workspace_code_lens_refresh(None)


def ask_for_marks(ls: WazaServer, *, files: bool = True) -> None:
    """Let a client that draws marks ask for them again; without ``files`` for those of lines alone."""
    if ls.options.draws_marks and not ls.is_closing:
        ls.protocol.notify(MARKS_CHANGED, {"files": files})
