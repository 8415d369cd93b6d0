"""Hints of documents whose results take long to read: these are read in the background.

A refresh request to the client follows: until then there are no hints rather than old ones. A client without
refresh support waits for them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import within
from waza_language_server.project.document_scores import PATIENCE_SECONDS, read_scores

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.changes import Changes
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.session import Session

log = logging.getLogger(__name__)


class PendingHints:
    """The documents whose results are being read, or were read and led to a refresh request."""

    def __init__(
        self, client: ClientConnection, session: Session, changes: Changes, refresh: RefreshRequests
    ) -> None:
        self._client = client
        self._session = session
        self._changes = changes
        self._refresh = refresh
        self._states: dict[str, Literal["reading", "read"]] = {}

    def are_read(self, document: Document) -> bool:
        """Return whether the results of a document are read; if not, a refresh request follows."""
        uri = document.uri
        if not self._client.abilities.refreshes_inlay_hints or self._states.get(uri) == "read":
            # This is the request after a refresh: wait for the results, or refresh requests would never end.
            self.forget(uri)
            return True
        if uri in self._states:
            return False
        if within(lambda: read_scores(document, self._session.project), PATIENCE_SECONDS):
            return True
        self._states[uri] = "reading"
        self._client.turns.later(f"scores shown in {uri}", lambda: self._read_on(uri))
        return False

    def forget(self, uri: str) -> None:
        """Forget a document, which was closed or has its hints."""
        self._states.pop(uri, None)

    def _read_on(self, uri: str) -> None:
        try:
            self._changes.read_scores(uri)
        except Exception:
            log.exception("The results of %s could not be read.", uri)
        if self._session.text(uri) is None:
            # It was closed: nothing shows its hints.
            self.forget(uri)
            return
        self._states[uri] = "read"
        self._refresh.ask_for_hints()
