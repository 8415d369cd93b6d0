"""An MCP server as a child process: started, and ended with all it started, the way every program here is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import anyio
import anyio.to_thread
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from waza_engine.peers.bounds import Intake, LineReader, PeerError
from waza_engine.processes.programs import start_marked
from waza_engine.processes.scope import ProcessScope
from waza_engine.processes.trees import kill_tree

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
