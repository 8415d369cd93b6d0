"""A language client that only measures: one server process, push diagnostics, wall and CPU time per step."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from waza_engine.json_rpc import Endpoint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

PATIENCE_SECONDS = 120.0

CAPABILITIES: dict[str, Any] = {
    "textDocument": {
        "synchronization": {"dynamicRegistration": False},
        "publishDiagnostics": {"versionSupport": True},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "hover": {"contentFormat": ["markdown"]},
    },
    "workspace": {"configuration": True},
}


@dataclass(frozen=True)
class Cost:
    """What one step took: wall and CPU milliseconds of the server process."""

    wall_ms: float
    cpu_ms: float


class Client:
    """One server, started and initialized."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        settings: dict[str, Any],
        capabilities: dict[str, Any] = CAPABILITIES,
        options: dict[str, Any] | None = None,
    ) -> None:
        self._settings = settings
        self._published: queue.Queue[tuple[str, int]] = queue.Queue()
        """The documents of which diagnostics came, and the last line that these are about; -1 for none."""
        started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            # Users have compiled modules; a measuring shell may forbid Python to keep them.
            env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        )
        self._usage = psutil.Process(self._process.pid)
        self._writing = threading.Lock()
        self._endpoint = Endpoint(
            {
                "textDocument/publishDiagnostics": self._on_diagnostics,
                "workspace/configuration": self._on_configuration,
                "client/registerCapability": _accept,
                "window/workDoneProgress/create": _accept,
                "workspace/inlayHint/refresh": _accept,
                "workspace/codeLens/refresh": _accept,
                "workspace/diagnostic/refresh": _accept,
                "workspace/semanticTokens/refresh": _accept,
            },
            self._write,
        )
        threading.Thread(target=self._read, daemon=True).start()
        root = folder.as_uri()
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "bench"}],
                "capabilities": capabilities,
                "initializationOptions": options,
            },
        )
        self.start = Cost((time.perf_counter() - started) * 1000, self._cpu_ms())
        self._endpoint.notify("initialized", {})
        self._endpoint.notify("workspace/didChangeConfiguration", {"settings": settings})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its result."""
        return self.asked(method, params).result(PATIENCE_SECONDS)

    def asked(self, method: str, params: dict[str, Any]) -> Future[Any]:
        """Send a request and return its result to come."""
        return self._endpoint.request(method, params)

    def timed_request(self, method: str, params: dict[str, Any]) -> Cost:
        """Send a request and return what it took."""
        wall, cpu = time.perf_counter(), self._cpu_ms()
        self.request(method, params)
        return Cost((time.perf_counter() - wall) * 1000, self._cpu_ms() - cpu)

    def timed_diagnostics(self, uri: str, method: str, params: dict[str, Any]) -> Cost:
        """Send a notification and return what it took until the diagnostics of ``uri`` came."""
        return self.timed_first_and_all(uri, method, params, -1)[0]

    def timed_first_and_all(
        self, uri: str, method: str, params: dict[str, Any], last_line: int
    ) -> tuple[Cost, Cost]:
        """Return what it took until the first diagnostics came, and until some came for the last bad line."""
        while not self._published.empty():
            self._published.get_nowait()
        wall, cpu = time.perf_counter(), self._cpu_ms()
        self._endpoint.notify(method, params)
        first: Cost | None = None
        while True:
            published, line = self._published.get(timeout=PATIENCE_SECONDS)
            cost = Cost((time.perf_counter() - wall) * 1000, self._cpu_ms() - cpu)
            if published == uri:
                first = first or cost
                if line >= last_line:
                    return first, cost

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self._endpoint.notify(method, params)

    def busy_ms(self) -> float:
        """Return the processor time of the server so far in milliseconds: to the microsecond on Linux."""
        found = 0
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat"):
            found += int(path.read_text("utf-8").split()[0])
        return found / 1e6 if found else self._cpu_ms()

    def peak_memory_mib(self) -> float:
        """Return the most resident memory that the server process has had in MiB; today's off Linux."""
        status = Path(f"/proc/{self._process.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            return int(peak.split()[1]) / 1024
        return self._usage.memory_info().rss / 2**20

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()
        self._endpoint.shutdown()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps(message).encode()
        with self._writing:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        pipe, length = self._process.stdout, 0
        while line := pipe.readline():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
            elif not line.strip():
                self._endpoint.consume(json.loads(pipe.read(length)))

    def _cpu_ms(self) -> float:
        times = self._usage.cpu_times()
        return (times.user + times.system) * 1000

    def _on_diagnostics(self, params: dict[str, Any]) -> None:
        lines = (diagnostic["range"]["start"]["line"] for diagnostic in params["diagnostics"])
        self._published.put((params["uri"], max(lines, default=-1)))

    def _on_configuration(self, params: dict[str, Any]) -> list[Any]:
        return [self._settings.get(item.get("section", "")) for item in params["items"]]


def _accept(_params: Any) -> None:
    """Answer a request that needs no result."""
