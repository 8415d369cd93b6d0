"""One client is served, from the wire that it is at until it leaves: every message gets its answer.

Input that ``pygls`` cannot handle is filtered out here: malformed messages, messages before ``initialize`` or
after ``shutdown``, and messages that violate the protocol. None of them stops the others.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from waza_engine.usable_text import why_unusable
from waza_language_server.protocol.leaving import Departure
from waza_language_server.protocol.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    REQUEST_CANCELLED,
    Malformed,
    cancelled_id,
    kind_of,
    with_version,
)
from waza_language_server.protocol.pygls_internals import is_request, names_things
from waza_language_server.protocol.server import WazaServer, create_server
from waza_language_server.protocol.wire import Inbox, Outbox, Wire, take_standard_streams

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_language_server.protocol.messages import Message
    from waza_language_server.protocol.pygls_internals import Protocol
    from waza_language_server.protocol.turns import Turns
    from waza_language_server.protocol.wire import Inbox


log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.001
"""How long the thread that reads the wire waits for a busy analysis; by default it is five times as long."""


def start(port: int | None = None) -> int:
    """Serve one client until it leaves, on standard input and output or on a port; return the exit code."""
    server = create_server()
    # Loaded modules stay, so the collector need not look at them.
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)
    if port is None:
        return _serve(server, take_standard_streams())
    import socket

    with socket.create_server(("127.0.0.1", port)) as listener:
        log.warning("Waiting for a client at 127.0.0.1:%d.", listener.getsockname()[1])
        connection, _ = listener.accept()
    with connection:
        return _serve(server, Wire(connection.recv, connection.sendall))


def _serve(server: WazaServer, wire: Wire) -> int:
    departure = Departure(server.kill_now)
    asyncio.run(_main_loop(server, wire, departure))
    return departure.code


async def _main_loop(server: WazaServer, wire: Wire, departure: Departure) -> None:
    loop = asyncio.get_running_loop()

    def leave() -> None:
        with suppress(RuntimeError):  # The loop has ended already.
            loop.call_soon_threadsafe(server.leave)

    departure.begin_on_signals(leave)
    server.on_client = lambda pid: departure.begin_with_client(pid, leave)
    server.protocol.set_writer(Outbox(wire, server.leave))
    inbox = Inbox(wire, departure.begin)
    reader = asyncio.create_task(_handle_all(server, inbox))
    reader.add_done_callback(lambda _: server.leave())
    await server.ended.wait()
    departure.begin(1)
    reader.cancel()
    loop.set_exception_handler(lambda _, context: log.debug("At the end: %s", context))
    farewells = server.protocol.tasks()
    await server.shut_down()
    if farewells:
        # Their answers, that of the shutdown above all, are written when they end.
        await asyncio.wait(farewells)


async def _handle_all(server: WazaServer, inbox: Inbox) -> None:
    dispatcher = Dispatcher(server.protocol, inbox, server.turns, server.leave)
    server.turns.serve(inbox, dispatcher.handle)
    while (message := await inbox.next()) is not None:
        dispatcher.handle(message)
        if inbox.empty():
            # Lets the work that the messages started take a step before the next one is waited for.
            await asyncio.sleep(0)


class Dispatcher:
    """Hands the messages of one client to ``pygls``, which calls the handlers."""

    def __init__(self, protocol: Protocol, inbox: Inbox, turns: Turns, leave: Callable[[], None]) -> None:
        """``leave`` is called when the client says that the server may end."""
        self._protocol = protocol
        self._inbox = inbox
        self._turns = turns
        self._leave = leave
        self._shut_down = False

    def handle(self, message: Message | Malformed) -> None:
        """Handle one message; never raises."""
        if isinstance(message, Malformed):
            log.warning("The client sent something that is no message: %s", message.reason)
            self._protocol.answer(message.identifier, message.code, message.reason)
            return
        method: object = message.get("method")
        try:
            if method == "exit":
                self._leave()
            elif kind_of(message) == "response":
                self._take_response(message)
            elif kind_of(message) == "request":
                self._handle_request(str(method), message)
            else:
                self._handle_notification(str(method), message)
        except Exception:
            log.exception("A message (%.100r) could not be handled.", method)
            if kind_of(message) == "request":
                self._protocol.answer(message["id"], INTERNAL_ERROR, "The request could not be handled.")

    def _take_response(self, message: Message) -> None:
        if not self._protocol.take_response(message):
            log.warning("The client answered a request (%.100r) that waits for nothing.", message.get("id"))

    def _handle_request(self, method: str, message: Message) -> None:
        refusal = self._refusal(method, message)
        if refusal is None:
            self._shut_down = self._shut_down or method == "shutdown"
            self._turns.begin_request(message["id"])
            refusal = self._hand_over(message)
        if refusal is not None:
            log.info("A request (%.100r) was refused: %s", method, refusal[1])
            self._protocol.answer(message["id"], *refusal)

    def _refusal(self, method: str, message: Message) -> tuple[int, str] | None:
        """Return the error that answers a request which is not handled."""
        if self._shut_down:
            return INVALID_REQUEST, "The server is shutting down."
        if method == "initialize":
            if self._protocol.is_initialized:
                return INVALID_REQUEST, "The server is initialized already."
            return None
        if not self._protocol.is_initialized and method != "shutdown":
            return NOT_INITIALIZED, "The server was not initialized yet."
        if self._inbox.is_cancelled(message["id"]):
            return REQUEST_CANCELLED, "The request was canceled."
        if not self._protocol.knows(method):
            return METHOD_NOT_FOUND, JsonRpcMethodNotFound.of(method).message
        if not is_request(method):
            return INVALID_REQUEST, f"{method} is a notification, which has no `id`."
        if names_things(method) and (why := why_unusable(message.get("params"))):
            return INVALID_PARAMS, why
        return None

    def _handle_notification(self, method: str, message: Message) -> None:
        if method == "$/cancelRequest":
            self._cancel(message)
        elif self._shut_down or not self._protocol.is_initialized:
            log.warning("A notification (%.100r) came before the introduction or after the farewell.", method)
        elif not self._protocol.knows(method):
            # Those that begin like this may be ignored, says the protocol.
            if not method.startswith("$/"):
                log.warning("A notification (%.100r) is not known.", method)
        elif (refusal := self._hand_over(message)) is not None:
            log.warning("A notification (%.100r) was dropped: %s", method, refusal[1])

    def _cancel(self, message: Message) -> None:
        identifier = cancelled_id(message)
        if identifier is None:
            log.warning("A cancellation names no request.")
        else:
            self._inbox.forget_cancellation(identifier)
            self._protocol.cancel(identifier)

    def _hand_over(self, message: Message) -> tuple[int, str] | None:
        """Let ``pygls`` handle a message, or return the error of one that violates the protocol."""
        try:
            structured = self._protocol.structure_message(with_version(message))
        except (JsonRpcException, TypeError, ValueError) as error:
            log.info("The parameters of %.100r: %s", message.get("method"), error.__cause__ or error)
            return INVALID_PARAMS, "The parameters are not what the protocol allows."
        self._protocol.handle_message(structured)
        return None
