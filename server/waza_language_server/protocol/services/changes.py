"""Changes of files, results and settings: what they make outdated here and in the client.

Each change is reported by the handler that learns of it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.live import LiveSessions
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.session import Session


class Changes:
    """Forgets what a change has made outdated, and lets the client ask for it again."""

    def __init__(
        self,
        client: ClientConnection,
        session: Session,
        diagnostics: Diagnostics,
        refresh: RefreshRequests,
        existing_service: Callable[[str], Any],
        live: Callable[[], LiveSessions],
    ) -> None:
        """``existing_service`` returns another service by its name, None if it was not used yet."""
        self._client = client
        self._session = session
        self._diagnostics = diagnostics
        self._refresh = refresh
        self._existing_service = existing_service
        self._live = live

    def scores_changed(self) -> None:
        """Read the results again, and let the client ask for everything that shows them."""
        self._session.project.scores.forget()
        if self._client.grades_live:
            self._live().edited()
        self.costs_changed()
        if (histories := self._existing_service("histories")) is not None:
            histories.forget()
        self._refresh.ask_for_scores()

    def costs_changed(self) -> None:
        """Request estimates and changed tasks again at their next use: their inputs have changed."""
        for name in ("estimates", "affected"):
            if (answers := self._existing_service(name)) is not None:
                answers.forget()

    def rules_changed(self) -> None:
        """Report all problems again, of closed files too, after something they depend on has changed."""
        self.closed_files_changed(None)
        self.problems_changed()

    def problems_changed(self) -> None:
        """Look for the problems of all open documents again."""
        self._diagnostics.all_again()
        self._refresh.ask_for_problems()

    def closed_files_changed(self, paths: Iterable[Path] | None) -> None:
        """Compute the problems of closed files again near some paths, or everywhere."""
        if (problems := self._existing_service("workspace_problems")) is not None:
            problems.changed(paths)

    def files_changed(self, changed: Iterable[Path] | None = None) -> None:
        """Take a new view of the disk, and send refresh requests for everything that depends on it.

        ``changed`` are all files that have changed, None if unknown.
        """
        self._session.files_changed(changed=changed)
        if self._client.grades_live:
            self._live().edited(anyway=True)
        self.costs_changed()
        self._client.turns.later("workspace", self.read_workspace)
        self._diagnostics.all_again()
        # A skill that has changed makes scores stale.
        self._refresh.ask_for_all()

    def read_workspace(self) -> object:
        """Read some files before references are requested; ``UNFINISHED`` if more are left."""
        from waza_language_server.project.disk import LOOKUPS_VALID_SECONDS
        from waza_language_server.project.suite_files import read_some_suites
        from waza_language_server.protocol.turns import MOMENT_SECONDS, UNFINISHED

        with self._session.project.disk.cached_lookups(LOOKUPS_VALID_SECONDS):
            if not read_some_suites(self._session.project, time.monotonic() + MOMENT_SECONDS):
                return UNFINISHED
        if self._session.apply_found_suites():
            self._diagnostics.all_again()
        return None

    def read_scores(self, uri: str) -> None:
        """Read the results of the suites of an open document, so that its scores are known when asked for."""
        from waza_language_server.project.document_scores import read_scores

        with self._client.turns.reading(uri):
            document = self._session.read(uri)
        if document is not None:
            read_scores(document, self._session.project)
