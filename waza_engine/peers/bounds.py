"""The size limit for messages of a peer: a model provider, an MCP server, the program of an agent. Light.

Responses over HTTP are bounded by hooks for the client that a library is given, and not by a transport: a
client with a transport ignores the proxies of the environment.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 64_000_000
"""Decoded bytes that one peer may send in one turn of a conversation."""
LONGEST_MESSAGE_BYTES = 16_000_000
"""The most bytes of one message: a line, an event of a stream, or a body that is not a stream."""


class PeerError(Exception):
    """A message of a peer is rejected; the error completes a sentence that begins with the peer's name."""


class Intake:
    """Counts a peer's bytes. ``refused`` says why nothing more is read, "" while reading is allowed.

    ``on_refusal`` is called then, in the thread that reads: a library may wait for more of the rejected data.
    """

    def __init__(self, most: int | None = None) -> None:
        self.on_refusal: Callable[[], object] = lambda: None
        self._most = MOST_BYTES if most is None else most
        self._received = 0
        self.refused = ""

    def take(self, count: int) -> None:
        """Count bytes that have arrived. Raises ``PeerError`` when they are too many."""
        self._received += count
        if self._received > self._most:
            self.refuse(f"sent more than {_in_megabytes(self._most)}; the rest was not read")

    def refuse(self, why: str) -> NoReturn:
        """Read nothing more. Raises ``PeerError``."""
        self.refused = self.refused or why
        self.on_refusal()
        raise PeerError(why)


class LineReader:
    """Splits a peer's output into lines, none of which may be longer than a message."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._longest = LONGEST_MESSAGE_BYTES
        self._begun = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in a chunk, without their ends. Raises ``PeerError``."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for part in ended:
            self._add(part)
            lines.append(bytes(self._begun))
            self._begun.clear()
        self._add(rest)
        return lines

    def _add(self, part: bytes) -> None:
        self._begun += part
        if len(self._begun) > self._longest:
            self._intake.refuse(
                f"sent a message of more than {_in_megabytes(self._longest)}; the rest was not read"
            )


def refusal_in(error: BaseException | None) -> str:
    """Return why a message was rejected, when that is the cause of an error, "" otherwise."""
    while error is not None and not isinstance(error, PeerError):
        if isinstance(error, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", error)
            return next((found for inner in group.exceptions if (found := refusal_in(inner))), "")
        error = error.__cause__ or error.__context__
    return "" if error is None else str(error)


def _in_megabytes(count: int) -> str:
    return f"{count / 1_000_000:g} MB"


RequestHook = Callable[["httpx2.Request"], Awaitable[None]]


def bounded_hooks(
    intake_of: Callable[[], Intake], *on_request: RequestHook
) -> dict[str, list[Callable[..., Any]]]:
    """Return the ``event_hooks`` of a client that reads no more than its intake allows.

    ``intake_of`` is called in the task that sends a request. Bytes are counted after they are decompressed. A
    redirect to another scheme, host or port is rejected: the configured address names this server, and a
    redirect would take the prompt there, and perhaps the key. Reading raises ``PeerError``.
    """

    async def bound(response: httpx2.Response) -> None:
        intake = intake_of()
        _check_redirect(response, intake)
        if "," in response.headers.get("content-encoding", ""):
            # Each layer multiplies by a thousand, and all are removed before anything can be counted.
            intake.refuse("compressed its answer more than once; it was not read")
        # `aread`, `aiter_text` and `aiter_lines` of the response read through this method.
        response.aiter_bytes = _bounded(response, intake)

    return {"request": list(on_request), "response": [bound]}


def _bounded(response: httpx2.Response, intake: Intake) -> Callable[..., AsyncGenerator[bytes]]:
    read = response.aiter_bytes
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")

    async def aiter_bytes(chunk_size: int | None = None) -> AsyncGenerator[bytes]:
        lines = LineReader(intake) if is_stream else None
        body = Intake(MOST_BYTES if is_stream else LONGEST_MESSAGE_BYTES)
        async with aclosing(read(chunk_size)) as chunks:
            async for chunk in chunks:
                try:
                    if lines is not None:
                        lines.feed(chunk)
                    body.take(len(chunk))
                except PeerError as error:
                    intake.refuse(str(error))
                intake.take(len(chunk))
                yield chunk

    return aiter_bytes


def _check_redirect(response: httpx2.Response, intake: Intake) -> None:
    if not response.has_redirect_location:
        return
    asked = response.request.url
    try:
        target = asked.join(response.headers["location"])
        origin = target.copy_with(userinfo=b"", raw_path=b"/", fragment=None)
    except Exception:  # noqa: BLE001 - the library raises many kinds for an invalid address
        why = "redirects to an invalid address"
    else:
        if (target.scheme, target.host, target.port) == (asked.scheme, asked.host, asked.port):
            return
        why = f"redirects to `{str(origin).rstrip('/')}`, which is refused; configure that address"
    if response.request.method == "GET":
        # An MCP server without a stream of its own may redirect to its page, and still answer requests.
        raise PeerError(why)
    intake.refuse(why)
