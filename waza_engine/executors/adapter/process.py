"""The process of a command-line agent: its output is handed over as it arrives, and it always ends.

It ends with its children: when it has answered, at its time limit, or when the run is cancelled. It is asked
to end first and killed two seconds later at the latest.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Protocol

from waza_engine.executors.base import Cancellation
from waza_engine.processes.programs import start_program
from waza_engine.processes.scope import ProcessScope
from waza_engine.processes.trees import end_trees

ENDING_SECONDS = 1.2
_LINGERING_SECONDS = 2.0
_PIPE_SECONDS = 1.0
_STDERR_BYTES = 8192
_CHUNK_BYTES = 65536


class Sink(Protocol):
    """Reads the output of a program. Its methods are never called at the same time."""

    @property
    def lets_it_finish(self) -> bool:
        """Return whether a program that has answered may end by itself."""
        ...

    def feed(self, chunk: bytes) -> bool:
        """Process more output; return whether enough is known, and the rest can be dropped."""
        ...

    def end(self) -> None:
        """Handle the end of the output."""
        ...


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Time limits of a program in seconds: for all of it, and for its first output (0 is no limit)."""

    seconds: float
    first_output_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``exit_code`` is None when it had to be killed; a signal N counts as 128 + N.

    ``how``: it ``finished`` its output or had written enough, it exceeded its time (``late``), it was
    ``silent`` for too long, or the run was ``cancelled``. ``stderr`` is the end of its standard error.
    """

    how: Literal["finished", "late", "silent", "cancelled"]
    exit_code: int | None
    stderr: str


def run_agent(
    command: Sequence[str],
    sink: Sink,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    stdin: str | None,
    limits: AgentLimits,
    cancellation: Cancellation,
    scope: ProcessScope,
) -> Ended:
    """Run a program until it has answered or must end; it and its children have ended on return.

    Raises ``OSError`` and ``ValueError`` when it cannot be started.
    """
    process = scope.start(lambda: start_program(command, cwd, environment, stdin))
    with scope.holding(process, ENDING_SECONDS):
        return _Run(process, sink).until_it_ends(limits, cancellation)


class _Run:
    def __init__(self, process: subprocess.Popen[bytes], sink: Sink) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._sink = sink
        self._lock = threading.Lock()
        self._enough = False
        self._closed = False
        self._began = threading.Event()
        self._done = threading.Event()
        self._stderr = bytearray()
        self._threads = [
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for thread in (*self._threads, threading.Thread(target=self._watch, daemon=True)):
            thread.start()

    def until_it_ends(self, limits: AgentLimits, cancellation: Cancellation) -> Ended:
        withdraw = cancellation.on_request(self._wake)
        deadline = time.monotonic() + limits.seconds
        try:
            how = self._wait(limits, deadline, cancellation)
            if how == "finished" and (self._sink.lets_it_finish or not self._enough):
                # An agent that has answered may still save its session.
                linger = min(_LINGERING_SECONDS, max(0.5, deadline - time.monotonic()))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(linger)
            if cancellation.requested:
                how = "cancelled"
        finally:
            withdraw()
            killed = self._process.poll() is None
            end_trees({self._process: ENDING_SECONDS})
        for thread in self._threads:
            thread.join(_PIPE_SECONDS)
        with self._lock:
            if not self._closed and not self._enough:
                self._sink.end()
            self._closed = True
        code = self._process.returncode
        if killed and how == "finished":
            code = None
        stderr = bytes(self._stderr).decode("utf-8", "replace")
        return Ended(how, 128 - code if code is not None and code < 0 else code, stderr)

    def _wait(
        self, limits: AgentLimits, deadline: float, cancellation: Cancellation
    ) -> Literal["finished", "late", "silent", "cancelled"]:
        first = limits.first_output_seconds
        if 0 < first < limits.seconds and not self._began.wait(first) and not cancellation.requested:
            return "silent"
        self._done.wait(max(0.0, deadline - time.monotonic()))
        if cancellation.requested:
            return "cancelled"
        return "finished" if self._done.is_set() else "late"

    def _wake(self) -> None:
        self._began.set()
        self._done.set()

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
                self._began.set()
                with self._lock:
                    if not self._closed and not self._enough:
                        self._enough = self._sink.feed(chunk)
                        if self._enough:
                            self._done.set()
        self._wake()

    def _read_errors(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
                self._stderr += chunk
                del self._stderr[:-_STDERR_BYTES]

    def _watch(self) -> None:
        # A child of the program may hold its output open after it has ended.
        self._process.wait()
        self._threads[0].join(_PIPE_SECONDS)
        self._wake()
