"""Requests to the client to ask again for what it shows (``workspace/*/refresh``).

The first request is sent immediately; all changes in the moment after it lead to one more at its end. Some
editors report the files of a switched branch one by one, and would request everything again after each.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from waza_language_server.protocol.own_requests import MARKS_CHANGED

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.protocol.connection import ClientConnection

MOMENT_SECONDS = 0.05


class RefreshRequests:
    """The refresh requests to one client."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self._sent: dict[str, bool] = {}
        """The requests of the last moment, and whether something has changed since each."""

    def ask_for_all(self) -> None:
        """Let the client ask again for all that it shows of open documents."""
        self.ask_for_problems()
        if self._client.abilities.refreshes_semantic_tokens:
            self._send(self._client.workspace_semantic_tokens_refresh)
        self.ask_for_scores()

    def ask_for_scores(self) -> None:
        """Let it ask again for all that shows scores."""
        self.ask_for_hints()
        self.ask_for_marks()
        self.ask_for_lenses()

    def ask_for_problems(self) -> None:
        """Let a client that pulls problems ask for them again; to others they are pushed."""
        if self._client.abilities.pulls_diagnostics and self._client.abilities.refreshes_diagnostics:
            self._send(self._client.workspace_diagnostic_refresh)

    def ask_for_hints(self) -> None:
        """Let it ask again for inlay hints."""
        if self._client.abilities.refreshes_inlay_hints:
            self._send(self._client.workspace_inlay_hint_refresh)

    def ask_for_lenses(self) -> None:
        """Let it ask again for code lenses."""
        if self._client.abilities.refreshes_code_lenses:
            self._send(self._client.workspace_code_lens_refresh)

    def ask_for_marks(self, *, files: bool = True) -> None:
        """Let a client that draws marks ask for them again; without ``files`` for those of lines alone."""
        if self._client.options.draws_marks and not self._client.is_closing:
            self._client.protocol.notify(MARKS_CHANGED, {"files": files})

    def _send(self, request: Callable[[None], object]) -> None:
        name = request.__name__
        if self._client.is_closing:
            return
        if name in self._sent:
            self._sent[name] = True
            return
        self._sent[name] = False
        request(None)
        asyncio.get_running_loop().call_later(MOMENT_SECONDS, self._end_moment, request)

    def _end_moment(self, request: Callable[[None], object]) -> None:
        if self._sent.pop(request.__name__):
            self._send(request)
