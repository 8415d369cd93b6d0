"""When diagnostics are computed: at once after an edit, between messages, for the newest text only.

There is no debounce. An edit drops the work on the text before it. The edited document comes first; the other
open documents, which may refer to it, follow when the typing pauses.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from waza_language_server.analysis.diagnose import diagnose

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.protocol.session import Session

NEIGHBOURS_AFTER_SECONDS = 0.25

log = logging.getLogger(__name__)


class Diagnostics:
    """The problems of the open documents: computed once a snapshot, for pushing, pulling and code actions."""

    def __init__(
        self, session: Session, publish: Callable[[str, Document | None, tuple[Problem, ...]], None] | None
    ) -> None:
        """``publish`` sends the problems of a document to the client; None instead of a document clears them.

        It is None for a client that asks for them itself: diagnostics are pushed or pulled, never both.
        """
        self._session = session
        self._publish = publish
        self._known: dict[str, tuple[Document, Project, tuple[Problem, ...]]] = {}
        self._published: set[str] = set()
        self._work: dict[str, asyncio.Task[None]] = {}
        self._neighbours: asyncio.TimerHandle | None = None

    def problems(self, document: Document) -> tuple[Problem, ...]:
        """Return the problems of a snapshot with what is known of the project now."""
        project = self._session.project
        known = self._known.get(document.uri)
        if known is not None and known[0] is document and known[1] is project:
            return known[2]
        problems = diagnose(document, project)
        self._known[document.uri] = (document, project, problems)
        return problems

    def edited(self, uri: str) -> None:
        """Publish the problems of this document soon, and later those of the others."""
        if self._publish is None:
            return
        self._restart(uri)
        if self._neighbours is not None:
            self._neighbours.cancel()
        loop = asyncio.get_running_loop()
        self._neighbours = loop.call_later(NEIGHBOURS_AFTER_SECONDS, self._refresh_others, uri)

    def all_again(self) -> None:
        """Publish the problems of all open documents again, after something outside them has changed."""
        if self._publish is not None:
            self._refresh_others(None)

    def closed(self, uri: str) -> None:
        """Forget a document and clear what was published for it."""
        self._known.pop(uri, None)
        work = self._work.pop(uri, None)
        if work is not None:
            work.cancel()
        self._clear(uri)

    def _refresh_others(self, edited: str | None) -> None:
        for document in self._session.documents:
            if document.uri != edited:
                self._restart(document.uri)
        for uri in tuple(self._published):
            if self._session.document(uri) is None:
                self._clear(uri)

    def _restart(self, uri: str) -> None:
        work = self._work.pop(uri, None)
        if work is not None:
            work.cancel()
        task = asyncio.get_running_loop().create_task(self._compute_and_publish(uri))
        self._work[uri] = task
        task.add_done_callback(_log_failure)

    async def _compute_and_publish(self, uri: str) -> None:
        # Messages that wait are taken first: there may be a newer text among them.
        await asyncio.sleep(0)
        document = self._session.document(uri)
        if document is None:
            self._clear(uri)
            return
        known = self._known.get(uri)
        problems = self.problems(document)
        if known is not None and known[0] is document and known[2] == problems and uri in self._published:
            return
        assert self._publish is not None
        self._publish(uri, document, problems)
        self._published.add(uri)

    def _clear(self, uri: str) -> None:
        if uri in self._published and self._publish is not None:
            self._published.discard(uri)
            self._publish(uri, None, ())


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("The diagnostics of a document could not be computed.", exc_info=error)
