"""A server that ``loaded_server.py`` started, with what clients use of a process that they started."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO

CAN_START = sys.platform == "linux"
"""Elsewhere a process that has loaded libraries cannot be counted on to fork."""
REPOSITORY = Path(__file__).parents[2]


class StartedServer:
    """The process of a server."""

    def __init__(self, pid: int, stdin: asyncio.StreamWriter, *readers: asyncio.StreamReader) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin = stdin
        self.stdout, self.stderr, exit_code = readers
        self._ended = asyncio.create_task(self._end(exit_code))

    async def wait(self) -> int:
        """Wait for the end, and return the exit code: that of a signal is negative."""
        return await asyncio.shield(self._ended)

    def terminate(self) -> None:
        """Ask for the end."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGTERM)

    async def _end(self, exit_code: asyncio.StreamReader) -> int:
        self.returncode = int(await exit_code.read())
        return self.returncode


async def start_server() -> StartedServer:
    """Start a server in the current folder, with the current environment."""
    pid, ours = _start()
    stdin = await _writer(os.fdopen(ours[0], "wb", buffering=0))
    readers = [await _reader(os.fdopen(descriptor, "rb", buffering=0)) for descriptor in ours[1:]]
    return StartedServer(pid, stdin, *readers)


def _start() -> tuple[int, list[int]]:
    """Start a server; return its process id, our ends of its streams and where its exit code will stand."""
    ours: list[int] = []
    theirs: list[int] = []
    for number in range(4):
        reader, writer = os.pipe()
        ours.append(writer if number == 0 else reader)
        theirs.append(reader if number == 0 else writer)
    request = json.dumps({"cwd": str(Path.cwd()), "env": dict(os.environ)}).encode()
    loaded = _loaded_server()
    loaded.sendall(len(request).to_bytes(8))
    socket.send_fds(loaded, [request], theirs)
    for descriptor in theirs:
        os.close(descriptor)
    return int.from_bytes(loaded.recv(8)), ours


def end_loaded_server() -> None:
    """End the process that starts servers, if there is one."""
    if _loaded_server.cache_info().currsize:
        _loaded_server().close()
        _loaded_server.cache_clear()


@cache
def _loaded_server() -> socket.socket:
    """Return the connection to the process that starts servers; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "tests.protocol.loaded_server", str(theirs.fileno())]
        subprocess.run(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=REPOSITORY, check=True
        )
    return ours


async def _writer(pipe: IO[bytes]) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return asyncio.StreamWriter(transport, protocol, reader, loop)


async def _reader(pipe: IO[bytes]) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
