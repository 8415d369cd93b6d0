"""Tools of MCP servers for an executor without an agent: connect, list, call, disconnect.

The connections last for one turn; a server keeps nothing from one turn to the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.message import SessionMessage

from waza_engine.mcp.event_loop import LoopThread
from waza_engine.mcp.servers import tool_display_name
from waza_engine.peers.bounds import Intake, LineReader, PeerError, bounded_hooks, refusal_in
from waza_engine.processes.programs import start_marked
from waza_engine.processes.scope import ProcessScope
from waza_engine.processes.trees import kill_tree

if TYPE_CHECKING:
    import httpx2


_LEAVE_SECONDS = 0.5
_LOOK_SECONDS = 1.0
_CHUNK_BYTES = 65_536
_Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
_Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def started_server(
    server: Mapping[str, Any], workspace: Path, scope: ProcessScope, intake: Intake
) -> AsyncGenerator[tuple[_Incoming, _Outgoing]]:
    """Start a ``stdio`` server of ``agent_servers`` and yield its streams; it ends with the block.

    The stream of one that sends more than ``intake`` allows ends there.

    It inherits the variables that every MCP client passes on (``PATH``, ``HOME``, …) and those of its
    ``env``, so no key of a model. Raises ``OSError`` when it cannot be started.
    """
    process = _spawn(server, workspace)
    assert process.stdin is not None
    assert process.stdout is not None
    loop = asyncio.get_running_loop()
    to_client, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    reader = threading.Thread(target=_read, args=(process.stdout, to_client, loop, intake), daemon=True)
    with scope.holding(process):
        reader.start()
        writer = asyncio.create_task(_write(process.stdin, from_client))
        try:
            yield incoming, outgoing
        finally:
            writer.cancel()
            with contextlib.suppress(OSError):
                process.stdin.close()
            try:
                # Give a server a moment to end by itself at the end of its input.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    await anyio.to_thread.run_sync(process.wait, _LEAVE_SECONDS)
            finally:
                kill_tree(process)
                for stream in (incoming, outgoing, to_client, from_client):
                    stream.close()


def _spawn(server: Mapping[str, Any], workspace: Path) -> subprocess.Popen[bytes]:
    command: str = server["command"]
    arguments: list[str] = list(server["args"])
    return start_marked(
        [shutil.which(command) or command, *arguments],
        server.get("cwd") or workspace,
        get_default_environment() | dict(server["env"]),
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _read(
    stream: IO[bytes],
    to_client: MemoryObjectSendStream[SessionMessage | Exception],
    loop: asyncio.AbstractEventLoop,
    intake: Intake,
) -> None:
    lines = LineReader(intake)
    with contextlib.suppress(PeerError, RuntimeError, OSError, ValueError, CancelledError), stream:
        while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
            intake.take(len(chunk))
            for line in lines.feed(chunk):
                # The next message is read after this one was taken, so that none wait in memory.
                if line.strip() and not _deliver(to_client, loop, _message(line)):
                    return
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(to_client.close)


def _deliver(
    to_client: MemoryObjectSendStream[SessionMessage | Exception],
    loop: asyncio.AbstractEventLoop,
    message: SessionMessage | Exception,
) -> bool:
    """Hand a message to the client and return whether it was taken: not when the connection has ended."""
    sending = to_client.send(message)
    try:
        taken = asyncio.run_coroutine_threadsafe(sending, loop)
    except RuntimeError:
        sending.close()
        return False
    while not loop.is_closed():
        with contextlib.suppress(TimeoutError):
            return taken.exception(_LOOK_SECONDS) is None
    return False


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _write(stream: IO[bytes], from_client: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with contextlib.suppress(OSError, ValueError):
        async for message in from_client:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            await anyio.to_thread.run_sync(_send, stream, line.encode())


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)
    stream.flush()


CONNECT_SECONDS = 30.0
# The library's word for a server that is gone.
_CLOSED = "Connection closed"

# Without a handler, Python would print the library's tracebacks in the middle of our output.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class McpError(Exception):
    """A server cannot be used; the message names it and is for the author of the suite."""


@dataclass(frozen=True, slots=True)
class McpResult:
    """A tool's result, and whether it is an error."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Connected:
    name: str
    client: Client
    tools: tuple[mcp_types.Tool, ...]
    seconds: float | None
    intake: Intake


class McpTools:
    """The tools of several servers, by the name that a model sees: ``server-tool``, as other agents do.

    ``stop`` may be called from any thread and ends a call that waits.
    """

    def __init__(
        self,
        servers: Mapping[str, Mapping[str, Any]],
        workspace: Path,
        scope: ProcessScope,
        deadline: float,
        stoppable: Callable[[Callable[[], None]], object] = lambda _stop: None,
    ) -> None:
        """Connect to all servers. ``deadline`` is in terms of ``time.monotonic``. Raises ``McpError``.

        ``stoppable`` gets ``stop`` before the first connection: a server may keep one waiting.
        """
        self._loop = LoopThread("mcp")
        self._scope = scope
        self._deadline = deadline
        self._found: dict[str, tuple[_Connected, mcp_types.Tool]] = {}
        self._serving: list[Future[None]] = []
        self._intakes = {name: Intake() for name in servers}
        stoppable(self.stop)
        try:
            waiting = {name: self._start(name, server, workspace) for name, server in servers.items()}
            for name, connecting in waiting.items():
                self._add(self._connected(name, connecting))
        except BaseException:
            self.stop()
            raise

    def listed(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return name, description and JSON Schema of the arguments of every tool."""
        return [(name, tool.description or "", tool.input_schema) for name, (_, tool) in self._found.items()]

    def call(self, name: str, arguments: Mapping[str, Any]) -> McpResult:
        """Call a tool that ``listed`` names; a server that breaks is a failed result."""
        server, tool = self._found[name]
        left = self._deadline - time.monotonic()
        seconds = left if server.seconds is None else min(left, server.seconds)
        future = self._loop.submit(server.client.call_tool(tool.name, dict(arguments)))
        server.intake.on_refusal = future.cancel
        try:
            result = future.result(max(0.0, seconds))
        except TimeoutError:
            future.cancel()
            return McpResult(f"the MCP server `{server.name}` did not answer in time", failed=True)
        except (CancelledError, Exception) as error:  # noqa: BLE001 - whatever a server does, the turn goes on
            if server.intake.refused:
                return McpResult(f"the MCP server `{server.name}` {server.intake.refused}", failed=True)
            if isinstance(error, CancelledError):
                return McpResult("the call was cancelled", failed=True)
            return McpResult(f"the MCP server `{server.name}` failed: {_reason(error)}", failed=True)
        return McpResult(_text(result), failed=result.is_error)

    def stop(self) -> None:
        """Disconnect and end the servers that were started; can be called twice."""
        for serving in self._serving:
            serving.cancel()
        self._loop.close()

    def _start(self, name: str, server: Mapping[str, Any], workspace: Path) -> Future[_Connected]:
        connected: Future[_Connected] = Future()
        self._intakes[name].on_refusal = connected.cancel
        serving = self._loop.submit(self._serve(name, server, workspace, connected))
        # A task that is stopped before it begins reports nothing by itself.
        serving.add_done_callback(lambda ended: ended.cancelled() and connected.cancel())
        self._serving.append(serving)
        return connected

    async def _serve(
        self, name: str, server: Mapping[str, Any], workspace: Path, connected: Future[_Connected]
    ) -> None:
        """Keep one connection in one task, from beginning to end."""
        try:
            intake = self._intakes[name]
            transport = _transport(server, workspace, self._scope, intake)
            async with Client(transport, mode="legacy", cache=None) as client:
                wanted = server.get("tools", ["*"])
                tools = tuple(
                    [tool async for tool in _all_tools(client) if "*" in wanted or tool.name in wanted]
                )
                timeout = server.get("timeout")
                connected.set_result(_Connected(name, client, tools, timeout and timeout / 1000, intake))
                await asyncio.Event().wait()
        except BaseException as error:
            if not connected.done():
                connected.set_exception(error)
            raise

    def _connected(self, name: str, connecting: Future[_Connected]) -> _Connected:
        seconds = min(CONNECT_SECONDS, self._deadline - time.monotonic())
        try:
            return connecting.result(max(0.0, seconds))
        except TimeoutError:
            raise McpError(f"the MCP server `{name}` did not start within {seconds:.0f} seconds") from None
        except (CancelledError, asyncio.CancelledError, Exception) as error:  # noqa: BLE001 - the libraries below raise anything
            if refused := self._intakes[name].refused or refusal_in(error):
                raise McpError(f"the MCP server `{name}` {refused}") from None
            if isinstance(error, CancelledError | asyncio.CancelledError):
                raise McpError(f"the MCP server `{name}` was stopped") from None
            reason = _reason(error)
            if reason == _CLOSED:
                reason = "it ended, or broke the connection, instead of answering; try it in a terminal"
            raise McpError(f"the MCP server `{name}` cannot be used: {reason}") from None

    def _add(self, server: _Connected) -> None:
        for tool in server.tools:
            self._found.setdefault(tool_display_name(server.name, tool.name), (server, tool))


def _transport(
    server: Mapping[str, Any], workspace: Path, scope: ProcessScope, intake: Intake
) -> AbstractAsyncContextManager[Any]:
    match server["type"]:
        case "stdio":
            return started_server(server, workspace, scope, intake)
        case "sse":
            factory = partial(_http_client, intake)
            return sse_client(server["url"], headers=dict(server["headers"]), httpx_client_factory=factory)
        case _:
            return _over_http(server, intake)


def _http_client(intake: Intake, *arguments: Any, **keywords: Any) -> httpx2.AsyncClient:
    client = create_mcp_http_client(*arguments, **keywords)
    client.event_hooks = bounded_hooks(lambda: intake)
    return client


@asynccontextmanager
async def _over_http(server: Mapping[str, Any], intake: Intake) -> AsyncGenerator[Any]:
    async with (
        _http_client(intake, headers=dict(server["headers"])) as http,
        streamable_http_client(server["url"], http_client=http) as streams,
    ):
        yield streams


async def _all_tools(client: Client) -> AsyncGenerator[mcp_types.Tool]:
    cursor: str | None = None
    for _ in range(100):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            yield tool
        cursor = page.next_cursor
        if not cursor:
            return


def _text(result: mcp_types.CallToolResult) -> str:
    parts = [
        block.text if isinstance(block, mcp_types.TextContent) else f"[{block.type}]"
        for block in result.content
    ]
    return "\n".join(parts)


def _reason(error: BaseException) -> str:
    """Return the innermost reason in one line, without the library's wording."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{place}"
    with contextlib.suppress(IndexError):
        return str(error).splitlines()[0][:300]
    return type(error).__name__
