"""The workers of ``--cluster local``: processes on this machine, which end with this one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from waza_engine.cluster.dask_processes import WORKS
from waza_engine.processes.programs import start_marked
from waza_engine.processes.scope import ProcessScope

SLOTS = 4
"""Trials at a time of each local worker: they wait for agents, and compute little."""
_ENDING_SECONDS = 5.0
_SHOWN_LINES = 5


@dataclass(slots=True)
class _LocalWorker:
    process: subprocess.Popen[bytes]
    has_begun: bool = False
    lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_SHOWN_LINES))


class LocalWorkers:
    """Worker processes on this machine, which end with this one."""

    def __init__(self, count: int, address: str, certificates: Path, folder: str) -> None:
        """``folder`` is for their files, so that those of a killed one are removed as well."""
        self._count = count
        self._command = [
            *(sys.executable, "-P", "-m", "waza_engine", "worker", address),
            *("--slots", str(SLOTS), "--tls", str(certificates)),
        ]
        self._environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": folder}
        self._scope = ProcessScope()
        self._workers: list[_LocalWorker] = []

    @property
    def are_gone(self) -> bool:
        """Return whether all have ended."""
        return all(worker.process.poll() is not None for worker in self._workers)

    def start(self) -> None:
        """Start all of them."""
        for _ in range(self._count):
            self._start()

    def replace_ended(self) -> None:
        """Start another worker for each that has ended, unless it did not even begin."""
        for worker in tuple(self._workers):
            if worker.process.poll() is not None and worker.has_begun:
                # Without memory for another one, the run ends when the last is gone.
                with suppress(OSError):
                    self._start()
                    self._workers.remove(worker)

    def last_words(self) -> str:
        """Return what a worker that ended has printed last."""
        lines = [line for worker in self._workers for line in worker.lines]
        return " ".join(lines) or "they end without a word."

    def close(self) -> None:
        """End them: first by a request, so that they remove their files."""
        self._scope.close()

    def _start(self) -> None:
        streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
        process = self._scope.start(
            lambda: start_marked(self._command, Path.cwd(), self._environment, **streams)
        )
        worker = _LocalWorker(process)
        self._workers.append(worker)
        threading.Thread(target=self._read, args=(worker, process.stdout), daemon=True).start()

    def _read(self, worker: _LocalWorker, output: IO[bytes]) -> None:
        with self._scope.holding(worker.process, _ENDING_SECONDS):
            for line in output:
                worker.has_begun = worker.has_begun or WORKS.encode() in line
                worker.lines.append(line.decode("utf-8", "replace").strip())
            worker.process.wait()
