"""The server as a process: messages go in as fast as it takes them."""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

from tests.protocol.fuzz.disk import SECRET
from tests.protocol.fuzz.findings import FoundError

Message = dict[str, Any]
_CHUNK_BYTES = 2**16
_LOG_TAIL_BYTES = 20_000


class Connection:
    """One server. ``ended`` tells that its output has ended, which nothing but its own end explains."""

    def __init__(self, root: Path) -> None:
        """``$ROOT`` in messages stands for ``root``, on both ways. Beside it temporary files may be made."""
        self._root = str(root).encode()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
        self._server = subprocess.Popen(
            [sys.executable, "-m", "waza_language_server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=root,
            env={**os.environ, "TMPDIR": str(root.parent)},
            bufsize=0,
            start_new_session=True,
        )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._input, self._output = self._server.stdin.fileno(), self._server.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._process = psutil.Process(self._server.pid)
        self._waiting = bytearray()
        self._received = bytearray()
        self._log_read = 0
        self.ended = False

    def send(self, body: bytes) -> None:
        """Send one message; it is on its way when ``receive`` is called."""
        body = body.replace(b"$ROOT", self._root)
        self._waiting += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    @property
    def is_sending(self) -> bool:
        """Whether something waits until the server reads on."""
        return bool(self._waiting)

    def receive(self, seconds: float) -> list[Message]:
        """Return what has come; waits at most so long for the first."""
        outgoing = [self._input] if self._waiting else []
        readable, writable, _ = select.select([self._output], outgoing, [], seconds)
        if writable:
            try:
                del self._waiting[: os.write(self._input, self._waiting[:_CHUNK_BYTES])]
            except BlockingIOError:
                pass
            except OSError:
                self._waiting.clear()
        if not readable:
            return []
        data = os.read(self._output, _CHUNK_BYTES)
        self.ended = self.ended or not data
        self._received += data
        return self._messages()

    def _messages(self) -> list[Message]:
        found: list[Message] = []
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            header = bytes(self._received[:end])
            length = int(header.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(self._received) < end + 4 + length:
                break
            body = self._received[end + 4 : end + 4 + length]
            if SECRET.encode() in body:
                raise FoundError("outside", f"read outside of the workspace: {body.decode()[-1000:]}")
            found.append(json.loads(body.replace(self._root, b"$ROOT")))
            del self._received[: end + 4 + length]
        return found

    def resident_bytes(self) -> int:
        """Return the memory of the server."""
        try:
            return self._process.memory_info().rss
        except psutil.Error:
            return 0

    def new_log(self) -> str:
        """Return what the server has logged since the last call, the end of it if that is long."""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(self._log_read, size - _LOG_TAIL_BYTES))
        self._log_read = size
        return self._log.read().decode("utf-8", "replace")

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, None when the server has not ended in time."""
        try:
            return self._server.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End the server and what it has started, whatever state they are in."""
        with contextlib.suppress(psutil.Error):
            for process in (*self._process.children(recursive=True), self._process):
                with contextlib.suppress(psutil.Error):
                    process.kill()
        self._server.wait()
        for stream in (self._server.stdin, self._server.stdout, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
