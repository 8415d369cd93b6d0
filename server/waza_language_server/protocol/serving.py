"""One client is served: from the wire that it is at, until it leaves."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from contextlib import suppress

from waza_language_server.protocol.dispatch import Dispatcher
from waza_language_server.protocol.leaving import Departure
from waza_language_server.protocol.server import WazaServer, create_server
from waza_language_server.protocol.wire import Inbox, Outbox, Wire, take_standard_streams

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
