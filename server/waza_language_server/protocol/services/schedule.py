"""Schedule diagnostics: immediately after an edit, in slices between messages, for the newest text only.

There is no debounce, and no request waits longer than a slice for the work. An edit drops the work on the
text before it. The edited document comes first; the others, which may refer to it, follow when typing pauses.
Requests that need much work are answered in slices as well: the first slice is done immediately.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from waza_engine.steps import finished
from waza_language_server.project.claim import says_nothing
from waza_language_server.protocol.messages import OutdatedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_engine.steps import Steps
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.services.session import Session

    Publish = Callable[[str, Document | None, tuple[Problem, ...]], Steps[None]]

SLICE_SECONDS = 0.005
NEIGHBOURS_AFTER_SECONDS = 0.25
Value = TypeVar("Value")
Answer = Value | None | Coroutine[Any, Any, Value | None]
"""The answer to a request: the value itself, or a coroutine that returns it."""

log = logging.getLogger(__name__)


class Diagnostics:
    """The problems of the open documents: computed once a snapshot, for pushing, pulling and code actions."""

    def __init__(
        self,
        session: Session,
        publish: Publish | None,
        on_unknown_type: Callable[[], None] = lambda: None,
        on_slice: Callable[[bool], None] = lambda _goes_on: None,
    ) -> None:
        """``publish`` sends the problems of a document to the client; None instead of a document clears them.

        It is None for a client that asks for them itself: diagnostics are pushed or pulled, never both.
        ``on_unknown_type`` is called when a document names a grader type that the catalog does not know,
        ``on_slice`` when a slice of work was done, with whether there is more to do of it.
        """
        self._session = session
        self._publish = publish
        self._on_unknown_type = on_unknown_type
        self._on_slice = on_slice
        self._known: dict[str, tuple[Document, Workspace, tuple[Problem, ...]]] = {}
        self._published: dict[str, tuple[Document, tuple[Problem, ...]]] = {}
        """The problems that the client shows."""
        self._work: dict[str, asyncio.Task[None]] = {}
        self._neighbours: asyncio.TimerHandle | None = None

    async def newest_problems(self, uri: str) -> tuple[Document, tuple[Problem, ...]] | None:
        """Return the newest snapshot of a document and its problems, None when it is not ours.

        Problems of unfinished input are left out until it is saved or another place is edited.
        The work pauses for other messages; if one of them brings a newer text, it starts again with that.
        """
        while (text := self._session.text(uri)) is not None:
            steps = self._newest(uri)
            while self._session.text(uri) is text:
                done = self._slice(steps)
                if done is not None:
                    if done[0] is None or self._session.is_current(done[0][0]):
                        return done[0]
                    break
                await asyncio.sleep(0)
        return None

    def answer(
        self,
        uri: str,
        answer: Callable[[Document], Steps[Value | None]],
        of_skill: Callable[[SkillFile], Steps[Value | None]] | None = None,
    ) -> Answer[Value]:
        """Answer a request about the text that a document has now; None when it is not ours.

        ``of_skill`` answers for a ``SKILL.md``. An answer that takes no longer than a slice is returned
        immediately, others between the messages; they raise ``OutdatedError`` if a newer text comes.
        """
        skill = None if of_skill is None else self._session.skill(uri)
        if skill is None or of_skill is None:
            steps = self._answer(uri, answer)
        else:
            steps = self._with_all_read(partial(of_skill, skill))
        text = self._session.text(uri)
        done = self._slice(steps)
        return self._rest(uri, text, steps) if done is None else done[0]

    async def _rest(self, uri: str, text: str | None, steps: Steps[Value | None]) -> Value | None:
        while True:
            await asyncio.sleep(0)
            newest = self._session.text(uri)
            if newest is None:
                return None
            if newest is not text:
                raise OutdatedError
            done = self._slice(steps)
            if done is not None:
                return done[0]

    def _answer(self, uri: str, answer: Callable[[Document], Steps[Value | None]]) -> Steps[Value | None]:
        document = yield from self._session.read_in_steps(uri)
        return None if document is None else (yield from answer(document))

    async def problems_of(self, document: Document) -> tuple[Problem, ...] | None:
        """Return the problems of a snapshot, None if a newer text comes meanwhile."""
        return await self.in_slices(document, self._steps(document))

    async def in_slices(self, document: Document, steps: Steps[Value]) -> Value | None:
        """Do work on a snapshot between the messages; None, the work dropped, when a newer text comes."""
        while self._session.is_current(document):
            done = self._slice(steps)
            if done is not None:
                return done[0]
            await asyncio.sleep(0)
        return None

    async def worked_out(self, steps: Steps[Value]) -> Value:
        """Do work on the whole workspace between the messages."""
        while True:
            done = self._slice(steps)
            if done is not None:
                return done[0]
            await asyncio.sleep(0)

    async def of_workspace(self, answer: Callable[[Workspace], Steps[Value]]) -> Value:
        """Answer a request about all files; open ones count as they are, also those just opened."""
        return await self.worked_out(self._with_all_read(lambda: answer(self._session.workspace)))

    async def of_workspace_at_once(self, answer: Callable[[Workspace], Steps[Value]]) -> Value:
        """Do the same, and look at each folder once, for what asks about the same ones many times."""
        return await self.of_workspace(
            lambda workspace: workspace.project.disk.held_still_in_steps(answer(workspace))
        )

    def _with_all_read(self, answer: Callable[[], Steps[Value]]) -> Steps[Value]:
        yield from self._session.read_all_in_steps()
        return (yield from answer())

    def _newest(self, uri: str) -> Steps[tuple[Document, tuple[Problem, ...]] | None]:
        document = yield from self._session.read_in_steps(uri)
        if document is None:
            return None
        problems = yield from self._steps(document)
        if document.kind == "eval" and says_nothing(document.text):
            # An empty open file is offered a draft of a suite, instead of a problem.
            problems = tuple(problem for problem in problems if problem.code != "empty-file")
        typed_at = self._session.typed_at(document)
        if typed_at is not None and problems:
            from waza_language_server.features.completion.being_written import without_unfinished

            begun = self._session.is_begun(document)
            problems = without_unfinished(document, self._session.workspace, typed_at, problems, begun=begun)
            yield
        return document, problems

    def _steps(self, document: Document) -> Steps[tuple[Problem, ...]]:
        workspace = self._session.workspace
        known = self._known.get(document.uri)
        if known is not None and known[0] is document and known[1] is workspace:
            return known[2]
        yield from _rules_loaded()
        from waza_language_server.analysis.diagnose import diagnose_in_steps

        problems = yield from diagnose_in_steps(document, workspace)
        if self._session.is_current(document):
            self._known[document.uri] = (document, workspace, problems)
            if any(problem.code == "unknown-grader-type" for problem in problems):
                self._on_unknown_type()
        return problems

    def edited(self, uri: str) -> None:
        """Publish the problems of this document soon, and later those of the others."""
        if self._publish is None:
            return
        self._restart(uri)
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
        work = self._work.pop(uri, None)
        if work is not None:
            work.cancel()
        self._clear(uri)
        if self._publish is not None:
            # They may refer to the unsaved text of this document.
            self._others_later(uri)

    def _refresh_others(self, edited: str | None) -> None:
        # Also unclaimed documents: the edit may have changed their claims.
        for uri in self._session.uris:
            if uri != edited:
                self._restart(uri)
        for uri in tuple(self._published):
            if self._session.text(uri) is None:
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
        if uri not in self._published:
            await self._publish_first(uri)
        newest = await self.newest_problems(uri)
        if newest is None:
            self._clear(uri)
        elif self._published.get(uri) != newest:
            await self.in_slices(newest[0], self._sent(uri, *newest))

    async def _publish_first(self, uri: str) -> None:
        """Publish the problems at the beginning of a long document before the rest is read."""
        document = await self.worked_out(self._session.claimed_in_steps(uri))
        if document is None or self._session.typed_at(document) is not None:
            return
        first = await self.in_slices(document, self._first(document))
        if first is not None and first[1]:
            await self.in_slices(document, self._sent(uri, *first))

    def _first(self, document: Document) -> Steps[tuple[Document, tuple[Problem, ...]] | None]:
        from waza_language_server.syntax.beginning import LONG

        if len(document.text) < LONG:
            return None
        yield from _rules_loaded()
        from waza_language_server.analysis.first_problems import first_problems

        return (yield from first_problems(document, self._session.workspace))

    def _sent(self, uri: str, document: Document, problems: tuple[Problem, ...]) -> Steps[None]:
        assert self._publish is not None
        yield from self._publish(uri, document, problems)
        # Note them even if the document has changed or closed: the client shows them until the next report.
        self._published[uri] = (document, problems)

    def _clear(self, uri: str) -> None:
        if uri not in self._published:
            return
        del self._published[uri]
        if self._publish is not None:
            finished(self._publish(uri, None, ()))

    def _slice(self, steps: Steps[Value]) -> tuple[Value] | None:
        """Do a slice of some work; return the result if that was the last."""
        pause_at = time.perf_counter() + SLICE_SECONDS
        goes_on = False
        try:
            while time.perf_counter() < pause_at:
                next(steps)
            goes_on = True
        except StopIteration as end:
            return (end.value,)
        finally:
            self._on_slice(goes_on)
        return None


def _rules_loaded() -> Steps[None]:
    """Load the rules with the first problems: nothing of them is needed to complete or to explain."""
    from waza_language_server.analysis.loading import load_rules

    yield from load_rules()


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("The diagnostics of a document could not be computed.", exc_info=error)
