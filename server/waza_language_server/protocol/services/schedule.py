"""Schedule diagnostics: right after an edit, for the newest text, with the requests answered in between.

There is no debounce. An edit makes the work on the text before it void (see ``turns``). The edited document
comes first; the others, which may refer to it, follow when typing stops.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from waza_engine.checkpoint import Superseded
from waza_language_server.project.claim import is_blank_text
from waza_language_server.protocol.messages import CancelledRequestError, OutdatedError
from waza_language_server.protocol.turns import MOST_RESTARTS, Turns
from waza_language_server.schema.catalog import VALLY_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.services.session import Session

    Publish = Callable[[str, Document | None, tuple[Problem, ...]], None]

NEIGHBOURS_AFTER_SECONDS = 0.25
Value = TypeVar("Value")

log = logging.getLogger(__name__)


class Diagnostics:
    """The problems of the open documents: computed once a snapshot, for pushing, pulling and code actions."""

    def __init__(
        self,
        session: Session,
        publish: Publish | None,
        on_unknown_type: Callable[[], None] = lambda: None,
        turns: Turns | None = None,
    ) -> None:
        """``publish`` sends the problems of a document to the client; None instead of a document clears them.

        It is None for a client that asks for them itself: diagnostics are pushed or pulled, never both.
        ``on_unknown_type`` is called when a document names a grader type that the catalog does not know.
        """
        self._session = session
        self._publish = publish
        self._on_unknown_type = on_unknown_type
        self._turns = turns or Turns()
        self._known: dict[str, tuple[Document, Workspace, tuple[Problem, ...]]] = {}
        self._published: dict[str, tuple[Document, tuple[Problem, ...]]] = {}
        """The problems that the client shows."""
        self._work: dict[str, asyncio.Task[None]] = {}
        self._neighbours: asyncio.TimerHandle | None = None

    async def newest_problems(self, uri: str) -> tuple[Document, tuple[Problem, ...]] | None:
        """Return the newest snapshot of a document and its problems, None when it is not ours.

        Problems of unfinished input are left out until it is saved or another place is edited.
        """
        return await self._turns.done(lambda: self._newest(uri))

    def answer(
        self,
        uri: str,
        answer: Callable[[Document], Value | None],
        of_skill: Callable[[SkillFile], Value | None] | None = None,
    ) -> Value | None:
        """Answer a request about the text that a document has now; None when it is not ours.

        ``of_skill`` answers for a ``SKILL.md``. Raises ``OutdatedError`` if it takes long and a newer text
        comes.
        """
        try:
            with self._turns.answering(uri):
                skill = None if of_skill is None else self._session.skill(uri)
                if skill is not None and of_skill is not None:
                    self._session.read_all()
                    return of_skill(skill)
                document = self._session.read(uri)
                return None if document is None else answer(document)
        except Superseded:
            if self._turns.is_cancelled():
                raise CancelledRequestError from None
            raise OutdatedError from None

    async def problems_of(self, document: Document) -> tuple[Problem, ...] | None:
        """Return the problems of a snapshot, None if a newer text comes meanwhile."""
        return await self.on_snapshot(document, lambda: self._problems(document))

    async def on_snapshot(self, document: Document, work: Callable[[], Value]) -> Value | None:
        """Return the result of work on a snapshot; None, the work dropped, when a newer text comes."""
        if not self._session.is_current(document):
            return None
        return await self._turns.done(work, lambda: self._session.is_current(document))

    async def compute(self, work: Callable[[], Value], *, most_restarts: float = MOST_RESTARTS) -> Value:
        """Return the result of work on the whole workspace."""
        found = await self._turns.done(lambda: (work(),), most_restarts=most_restarts)
        assert found is not None
        return found[0]

    async def answer_for_workspace(self, answer: Callable[[Workspace], Value]) -> Value:
        """Answer a request about all files; open ones count as they are, also those just opened."""

        def work() -> Value:
            self._session.read_all()
            return answer(self._session.workspace)

        return await self.compute(work)

    async def answer_with_cached_lookups(self, answer: Callable[[Workspace], Value]) -> Value:
        """Do the same, and look at each folder once, for what asks about the same ones many times."""

        def still(workspace: Workspace) -> Value:
            with workspace.project.disk.cached_lookups():
                return answer(workspace)

        return await self.answer_for_workspace(still)

    def _newest(self, uri: str) -> tuple[Document, tuple[Problem, ...]] | None:
        with self._turns.reading(uri):
            document = self._session.read(uri)
        if document is None:
            return None
        problems = self._problems(document)
        if document.kind == "eval" and is_blank_text(document.text):
            # An empty open file is offered a draft of a suite, instead of a problem.
            problems = tuple(problem for problem in problems if problem.code != "empty-file")
        typed_at = self._session.typed_at(document)
        if typed_at is not None and problems:
            from waza_language_server.features.completion.being_written import without_unfinished

            begun = self._session.is_begun(document)
            problems = without_unfinished(document, self._session.workspace, typed_at, problems, begun=begun)
        return document, problems

    def _problems(self, document: Document) -> tuple[Problem, ...]:
        workspace = self._session.workspace
        known = self._known.get(document.uri)
        if known is not None and known[0] is document and known[1] is workspace:
            return known[2]
        # The rules are loaded with the first problems: nothing of them is needed to complete or to explain.
        from waza_language_server.analysis.rule_loading import load_rules

        load_rules()
        from waza_language_server.analysis.diagnose import diagnose

        problems = diagnose(document, workspace)
        if self._session.is_current(document):
            self._known[document.uri] = (document, workspace, problems)
            unknown = any(problem.code == "unknown-grader-type" for problem in problems)
            if unknown and document.kind not in VALLY_KINDS:
                self._on_unknown_type()
        return problems

    def edited(self, uri: str) -> None:
        """Publish the problems of this document soon, and later those of the others."""
        if self._publish is None:
            return
        self._publish_soon(uri)
        self._others_later(uri)

    def _others_later(self, uri: str) -> None:
        if self._neighbours is not None:
            self._neighbours.cancel()
        loop = asyncio.get_running_loop()
        self._neighbours = loop.call_later(NEIGHBOURS_AFTER_SECONDS, self._refresh_others, uri)

    def all_again(self) -> None:
        """Publish the problems of all open documents again, after something outside them has changed."""
        self._known.clear()
        if self._publish is not None:
            self._refresh_others(None)

    def closed(self, uri: str) -> None:
        """Forget a document and clear what was published for it."""
        self._known.pop(uri, None)
        self._clear(uri)
        if self._publish is not None:
            # They may refer to the unsaved text of this document.
            self._others_later(uri)

    def _refresh_others(self, edited: str | None) -> None:
        # Also unclaimed documents: the edit may have changed their claims.
        for uri in self._session.uris:
            if uri != edited:
                self._publish_soon(uri)
        for uri in tuple(self._published):
            if self._session.text(uri) is None:
                self._clear(uri)

    def _publish_soon(self, uri: str) -> None:
        known = self._work.get(uri)
        if known is not None and not known.done():
            # It has published nothing yet, and takes the newest text when it does.
            return
        task = asyncio.get_running_loop().create_task(self._compute_and_publish(uri))
        self._work[uri] = task
        task.add_done_callback(partial(self._note_end, uri))

    def _note_end(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._work.get(uri) is task:
            del self._work[uri]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("The diagnostics of a document could not be computed.", exc_info=error)

    async def _compute_and_publish(self, uri: str) -> None:
        # Messages that wait are taken first: there may be a newer text among them.
        await asyncio.sleep(0)
        await self._turns.done(lambda: self._publish_newest(uri))

    def _publish_newest(self, uri: str) -> None:
        newest = self._newest(uri)
        if newest is None:
            self._clear(uri)
        elif self._published.get(uri) != newest and self._publish is not None:
            self._publish(uri, *newest)
            self._published[uri] = newest

    def _clear(self, uri: str) -> None:
        if uri not in self._published:
            return
        del self._published[uri]
        if self._publish is not None:
            self._publish(uri, None, ())
