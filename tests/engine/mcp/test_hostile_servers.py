"""An MCP server on the network that sends too much or sends us elsewhere costs one plain sentence."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.hostile_peers import JSON, STREAM, HostilePeer, bomb, hostile_peer, without_end
from waza_engine.mcp.mcp_client import McpError, McpTools
from waza_engine.peers import bounds
from waza_engine.processes.scope import ProcessScope

CAPABLE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "x", "version": "1"},
}
TOOL = {"name": "look", "inputSchema": {"type": "object"}}
BOMB = (
    b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
)
PROGRESS = (
    b'data: {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}\n\n'
)
TOO_LONG, TOO_LONG_MESSAGE, TOO_MUCH = (
    "sent more than 0.05 MB; the rest was not read",
    "sent a message of more than 0.05 MB; the rest was not read",
    "sent more than 0.2 MB; the rest was not read",
)
ENDLESS: list[tuple[Callable[[], Iterable[bytes]], str]] = [
    (lambda: without_end(JSON, b'{"jsonrpc": '), TOO_LONG),
    (lambda: without_end(STREAM, PROGRESS * 10), TOO_MUCH),
    (lambda: without_end(STREAM, b": \n" * 300), TOO_MUCH),
    (lambda: without_end(STREAM, b"data: " + b"y" * 900), TOO_LONG_MESSAGE),
    (lambda: [BOMB, bomb(1)], TOO_LONG),
]
NAMES = ["a body", "messages", "comments", "a line", "a compressed bomb"]


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_BYTES", 200_000)
    monkeypatch.setattr(bounds, "LONGEST_MESSAGE_BYTES", 50_000)


def connect(peer: HostilePeer, workspace: Path, kind: str = "http") -> McpTools:
    server = {
        "type": kind,
        "url": f"{peer.url}/mcp",
        "headers": {"Authorization": "Bearer t"},
        "tools": ["*"],
    }
    return McpTools({"x": server}, workspace, ProcessScope(), time.monotonic() + 30)


def answering(**results: Any) -> Callable[[bytes], Iterable[bytes]]:
    """Answer requests by their method, written with `_`; a function is called for its pieces."""
    known: dict[str, Any] = {"initialize": CAPABLE, "tools_list": {"tools": [TOOL]}, **results}

    def respond(request: bytes) -> Iterable[bytes]:
        body = request.partition(b"\r\n\r\n")[2]
        message = json.loads(body) if body else {}
        result = known.get(message.get("method", "").replace("/", "_"))
        if callable(result):
            return cast("Iterable[bytes]", result())
        if result is None:
            return [b"HTTP/1.1 202 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]
        return [JSON, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()]

    return respond


@pytest.mark.parametrize(("respond", "said"), ENDLESS, ids=NAMES)
def test_a_server_that_sends_without_end_when_it_is_greeted_is_refused(
    respond: Callable[[], Iterable[bytes]], said: str, tmp_path: Path
) -> None:
    with hostile_peer(lambda _: respond()) as peer:
        with pytest.raises(McpError) as caught:
            connect(peer, tmp_path)
        assert str(caught.value) == f"the MCP server `x` {said}"
    assert peer.sent < 20_000_000


@pytest.mark.parametrize(("respond", "said"), ENDLESS, ids=NAMES)
def test_an_answer_without_end_is_a_failed_call(
    respond: Callable[[], Iterable[bytes]],
    said: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.CRITICAL)
    with hostile_peer(answering(tools_call=respond)) as peer:
        tools = connect(peer, tmp_path)
        result = tools.call("x-look", {})
        tools.stop()
    assert (result.text, result.failed) == (f"the MCP server `x` {said}", True)
    assert peer.sent < 20_000_000
    assert capfd.readouterr().err == ""


def test_a_list_of_tools_that_never_ends_is_refused(tmp_path: Path) -> None:
    page = {"tools": [TOOL | {"description": "y" * 40_000}], "nextCursor": "more"}
    with hostile_peer(answering(tools_list=page)) as peer, pytest.raises(McpError, match=TOO_MUCH):
        connect(peer, tmp_path)


@pytest.mark.parametrize("kind", ["http", "sse"])
@pytest.mark.parametrize(
    "location",
    ["{other}/mcp", "http://localhost:{port}/mcp", "https://127.0.0.1:{port}/mcp"],
    ids=["port", "name", "scheme"],
)
def test_a_redirect_to_another_server_takes_the_headers_nowhere(
    kind: str, location: str, tmp_path: Path
) -> None:
    def redirect(_: bytes) -> Iterable[bytes]:
        target = location.format(other=other.url, port=peer.url.rpartition(":")[2])
        return [
            f"HTTP/1.1 307 X\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        ]

    with hostile_peer(answering()) as other, hostile_peer(redirect) as peer:
        with pytest.raises(McpError, match=r"the MCP server `x` redirects to `http.*`, which is refused"):
            connect(peer, tmp_path, kind)
        assert other.requests == []
        assert len(peer.requests) == 1


def test_a_server_that_shows_its_page_in_place_of_a_stream_can_be_used(tmp_path: Path) -> None:
    answers = answering(tools_call={"content": [{"type": "text", "text": "seen"}]})
    asked = threading.Event()

    def respond(request: bytes) -> Iterable[bytes]:
        if request.startswith(b"GET"):
            asked.set()
            return [b"HTTP/1.1 302 X\r\nLocation: https://example.com/\r\nContent-Length: 0\r\n\r\n"]
        # What ends the session, and is no message, is answered without a body.
        head, *body = answers(request)
        return [head.replace(b"\r\n\r\n", b"\r\nMcp-Session-Id: s\r\n\r\n"), *body]

    def both(request: bytes) -> Iterable[bytes]:
        return answers(request) if b"notifications/" in request else respond(request)

    with hostile_peer(both) as peer:
        tools = connect(peer, tmp_path)
        assert asked.wait(30)
        assert tools.call("x-look", {}).text == "seen"
        tools.stop()


def test_a_stream_that_never_says_where_to_ask_is_refused(tmp_path: Path) -> None:
    with (
        hostile_peer(lambda _: without_end(STREAM, b": \n" * 300)) as peer,
        pytest.raises(McpError, match=TOO_MUCH),
    ):
        connect(peer, tmp_path, "sse")
    assert peer.sent < 20_000_000
