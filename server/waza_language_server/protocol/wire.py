"""The wire: the two descriptors that carry messages, out of reach of everything else in the process.

Messages are read by one thread of their own, so that neither a busy loop nor a full pool of workers delays
them, and a request that its sender has cancelled is known as such before any work on it starts.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

Message = dict[str, Any]
LONGEST_HEADER_BYTES = 16 * 2**10
LONGEST_MESSAGE_BYTES = 512 * 2**20
CHUNK_BYTES = 2**16


@dataclass(frozen=True, slots=True)
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
    """Messages of the client in order of arrival, filled by a thread, emptied by the loop."""

    def __init__(self, wire: Wire) -> None:
        self._frames = Frames(wire.receive)
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Message | None] = asyncio.Queue()
        self._cancelled: set[str | int] = set()
        threading.Thread(target=self._read_all, name="wire", daemon=True).start()

    async def next(self) -> Message | None:
        """Return the next message, None at the end of input."""
        return await self._queue.get()

    def empty(self) -> bool:
        """Whether nothing has arrived that was not taken yet."""
        return self._queue.empty()

    def is_cancelled(self, message: Message) -> bool:
        """Whether the sender has cancelled this request already; the cancellation may still be waiting."""
        return "method" in message and message.get("id") in self._cancelled

    def forget_cancellation(self, message: Message) -> None:
        """Forget the cancellation that this message carries: its turn has come."""
        if message.get("method") == "$/cancelRequest":
            self._cancelled.discard(_cancelled_id(message))

    def _read_all(self) -> None:
        try:
            while (body := self._frames.next()) is not None:
                self._take(body)
        except (OSError, ValueError) as error:
            log.warning("The connection to the client ended: %s", error)
        self._post(None)

    def _take(self, body: bytes) -> None:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            log.warning("The client sent a message that is not JSON (%d bytes).", len(body))
            return
        if isinstance(message, dict):
            self._post(cast("Message", message))

    def _post(self, message: Message | None) -> None:
        if message is not None and message.get("method") == "$/cancelRequest":
            self._cancelled.add(_cancelled_id(message))
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, message)
        except RuntimeError:
            log.debug("A message came after the end.")


class Frames:
    """Cuts what comes through a connection into messages."""

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._buffer = bytearray()

    def next(self) -> bytes | None:
        """Return the body of the next message, None at the end of input.

        Raises ValueError when the header gives no usable length; nothing after that can be trusted.
        """
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > LONGEST_HEADER_BYTES:
                raise ValueError("a message has no header")
            if not self._fill():
                return None
        length = _content_length(bytes(self._buffer[:end]))
        start = end + 4
        while len(self._buffer) < start + length:
            if not self._fill():
                return None
        body = bytes(self._buffer[start : start + length])
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
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and 0 <= int(value) <= LONGEST_MESSAGE_BYTES:
            return int(value)
    raise ValueError("a message has no usable length")


def _cancelled_id(message: Message) -> str | int:
    params = message.get("params")
    known = cast("Message", params).get("id") if isinstance(params, dict) else None
    return known if isinstance(known, str | int) else ""


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
