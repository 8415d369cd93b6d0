"""What is answered at a checkpoint, what makes the running work void, and who may touch the session."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

from waza_engine.checkpoint import Superseded, checkpoint, watch_checkpoints, within
from waza_language_server.project.document import Document
from waza_language_server.protocol import turns
from waza_language_server.protocol.services.session import Session
from waza_language_server.protocol.turns import MOST_RESTARTS, UNFINISHED, Turns
from waza_language_server.protocol.wire import Inbox, Wire
from waza_language_server.syntax.tree import Tree

Message = dict[str, Any]
HOVER = "textDocument/hover"
CHANGE = "textDocument/didChange"


def message(method: str, uri: str = "file:///a.yaml", identifier: int | None = None) -> Message:
    found: Message = {"jsonrpc": "2.0", "method": method, "params": {"textDocument": {"uri": uri}}}
    return found if identifier is None else {**found, "id": identifier}


class Waiting:
    """An inbox without a wire."""

    def __init__(self, *messages: Message) -> None:
        self.messages = list(messages)
        self.cancelled: set[int] = set()

    def empty(self) -> bool:
        return not self.messages

    def waiting(self) -> tuple[Message, ...]:
        return tuple(self.messages)

    def take(self, taken: Message) -> None:
        self.messages.remove(taken)

    def is_cancelled(self, identifier: int) -> bool:
        return identifier in self.cancelled


class Server:
    """Turns with an inbox, and the methods and documents of the messages that were handled."""

    def __init__(self, *messages: Message) -> None:
        self.turns = Turns()
        self.inbox = Waiting(*messages)
        self.handled: list[tuple[str, str]] = []
        inbox: Any = self.inbox
        handle: Any = self.handle
        self.turns.serve(inbox, handle)

    def handle(self, one: Message) -> None:
        self.handled.append((one["method"], one["params"]["textDocument"]["uri"][-6:]))

    def run(self, work: Callable[[], Any]) -> Any:
        return asyncio.run(self.run_and_read(work))

    async def run_and_read(self, work: Callable[[], Any]) -> Any:
        """Do some work while a reader takes the messages, as the main loop does."""

        async def read() -> None:
            while True:
                for one in self.inbox.waiting():
                    self.inbox.take(one)
                    self.handle(one)
                await asyncio.sleep(0)

        result = asyncio.ensure_future(self.turns.done(work))
        reader = asyncio.ensure_future(read())
        try:
            return await result
        finally:
            reader.cancel()


@pytest.fixture(autouse=True)
def unwatched() -> Iterator[None]:
    """Nobody looks at the checkpoints of other tests."""
    yield
    watch_checkpoints(None)


def test_requests_are_answered_at_a_checkpoint_in_their_order() -> None:
    server = Server(message(HOVER, "file:///a.yaml", 1), message(HOVER, "file:///b.yaml", 2))
    seen: list[int] = []

    def work() -> str:
        checkpoint()
        seen.append(len(server.handled))
        return "done"

    assert server.run(work) == "done"
    assert seen == [2]
    assert server.handled == [(HOVER, "a.yaml"), (HOVER, "b.yaml")]


def test_a_change_makes_the_work_void_and_it_begins_again_with_the_change() -> None:
    server = Server(message(HOVER, "file:///a.yaml", 1), message(CHANGE), message(HOVER, identifier=2))
    begun: list[list[str]] = []

    def work() -> None:
        begun.append([method for method, _ in server.handled])
        checkpoint()

    server.run(work)
    assert begun == [[], [HOVER, CHANGE, HOVER]]


def test_work_that_was_restarted_often_runs_to_its_end() -> None:
    server = Server()
    begun: list[int] = []

    def work() -> str:
        begun.append(1)
        server.inbox.messages.append(message(CHANGE))
        checkpoint()
        return "done"

    assert server.run(work) == "done"
    assert len(begun) == MOST_RESTARTS + 1


def test_work_that_changes_stop_ends_when_they_have_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.001)
    server = Server()
    begun: list[int] = []

    def work() -> str:
        begun.append(1)
        server.inbox.messages.append(message(CHANGE))
        server.inbox.messages.append(message(HOVER, identifier=len(begun)))
        ends = time.perf_counter() + 0.01
        while time.perf_counter() < ends:
            checkpoint()
        return "done"

    assert server.run(work) == "done"
    assert MOST_RESTARTS + 1 < len(begun) <= MOST_RESTARTS + 6
    assert server.handled.count((HOVER, "a.yaml")) >= len(begun) - 1


def test_long_work_gives_way_to_a_task_that_a_message_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOMENT_SECONDS", 0.0)
    server = Server(message(HOVER, identifier=1))
    seen: list[str] = []

    async def answer() -> None:
        seen.append("answered")

    tasks: list[asyncio.Task[None]] = []

    def handle(_: object) -> None:
        tasks.append(asyncio.ensure_future(answer()))

    inbox: Any = server.inbox
    server.turns.serve(inbox, handle)

    def work() -> None:
        seen.append("begun")
        checkpoint()
        seen.append("done")

    asyncio.run(server.turns.done(work))
    assert seen == ["begun", "answered", "begun", "done"]


def test_nothing_begins_again_once_the_server_has_ended() -> None:
    server = Server(message("shutdown", identifier=1))
    begun: list[int] = []

    async def end() -> None:
        server.turns.end()

    tasks: list[asyncio.Task[None]] = []

    def handle(_: Message) -> None:
        tasks.append(asyncio.ensure_future(end()))

    server.handle = handle  # type: ignore[method-assign]

    def work() -> None:
        begun.append(1)
        checkpoint()

    with pytest.raises(asyncio.CancelledError):
        server.run(work)
    assert begun == [1]


def test_unfinished_work_in_the_background_goes_on() -> None:
    async def background() -> list[str]:
        server = Server()
        done: list[str] = []

        def work() -> object:
            done.append("part")
            return UNFINISHED if len(done) < 3 else None

        server.turns.later("x", work)
        for _ in range(100):
            await asyncio.sleep(0.01)
            if len(done) == 3:
                break
        await asyncio.sleep(0.1)
        return done

    assert asyncio.run(background()) == ["part"] * 3


def test_a_cancellation_does_not_overtake_its_request() -> None:
    cancellation: Message = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}
    server = Server(message(HOVER, "file:///a.yaml", 1), cancellation, message(HOVER, "file:///b.yaml", 2))
    handled: list[object] = []

    def handle(one: Message) -> None:
        handled.append(one.get("id", "cancellation"))

    inbox: Any = server.inbox
    on_message: Any = handle
    server.turns.serve(inbox, on_message)

    def work() -> None:
        with server.turns.reading("file:///a.yaml"):
            checkpoint()
        checkpoint()

    asyncio.run(server.turns.done(work))
    assert handled == [2, 1, "cancellation"]


def test_a_request_about_a_document_that_is_being_read_waits_for_its_tree() -> None:
    server = Server(message(HOVER, "file:///a.yaml", 1), message(HOVER, "file:///b.yaml", 2))
    seen: list[tuple[str, str]] = []

    def work() -> None:
        with server.turns.reading("file:///a.yaml"):
            checkpoint()
            seen.extend(server.handled)
        checkpoint()

    server.run(work)
    assert seen == [(HOVER, "b.yaml")]
    assert server.handled == [(HOVER, "b.yaml"), (HOVER, "a.yaml")]


def test_an_answer_answers_no_others_and_is_stopped_when_it_is_cancelled() -> None:
    server = Server(message(HOVER, identifier=2), message(CHANGE))
    server.turns.begin_request(1)
    with server.turns.answering("file:///a.yaml"):
        checkpoint()
    assert server.handled == []
    server.inbox.cancelled.add(1)
    with pytest.raises(Superseded), server.turns.answering("file:///a.yaml"):
        checkpoint()


def test_a_cancelled_task_stops_at_its_next_checkpoint() -> None:
    async def cancelled() -> list[int]:
        server = Server(message("$/cancelRequest"))
        seen: list[int] = []
        task = asyncio.ensure_future(
            server.turns.done(lambda: seen.append(1) or checkpoint() or seen.append(2))
        )

        def cancel(_: object) -> None:
            task.cancel()

        inbox: Any = server.inbox
        server.turns.serve(inbox, cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert asyncio.run(cancelled()) == [1]


def test_work_within_a_time_is_stopped_at_a_checkpoint_after_it() -> None:
    def endless() -> None:
        while True:
            checkpoint()

    assert within(endless, 0) is None
    assert within(lambda: 3, 60) == (3,)


def test_background_work_is_done_and_begins_again_after_a_change() -> None:
    async def background() -> list[str]:
        server = Server()
        done: list[str] = []

        def work() -> None:
            done.append("begun")
            if len(done) == 1:
                server.inbox.messages.append(message(CHANGE))
            checkpoint()
            done.append("done")

        server.turns.later("x", work)
        while "done" not in done:
            await asyncio.sleep(0.01)
            server.inbox.messages.clear()
        return done

    assert asyncio.run(background()) == ["begun", "begun", "done"]


def test_a_text_that_is_parsed_at_a_checkpoint_of_its_own_parse_has_one_tree() -> None:
    text = "name: s\nskill: s\n" + "".join(f"k{at}: 1\n" for at in range(3_000))
    document = Document("file:///eval.yaml", 1, text, "eval")
    nested: list[Tree] = []

    def look() -> None:
        watch_checkpoints(None)
        nested.append(document.tree)

    watch_checkpoints(look)
    assert document.tree is document.tree
    assert nested
    assert nested[0] is document.tree


def test_a_cancellation_that_is_a_request_cancels_nothing() -> None:
    async def cancelled() -> list[bool]:
        frames: list[bytes] = []
        for one in ({"id": 7, "params": {"id": 5}}, {"params": {"id": 6}}):
            body = json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", **one}).encode()
            frames.append(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        inbox = Inbox(Wire(lambda _: frames.pop(0) if frames else b"", lambda _: None), lambda _: None)
        while await inbox.next() is not None:
            pass
        return [inbox.is_cancelled(identifier) for identifier in (5, 6)]

    assert asyncio.run(cancelled()) == [False, True]


def test_no_other_thread_touches_the_session() -> None:
    session = Session()
    assert session.workspace.project is session.project
    raised: list[BaseException] = []

    def touch() -> None:
        try:
            _ = session.workspace
        except AssertionError as error:
            raised.append(error)

    thread = Thread(target=touch)
    thread.start()
    thread.join()
    assert len(raised) == 1
