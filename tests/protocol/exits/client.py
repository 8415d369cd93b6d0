"""A client of its own process, so that it can be killed: ``python client.py`` with a plan on standard input.

It starts a server, brings it to the moment of the plan, ends it in the way of the plan, and tells on standard
output. Then it stays, with all its pipes open, until its own input ends: nothing may depend on its leaving.
Nothing is imported that takes long to load.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

STARTED_WITHIN_SECONDS = 60
WITHOUT_ENGINE = frozenset({"spawned", "introduced", "idle"})
"""Moments at which nothing was done yet that needs the engine."""
ENDED_WITHIN_SECONDS = 60


def main() -> None:
    """Carry out the plan: see ``ending.Plan`` for what its words mean."""
    plan = json.loads(sys.stdin.readline())
    server = _Server(Path(plan["folder"]))
    _reach(server, plan)
    time.sleep(plan["delay"])
    _end(server, plan["way"], plan["moment"])
    sys.stdin.read()


class _Server:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "waza_language_server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )
        self.answered = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def request(self, identifier: str, method: str, params: Any) -> None:
        self._write({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})

    def notify(self, method: str, params: Any) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps(message).encode()
        try:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self.process.stdin.flush()
        except OSError:
            tell("the server is gone")

    def _read(self) -> None:
        assert self.process.stdout is not None
        while os.read(self.process.stdout.fileno(), 2**16):
            self.answered.set()


def _reach(server: _Server, plan: dict[str, Any]) -> None:
    """Bring the server to the moment of the plan."""
    moment, root = plan["moment"], server.folder.as_uri()
    if moment == "spawned":
        return
    server.request(
        "initialize",
        "initialize",
        {"processId": os.getpid(), "rootUri": root, "capabilities": {}, "workspaceFolders": None},
    )
    if moment == "introduced":
        return
    server.answered.wait(STARTED_WITHIN_SECONDS)
    server.notify("initialized", {})
    if moment == "idle":
        return
    if moment == "opened":
        text = (server.folder / "eval.yaml").read_text("utf-8").replace("type: text", "type: unheard_of")
        item = {"uri": f"{root}/eval.yaml", "languageId": "yaml", "version": 1, "text": text}
        server.notify("textDocument/didOpen", {"textDocument": item})
        return
    target = {"suite": str(server.folder / "eval.yaml")}
    server.request("run", "workspace/executeCommand", {"command": "waza.run", "arguments": [target]})
    if moment == "started":
        return
    _wait_for_programs(server.folder, plan["programs"])
    if moment == "canceled":
        if plan["cancels_request"]:
            server.notify("$/cancelRequest", {"id": "run"})
        else:
            server.request("cancel", "workspace/executeCommand", {"command": "waza.cancel", "arguments": []})


def _wait_for_programs(folder: Path, names: list[str]) -> None:
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while not all((folder / f"{name}.started").exists() for name in names):
        if time.monotonic() > deadline:
            tell("the programs of the suite did not start")
            return
        time.sleep(0.01)


def _end(server: _Server, way: str, moment: str) -> None:
    if way == "shutdown":
        server.request("shutdown", "shutdown", None)
        server.notify("exit", None)
    elif way == "exit":
        server.notify("exit", None)
    elif way == "end of input":
        server.close()
    elif way == "SIGTERM":
        server.process.terminate()
    elif way == "kill server":
        server.process.kill()
    elif way == "kill engine":
        _kill_engine(server.process.pid, moment)
    tell("ended")
    if way == "kill client":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "kill engine":
        # The server goes on; the engine's programs are looked for first.
        sys.stdin.readline()
        server.request("shutdown", "shutdown", None)
        server.notify("exit", None)
        tell("ended")
    try:
        tell(f"exit code {server.process.wait(ENDED_WITHIN_SECONDS)}")
    except subprocess.TimeoutExpired:
        tell("no exit code")


def _kill_engine(server: int, moment: str) -> None:
    """Kill the engine; one that the moment has brought about, as soon as it is there."""
    deadline = time.monotonic() + STARTED_WITHIN_SECONDS
    while True:
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server)], capture_output=True, check=False)
        children = found.stdout.split()
        if children or moment in WITHOUT_ENGINE or time.monotonic() > deadline:
            break
    for child in children:
        os.kill(int(child), signal.SIGKILL)


def tell(text: str) -> None:
    """Write a line for the harness."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
