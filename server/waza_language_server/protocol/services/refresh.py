"""Changes: what they make outdated here, and refresh requests to the client (``workspace/*/refresh``).

The first request is sent immediately; all changes in the moment after it lead to one more at its end. Some
editors report the files of a switched branch one by one, and would request everything again after each.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from waza_language_server.protocol.own_requests import MARKS_CHANGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from waza_language_server.protocol.server import WazaServer

MOMENT_SECONDS = 0.05


class Refresh:
    """The changes of one session, each reported by the handler that learns of it."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._sent: dict[str, bool] = {}
        """The requests of the last moment, and whether something has changed since each."""

    def scores_changed(self) -> None:
        """Read the results again, and let the client ask for everything that shows them."""
        self._ls.session.project.scores.forget()
        if self._ls.judges_live:
            self._ls.live.edited()
        self.costs_changed()
        if (histories := self._ls.made("histories")) is not None:
            histories.forget()
        self.ask_for_scores()

    def costs_changed(self) -> None:
        """Request estimates and changed tasks again at their next use: their inputs have changed."""
        for name in ("estimates", "affected"):
            if (answers := self._ls.made(name)) is not None:
                answers.forget()

    def rules_changed(self) -> None:
        """Report all problems again, of closed files too, after something they depend on has changed."""
        self.closed_files_changed(None)
        self.problems_changed()

    def problems_changed(self) -> None:
        """Look for the problems of all open documents again."""
        self._ls.diagnostics.all_again()
        self.ask_for_problems()

    def closed_files_changed(self, paths: Iterable[Path] | None) -> None:
        """Compute the problems of closed files again near some paths, or everywhere."""
        if (problems := self._ls.made("workspace_problems")) is not None:
            problems.changed(paths)

    def files_changed(self, changed: Iterable[Path] | None = None) -> None:
        """Take a new view of the disk, and send refresh requests for everything that depends on it.

        ``changed`` are all files that have changed, None if unknown.
        """
        self._ls.session.files_changed(changed=changed)
        if self._ls.judges_live:
            self._ls.live.edited(anyway=True)
        self.costs_changed()
        self._ls.turns.later("workspace", self.read_workspace)
        self._ls.diagnostics.all_again()
        # A skill that has changed makes scores stale.
        self.ask_for_all()

    def read_workspace(self) -> object:
        """Read some files before references are requested; ``UNFINISHED`` if more are left."""
        from waza_language_server.project.disk import LOOKUPS_VALID_SECONDS
        from waza_language_server.project.suite_files import read_some_suites
        from waza_language_server.protocol.turns import MOMENT_SECONDS, UNFINISHED

        with self._ls.session.project.disk.cached_lookups(LOOKUPS_VALID_SECONDS):
            if not read_some_suites(self._ls.session.project, time.monotonic() + MOMENT_SECONDS):
                return UNFINISHED
        if self._ls.session.take_suites_found():
            self._ls.diagnostics.all_again()
        return None

    def read_scores(self, uri: str) -> None:
        """Read the results of the suites of an open document, so that its scores are known when asked for."""
        from waza_language_server.project.document_scores import read_scores

        with self._ls.turns.reading(uri):
            document = self._ls.session.read(uri)
        if document is not None:
            read_scores(document, self._ls.session.project)

    def ask_for_all(self) -> None:
        """Let the client ask again for all that it shows of open documents."""
        self.ask_for_problems()
        if self._ls.abilities.refreshes_semantic_tokens:
            self._send(self._ls.workspace_semantic_tokens_refresh)
        self.ask_for_scores()

    def ask_for_scores(self) -> None:
        """Let it ask again for all that shows scores."""
        self.ask_for_hints()
        self.ask_for_marks()
        self.ask_for_lenses()

    def ask_for_problems(self) -> None:
        """Let a client that pulls problems ask for them again; to others they are pushed."""
        if self._ls.abilities.pulls_diagnostics and self._ls.abilities.refreshes_diagnostics:
            self._send(self._ls.workspace_diagnostic_refresh)

    def ask_for_hints(self) -> None:
        """Let it ask again for inlay hints."""
        if self._ls.abilities.refreshes_inlay_hints:
            self._send(self._ls.workspace_inlay_hint_refresh)

    def ask_for_lenses(self) -> None:
        """Let it ask again for code lenses."""
        if self._ls.abilities.refreshes_code_lenses:
            self._send(self._ls.workspace_code_lens_refresh)

    def ask_for_marks(self, *, files: bool = True) -> None:
        """Let a client that draws marks ask for them again; without ``files`` for those of lines alone."""
        if self._ls.options.draws_marks and not self._ls.is_closing:
            self._ls.protocol.notify(MARKS_CHANGED, {"files": files})

    def _send(self, request: Callable[[None], object]) -> None:
        name = request.__name__
        if self._ls.is_closing:
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
