"""A peer that sends whatever a test wants, without end if need be, over a loopback connection.

Each connection gets one response: the pieces of an iterator, until the other side has enough. ``sent`` counts
the bytes that were taken::

    with hostile_peer(lambda request: endless_lines()) as peer:
        ...  # point the client at peer.url
    assert peer.sent < 1_000_000
"""

import itertools
import re
import socket
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
Respond = Callable[[bytes], Iterable[bytes]]


@dataclass
class HostilePeer:
    """A running peer: its address, the requests that came, head and body, and how much it could send."""

    url: str
    requests: list[bytes] = field(default_factory=list[bytes])
    sent: int = 0


@contextmanager
def hostile_peer(respond: Respond) -> Generator[HostilePeer]:
    """Give a peer that answers every request as the function says, and goes when the block ends."""
    closed = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        peer = HostilePeer(f"http://127.0.0.1:{server.getsockname()[1]}")

        def serve() -> None:
            with suppress(OSError):
                while not closed.is_set():
                    connection, _ = server.accept()
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                request = _request(connection)
                peer.requests.append(request)
                for piece in respond(request):
                    if closed.is_set():
                        return
                    connection.sendall(piece)
                    peer.sent += len(piece)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield peer
        finally:
            closed.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


def without_end(head: bytes, piece: bytes) -> Iterator[bytes]:
    """Yield a head and then the same piece for ever."""
    return itertools.chain((head,), itertools.repeat(piece))


def event(text: str) -> bytes:
    """Return the event of a stream with a piece of an answer."""
    return f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{text}"}}}}]}}\n\n'.encode()


def bomb(megabytes: int) -> bytes:
    """Return so many million zeros, compressed a thousandfold."""
    packing = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    return b"".join(packing.compress(bytes(1_000_000)) for _ in range(megabytes)) + packing.flush()


def _request(connection: socket.socket) -> bytes:
    read = b""
    while b"\r\n\r\n" not in read:
        if not (more := connection.recv(65_536)):
            return read
        read += more
    head, _, body = read.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    while length is not None and len(body) < int(length[1]) and (more := connection.recv(65_536)):
        body += more
    return head + b"\r\n\r\n" + body
