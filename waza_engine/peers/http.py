"""Responses over HTTP, read within the bound: hooks for the client that a library is handed.

Hooks, and no transport: a client that is given a transport ignores the proxies of the environment.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from waza_engine.peers import bounds
from waza_engine.peers.bounds import Intake, LineReader, PeerError

if TYPE_CHECKING:
    import httpx2

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
        body = Intake(bounds.MOST_BYTES if is_stream else bounds.LONGEST_MESSAGE_BYTES)
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
