"""An MCP server as a child process: started, and ended with all it started, the way every program here is."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import anyio
import anyio.to_thread
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from waza_engine.processes.programs import start_marked
from waza_engine.processes.scope import ProcessScope
from waza_engine.processes.trees import kill_tree

_LEAVE_SECONDS = 0.5
_Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
_Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def started_server(
    server: Mapping[str, Any], workspace: Path, scope: ProcessScope
) -> AsyncGenerator[tuple[_Incoming, _Outgoing]]:
    """Start a ``stdio`` server of ``agent_servers`` and yield its streams; it is gone when the block ends.

    It inherits what every MCP client hands on (``PATH``, ``HOME``, …) and what its ``env`` says, so no key of
    a model. Raises ``OSError`` when it cannot be started.
    """
    process = _spawn(server, workspace)
    assert process.stdin is not None
    assert process.stdout is not None
    loop = asyncio.get_running_loop()
    to_client, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    reader = threading.Thread(target=_read, args=(process.stdout, to_client, loop), daemon=True)
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
                # A server that is asked to go by the end of its input gets a moment to do it.
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
) -> None:
    with contextlib.suppress(RuntimeError, OSError, ValueError), stream:
        for line in stream:
            if line.strip():
                loop.call_soon_threadsafe(_deliver, to_client, _message(line))
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(to_client.close)


def _deliver(
    to_client: MemoryObjectSendStream[SessionMessage | Exception], message: SessionMessage | Exception
) -> None:
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        to_client.send_nowait(message)


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
