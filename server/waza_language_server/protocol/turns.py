"""The order of analysis and answers: one thread does both, and looks at waiting messages at checkpoints.

The wire has a thread of its own, which reads messages while the analysis goes on. At a checkpoint of a
diagnosis requests are answered right there, in their order, up to the first change of a text, a file or a
setting: that makes the diagnosis void, and it begins again with what is new. It also begins again when it
has given way to a task that a message began. An answer is not interrupted by other answers; a newer text of
its document stops it when it takes long.

Architecture invariant: only this thread touches the session, so nothing of it needs a lock.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from waza_engine.checkpoint import Superseded, watch_checkpoints
from waza_language_server.protocol.messages import Malformed, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.protocol.messages import Identifier, Message
    from waza_language_server.protocol.wire import Inbox

    Handle = Callable[[Message | Malformed], None]

MOST_RESTARTS = 3
"""How often changes stop a diagnosis at once; then they wait a while: fast typing must not keep it away."""
MOMENT_SECONDS = 0.1
"""How long work on a whole workspace goes on before it gives way to everything else.

Any other work gives way when it has taken so long and a message begins a task; twice as long each other time.
"""
WAIT_SECONDS = 0.5
"""How long a change waits for a diagnosis that was stopped so often; twice as long after each other stop."""
SHORT_SECONDS = 0.02
"""An answer that takes no longer is given even if a newer text waits."""
QUIET_SECONDS = 0.05
"""How long background work lets others go first."""
UNFINISHED = object()
"""Returned by work in the background that has done a part."""
_TURNS_OF_THE_LOOP = 10
"""The reader of the inbox needs fewer to take the messages that wait, and a ``shutdown`` to take effect."""
_ENDS_DOCUMENT = frozenset({"textDocument/didChange", "textDocument/didClose"})
_ENDS_ALL = frozenset({"shutdown", "exit"})
_NOT_ANSWERED_BETWEEN = frozenset({"initialize", "shutdown"})

Value = TypeVar("Value")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Turn:
    """The running work: an answer about the document ``uri``, or work that others may go before."""

    kind: Literal["answer", "work"]
    uri: str | None = None
    unstopped_seconds: float = 0.0
    """How long changes do not stop the work."""
    kept_seconds: float = MOMENT_SECONDS
    """How long the work does not give way to tasks that messages begin."""
    gave_way: bool = False
    begun: float = field(default_factory=time.perf_counter)
    reading: str | None = None
    """The document that is being parsed: requests about it wait for its tree."""

    @property
    def seconds(self) -> float:
        """Return how long it has been running."""
        return time.perf_counter() - self.begun


class Turns:
    """Runs the analysis of one server, and serves its client meanwhile."""

    def __init__(self) -> None:
        self._inbox: Inbox | None = None
        self._handle: Handle = lambda _message: None
        self._aside: Callable[[], AbstractContextManager[object]] = nullcontext
        self._running: _Turn | None = None
        self._request: Identifier | None = None
        self._due: dict[str, Callable[[], object]] = {}
        self._background: asyncio.Task[None] | None = None
        self._ended = False

    def serve(self, inbox: Inbox, handle: Handle) -> None:
        """Look at an inbox at each checkpoint, and handle messages from there."""
        self._inbox, self._handle = inbox, handle
        watch_checkpoints(self._look)

    def set_aside(self, aside: Callable[[], AbstractContextManager[object]]) -> None:
        """Enter a context while a message is handled at a checkpoint: it hides the state of what runs."""
        self._aside = aside

    def begin_request(self, identifier: Identifier) -> None:
        """Note which request is handled next, to stop its answer when it is cancelled."""
        self._request = identifier

    @contextmanager
    def answering(self, uri: str | None) -> Generator[None]:
        """Answer a request about a document in this block; raises ``Superseded`` at a checkpoint."""
        with self._turn(_Turn("answer", uri)):
            yield

    @contextmanager
    def reading(self, uri: str) -> Generator[None]:
        """Let requests about a document wait while it is parsed in this block."""
        turn = self._running
        before = None if turn is None else turn.reading
        if turn is not None:
            turn.reading = uri
        try:
            yield
        finally:
            if turn is not None:
                turn.reading = before

    def is_cancelled(self) -> bool:
        """Return whether the client has cancelled the request that was begun last."""
        return (
            self._inbox is not None and self._request is not None and self._inbox.is_cancelled(self._request)
        )

    async def done(
        self,
        work: Callable[[], Value],
        still_wanted: Callable[[], bool] = lambda: True,
        *,
        most_restarts: float = MOST_RESTARTS,
    ) -> Value | None:
        """Return the result of some work, which begins again after each change.

        After ``most_restarts`` changes wait longer and longer for it, so that it ends however many come.
        None if it is not wanted any more after a change.
        """
        restarts = ways = 0
        while True:
            more = restarts - most_restarts
            turn = _Turn(
                "work",
                unstopped_seconds=0.0 if more < 0 else WAIT_SECONDS * 2**more,
                kept_seconds=MOMENT_SECONDS * 2**ways,
            )
            try:
                with self._turn(turn):
                    return work()
            except Superseded:
                await self.give_way()
            if not still_wanted():
                return None
            if turn.gave_way:
                ways += 1
            else:
                restarts += 1

    def later(self, name: str, work: Callable[[], object]) -> None:
        """Do some work when there is time for it; what waits by the same name is replaced.

        Work that returns ``UNFINISHED`` is done again.
        """
        if self._ended:
            return
        self._due[name] = work
        if self._background is None or self._background.done():
            self._background = asyncio.get_running_loop().create_task(self._do_due())

    def end(self) -> None:
        """Drop what waits, and take nothing more."""
        self._ended = True
        self._due.clear()
        if self._background is not None:
            self._background.cancel()

    async def _do_due(self) -> None:
        while self._due:
            await asyncio.sleep(QUIET_SECONDS)
            for name, work in tuple(self._due.items())[:1]:
                try:
                    with self._turn(_Turn("work")):
                        if work() is UNFINISHED:
                            continue
                except Superseded:
                    await self.give_way()
                    continue
                except Exception:
                    log.exception("Work in the background (%s) has failed.", name)
                if self._due.get(name) is work:
                    del self._due[name]

    @contextmanager
    def _turn(self, turn: _Turn) -> Generator[None]:
        around, self._running = self._running, turn
        try:
            yield
        finally:
            self._running = around

    async def give_way(self) -> None:
        """Let the reader of the inbox handle the messages that wait, and the tasks that it starts begin.

        Raises ``CancelledError`` if the server is leaving then.
        """
        for _ in range(_TURNS_OF_THE_LOOP):
            await asyncio.sleep(0)
        if self._ended:
            raise asyncio.CancelledError

    def _look(self) -> None:
        """Serve the client at a checkpoint; raises ``Superseded`` if what runs is void."""
        turn, inbox = self._running, self._inbox
        if turn is None or inbox is None or inbox.empty():
            return
        if turn.kind == "answer":
            if self._is_void(turn, inbox):
                raise Superseded
            return
        self._serve_waiting(turn, inbox)
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise Superseded

    def _is_void(self, turn: _Turn, inbox: Inbox) -> bool:
        """Return whether an answer is useless: it was cancelled, or takes long and a newer text waits."""
        if self.is_cancelled():
            return True
        if turn.seconds < SHORT_SECONDS:
            return False
        return any(
            message.get("method") in _ENDS_ALL
            or (message.get("method") in _ENDS_DOCUMENT and _uri_in(message) == turn.uri)
            for message in inbox.waiting()
            if not isinstance(message, Malformed)
        )

    def _serve_waiting(self, turn: _Turn, inbox: Inbox) -> None:
        held = False
        for message in inbox.waiting():
            if _is_change(message):
                if turn.seconds >= turn.unstopped_seconds or _ends_all(message):
                    raise Superseded
                return
            if turn.reading is not None and _uri_in(message) == turn.reading:
                held = True
                continue
            if held and _is_cancellation(message):
                # Of a request that waits, perhaps: it must not be handled before that.
                continue
            inbox.take(message)
            tasks = len(asyncio.all_tasks())
            self._running = None
            try:
                with self._aside():
                    self._handle(message)
            finally:
                self._running = turn
            if turn.seconds >= turn.kept_seconds and len(asyncio.all_tasks()) > tasks:
                turn.gave_way = True
                raise Superseded


def _is_change(message: Message | Malformed) -> bool:
    """Return whether a message may change what an analysis depends on."""
    if isinstance(message, Malformed):
        return False
    kind, method = kind_of(message), str(message.get("method"))
    if kind == "request":
        return method in _NOT_ANSWERED_BETWEEN
    return kind == "notification" and not method.startswith("$/")


def _is_cancellation(message: Message | Malformed) -> bool:
    return not isinstance(message, Malformed) and message.get("method") == "$/cancelRequest"


def _ends_all(message: Message | Malformed) -> bool:
    return not isinstance(message, Malformed) and message.get("method") in _ENDS_ALL


def _uri_in(message: Message | Malformed) -> object:
    """Return the URI of the document that a message is about, None without one."""
    params: Any = None if isinstance(message, Malformed) else message.get("params")
    document: Any = cast("dict[str, Any]", params).get("textDocument") if isinstance(params, dict) else None
    return cast("dict[str, Any]", document).get("uri") if isinstance(document, dict) else None
