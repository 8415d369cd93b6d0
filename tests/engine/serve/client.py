"""The engine as an editor starts it: a child process that speaks JSON-RPC, one message a line."""

import contextlib
import itertools
import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import psutil

from tests.engine.suites import present

PATIENCE_SECONDS = 60.0


class Engine:
    """A running ``waza-engine serve``; leaving ``with`` closes its input and waits for its end."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "waza_engine", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.lines: list[bytes] = []
        self._ids = itertools.count(1)
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> float:
        """Close the input and return how many seconds the end took."""
        started = time.monotonic()
        present(self.process.stdin).close()
        self.process.wait(PATIENCE_SECONDS)
        return time.monotonic() - started

    def until_it_has_descendants(self) -> list[psutil.Process]:
        """Wait for the first processes that the engine starts, and return them."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := self.descendants()):
            assert time.monotonic() < deadline, "the engine has started nothing"
            time.sleep(0.01)
        return found

    def kill(self) -> None:
        """End the engine as the system does when memory runs out, and all that it had started."""
        started = self.descendants()
        family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        for process in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        # Its guard ends the rest, the engine itself first.
        psutil.wait_procs(family, PATIENCE_SECONDS)

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its answer; other messages are kept for ``next_event``."""
        identifier = next(self._ids)
        self.write(json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}))
        held: list[dict[str, Any]] = []
        while True:
            message = self.next_message()
            if message.get("id") == identifier:
                for other in held:
                    self.messages.put(other)
                return message
            held.append(message)

    def run(self, path: Path, **params: Any) -> str:
        return str(self.request("eval.run", path=str(path), **params)["result"]["run_id"])

    def next_message(self) -> dict[str, Any]:
        return self.messages.get(timeout=PATIENCE_SECONDS)

    def next_event(self) -> dict[str, Any]:
        message = self.next_message()
        assert message["method"] == "run.event", message
        return dict(message["params"])

    def events_until(self, kind: str, **values: Any) -> list[dict[str, Any]]:
        """Return the events up to the first of a kind that has these values."""
        events: list[dict[str, Any]] = []
        while True:
            events.append(self.next_event())
            if events[-1]["kind"] == kind and values.items() <= events[-1].items():
                return events

    def descendants(self) -> list[psutil.Process]:
        """Return what the engine has started: not its guard, nor the engine itself below that."""
        front = psutil.Process(self.process.pid)
        found: list[psutil.Process] = []
        for process in front.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.cmdline() != front.cmdline():
                    found.append(process)
        return found

    def _read(self) -> None:
        for line in present(self.process.stdout):
            self.lines.append(line)
            self.messages.put(json.loads(line))
