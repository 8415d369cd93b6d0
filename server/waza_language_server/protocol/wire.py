"""The wire: the two descriptors that carry messages, out of reach of everything else in the process.

Messages are read by one thread of their own, so that a busy loop does not delay them: long work looks at
those that wait at its checkpoints, and a cancelled request is known as such before any work on it starts.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.protocol.messages import (
    Identifier,
    Malformed,
    Message,
    cancelled_id,
    kind_of,
    read_message,
)

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

LONGEST_HEADER_BYTES = 16 * 2**10
LONGEST_MESSAGE_BYTES = 128 * 2**20
LONGEST_BACKLOG_BYTES = 8 * 2**20
CHUNK_BYTES = 2**16

_HEADER_END = compiled_later(rb"\r?\n\r?\n")


@frozen()
class Wire:
    """The two ends of a connection. ``receive`` returns at most that many bytes, none at the end of input."""

    receive: Callable[[int], bytes]
    send: Callable[[bytes], None]


def take_standard_streams() -> Wire:
    """Return the wire of this process and leave descriptors 0 and 1 harmless: empty, and standard error.

    Afterwards a ``print``, a C library or a child process that inherits the descriptors cannot disturb the
    wire.
    """
    _fill_closed_descriptors()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (incoming, outgoing):
            msvcrt.setmode(descriptor, os.O_BINARY)
    sys.stdout = sys.stderr
    # The descriptors are read and written directly: a buffered reader that a thread is blocked in aborts the
    # interpreter when it shuts down.
    return Wire(partial(os.read, incoming), partial(_write_all, outgoing))


class Inbox:
    """Messages of the client in order of arrival, filled by a thread, emptied by the loop.

    The thread reads ahead, to know of the end and of cancellations before their turn; but no further than
    ``LONGEST_BACKLOG_BYTES``. The end is due when it is read, whatever the loop is busy with then.
    """

    def __init__(self, wire: Wire, on_end: Callable[[int], None]) -> None:
        """``on_end`` is called in the thread, with an exit code, when the client leaves or is gone."""
        self._frames = Frames(wire.receive)
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[Message | Malformed, int]] = deque()
        self._arrived = asyncio.Event()
        self._ended = False
        self._cancelled: set[Identifier] = set()
        self._backlog_bytes = 0
        self._room = threading.Condition()
        self._shut_down = False
        threading.Thread(target=self._read_all, name="wire", daemon=True).start()

    async def next(self) -> Message | Malformed | None:
        """Return the next message, None at the end of input."""
        while not self._queue:
            if self._ended:
                return None
            self._arrived.clear()
            # A message that came before this line would be announced by nothing.
            if not self._queue and not self._ended:
                await self._arrived.wait()
        message = self._queue[0][0]
        self.take(message)
        return message

    def empty(self) -> bool:
        """Return whether the queue is empty."""
        return not self._queue

    def waiting(self) -> tuple[Message | Malformed, ...]:
        """Return the messages that wait, in order of arrival; they stay in the queue."""
        with self._room:
            return tuple(message for message, _ in self._queue)

    def take(self, message: Message | Malformed) -> None:
        """Remove a message from the queue, to be handled now."""
        with self._room:
            at = next(at for at, (each, _) in enumerate(self._queue) if each is message)
            self._backlog_bytes -= self._queue[at][1]
            del self._queue[at]
            self._room.notify()

    def is_cancelled(self, identifier: Identifier) -> bool:
        """Return whether the sender has cancelled this request; the cancellation may still be queued."""
        return identifier in self._cancelled

    def forget_cancellation(self, identifier: Identifier) -> None:
        """Forget a cancellation whose turn has come."""
        self._cancelled.discard(identifier)

    def _read_all(self) -> None:
        failure: Exception | None = None
        try:
            while (body := self._frames.next()) is not None:
                self._receive(read_message(body), len(body))
        except Exception as error:  # noqa: BLE001 - whatever it is, report the end
            failure = error
        self._on_end(1)
        # Log after the end is certain, since a log that nobody reads may block, but before the loop is
        # notified, since this thread ends with it.
        if failure is not None:
            log.warning("The connection to the client ended: %s", failure)
        self._ended = True
        self._announce()

    def _receive(self, message: Message | Malformed, size: int) -> None:
        if not isinstance(message, Malformed):
            method = message.get("method")
            if method == "$/cancelRequest" and kind_of(message) == "notification":
                if (identifier := cancelled_id(message)) is not None:
                    self._cancelled.add(identifier)
            elif method == "shutdown" and kind_of(message) == "request":
                self._shut_down = True
            elif method == "exit":
                self._on_end(0 if self._shut_down else 1)
        with self._room:
            self._room.wait_for(lambda: self._backlog_bytes < LONGEST_BACKLOG_BYTES)
            self._backlog_bytes += size
            self._queue.append((message, size))
        self._announce()

    def _announce(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError:
            log.debug("A message came after the end.")


class Frames:
    """Splits the data of a connection into messages."""

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._buffer = bytearray()

    def next(self) -> bytes | None:
        """Return the body of the next message, None at the end of input.

        Raises ValueError when the header gives no usable length; nothing after that can be trusted.
        """
        while (end := _HEADER_END.search(self._buffer, 0, LONGEST_HEADER_BYTES)) is None:
            if len(self._buffer) > LONGEST_HEADER_BYTES:
                raise ValueError("a message has no header")
            if not self._fill():
                return None
        length = _content_length(bytes(self._buffer[: end.start()]))
        start = end.end()
        while len(self._buffer) < start + length:
            if not self._fill():
                return None
        body = bytes(memoryview(self._buffer)[start : start + length])
        del self._buffer[: start + length]
        return body

    def _fill(self) -> bool:
        data = self._receive(CHUNK_BYTES)
        self._buffer += data
        return bool(data)


class Outbox:
    """Writes to the client. A client that is gone ends the server instead of filling the log."""

    def __init__(self, wire: Wire, on_broken: Callable[[], None]) -> None:
        self._send = wire.send
        self._on_broken = on_broken
        self._closed = False

    def write(self, data: bytes) -> None:
        """Write one message completely."""
        if self._closed:
            return
        try:
            self._send(data)
        except OSError:
            self._closed = True
            self._on_broken()

    def close(self) -> None:
        """Write nothing any more."""
        self._closed = True


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _content_length(header: bytes) -> int:
    for line in header.splitlines():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = value.strip()
            if not length.isdigit() or len(length) > 12 or int(length) > LONGEST_MESSAGE_BYTES:
                shown = length[:20].decode("ascii", "replace")
                megabytes = LONGEST_MESSAGE_BYTES // 2**20
                raise ValueError(f"a message says it is {shown!r} bytes long; {megabytes} MiB are the most")
            return int(length)
    raise ValueError("a message has no Content-Length")


def _fill_closed_descriptors() -> None:
    """Open what a launcher closed, so that no file opened later becomes descriptor 0, 1 or 2."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
