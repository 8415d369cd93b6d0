"""A client that writes bytes: what no library would send, and leaving in every way there is."""

import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import psutil

from tests.protocol.editor import SERVER
from waza_language_server.project.uris import uri_of

PATIENCE_SECONDS = 60.0


class RawClient:
    """A server and what it says; leaving ``with`` kills it if it is still there."""

    def __init__(self, command: Sequence[str] = SERVER, *, reads: bool = True) -> None:
        """``reads=False`` leaves what the server says in the pipe, which holds only so much."""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self.messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.log = ""
        self._ids = itertools.count(1000)
        work = (self._read, self._read_log) if reads else (self._read_log,)
        self._readers = [threading.Thread(target=each, daemon=True) for each in work]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        for reader in self._readers:
            reader.join(PATIENCE_SECONDS)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None, **more: Any) -> None:
        """Send a notification, or a request when an ``id`` is given."""
        self.write(framed(message(method, params, **more)))

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its answer; other messages before it are dropped."""
        identifier = next(self._ids)
        self.send(method, params, id=identifier)
        while (answer := self.next()).get("id") != identifier:
            pass
        return answer

    def initialize(self, folder: Path | None = None, **params: Any) -> dict[str, Any]:
        """Introduce the client, with a folder open; return the answer."""
        answer = self.ask("initialize", introduction(folder, **params))
        self.send("initialized", {})
        return answer

    def next(self) -> dict[str, Any]:
        """Return the next message of the server."""
        return self.messages.get(timeout=PATIENCE_SECONDS)

    def response(self) -> dict[str, Any]:
        """Return the next message of the server that is an answer; others before it are dropped."""
        while "method" in (received := self.next()):
            pass
        return received

    def open(self, path: Path) -> None:
        """Open a file as a document."""
        self.write(framed(opened(path, path.read_text("utf-8"))))

    def end_of_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def family(self) -> list[psutil.Process]:
        """Return the server and everything that it has started."""
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]

    def _read(self) -> None:
        assert self.process.stdout is not None
        while header := self.process.stdout.readline():
            length = int(header.partition(b":")[2])
            while self.process.stdout.readline().strip():
                pass
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line.decode("utf-8", "replace")


def introduction(folder: Path | None = None, **params: Any) -> dict[str, Any]:
    """Return the parameters of ``initialize``."""
    folders = None if folder is None else [{"uri": uri_of(folder), "name": folder.name}]
    return {
        "processId": None,
        "rootUri": None,
        "workspaceFolders": folders,
        "capabilities": {},
        **params,
    }


def opened(path: Path, text: str) -> bytes:
    """Return the message that a file was opened, with another text than on disk perhaps."""
    document = {"uri": uri_of(path), "languageId": "yaml", "version": 1, "text": text}
    return message("textDocument/didOpen", {"textDocument": document})


def replaced(path: Path, text: str, version: int = 2) -> bytes:
    """Return the message that an open file has a whole new text."""
    document = {"uri": uri_of(path), "version": version}
    return message("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


def message(method: str, params: Any = None, **more: Any) -> bytes:
    """Return the body of a message."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()


def framed(*bodies: bytes) -> bytes:
    """Return bodies as they go over the wire."""
    return b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)


def running_server(program: str) -> tuple[str, ...]:
    """Return the command of a server in whose process a program is executed first."""
    start = "import sys; sys.argv[1:] = ['--stdio']\nfrom waza_language_server.cli import main\n"
    return (sys.executable, "-c", f"{program}\n{start}main()\n")
