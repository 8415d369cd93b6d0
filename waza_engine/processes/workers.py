"""Processes that work for the engine and may be lost: kept warm, limited in memory and time, then replaced.

A worker reads and writes JSON lines. First line in: its settings, with ``deadline_seconds`` and
``memory_bytes``. Then each request is answered by a line ``{"ready"}``, when it has been read, and as many
lines as the request asks answers for.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

import psutil

from waza_engine.processes.programs import NEW_GROUP_FLAGS
from waza_engine.processes.trees import kill_tree

_START_SECONDS = 20.0
_LOOK_SECONDS = 0.1
LIMITS_ITSELF = sys.platform not in ("darwin", "win32")
"""True if a process can limit its own memory; elsewhere the parent watches it."""


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """The program of a worker. ``command`` gets the memory limit in bytes; ``settings`` are sent first.

    ``grace_seconds`` is added to a deadline that it keeps itself. ``watched`` means that it cannot limit its
    own memory, so its parent watches it. One that is not ``limits_itself`` gets its limit of processor time
    from here. ``environment`` are its variables; by default it gets hardly any.
    """

    name: str
    command: Callable[[int], Sequence[str]]
    settings: Mapping[str, Any]
    grace_seconds: float = 0.0
    watched: bool = not LIMITS_ITSELF
    limits_itself: bool = True
    environment: Mapping[str, str] | None = None


class WorkerLostError(Exception):
    """The worker is of no use any more: it was too slow, took too much memory, or ended."""

    def __init__(self, why: Literal["slow", "memory", "crash"]) -> None:
        super().__init__(why)
        self.why = why


class WorkersClosedError(Exception):
    """The workers have been ended, or were ended while one was at work."""


class Worker:
    """One child process. Used by one thread at a time; ``kill`` may come from another."""

    def __init__(self, program: WorkerProgram, deadline: float, memory: int) -> None:
        """Start it. Raises ``OSError`` and the errors of the program's command."""
        self.program = program
        self._deadline = deadline
        self._memory = memory
        self.process = subprocess.Popen(
            list(program.command(memory)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=NEW_GROUP_FLAGS,
            env=_environment() if program.environment is None else dict(program.environment),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests: IO[bytes] = self.process.stdin
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_forward, args=(self.process.stdout, self._replies), daemon=True).start()
        self._send({"deadline_seconds": deadline, "memory_bytes": memory, **program.settings})

    def ask(
        self,
        request: Mapping[str, Any],
        answers: int,
        *,
        preparation_seconds: float = 0.0,
        deadline_seconds: float | None = None,
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the answers, each in time. Raises ``WorkerLostError``; kill the worker then.

        ``deadline_seconds`` may be shorter than that of the worker.
        ``preparation_seconds`` is the time for the request before the first deadline begins, besides the
        start of the interpreter and the reading of the request.
        """
        one = (deadline_seconds or self._deadline) + self.program.grace_seconds
        if not self.program.limits_itself:
            self._allow_processor_time(preparation_seconds + answers * one)
        self._send(request)
        patience = _START_SECONDS + preparation_seconds
        for number in range(answers + 1):
            reply = self._reply(patience)
            if number:
                yield reply
            patience = one

    def _allow_processor_time(self, seconds: float) -> None:
        """Limit the further processor time of the process, in case nothing is left to kill it."""
        if sys.platform == "linux":
            with contextlib.suppress(psutil.Error, OSError, ValueError):
                process = psutil.Process(self.process.pid)
                used = process.cpu_times()
                most = int(used.user + used.system + seconds + _START_SECONDS)
                process.rlimit(psutil.RLIMIT_CPU, (most, psutil.RLIM_INFINITY))

    def kill(self) -> None:
        """End the process with all it started."""
        kill_tree(self.process)
        with contextlib.suppress(OSError):
            self._requests.close()

    def _reply(self, patience: float) -> Mapping[str, Any]:
        end = time.monotonic() + patience
        look = _LOOK_SECONDS if self.program.watched else patience
        while True:
            left = end - time.monotonic()
            try:
                line = self._replies.get(timeout=max(0.0, min(left, look)))
            except queue.Empty:
                if left <= look:
                    raise WorkerLostError("slow") from None
            else:
                if not line.endswith(b"\n"):
                    raise WorkerLostError("crash")
                return json.loads(line)
            with contextlib.suppress(psutil.Error):
                if psutil.Process(self.process.pid).memory_info().rss > self._memory:
                    raise WorkerLostError("memory")

    def _send(self, message: Mapping[str, Any]) -> None:
        text = json.dumps(message, default=str)
        # A worker that died has closed its pipe; that shows as an empty reply.
        with contextlib.suppress(OSError, ValueError):
            self._requests.write(text.encode() + b"\n")
            self._requests.flush()


class WorkerPool:
    """Workers by program, started when first needed. Thread-safe; ``close`` ends them.

    ``deadline_seconds`` applies to one answer. At most ``workers`` are borrowed at once, others wait.
    """

    def __init__(self, *, deadline_seconds: float, workers: int, memory_bytes: int) -> None:
        self.deadline_seconds = deadline_seconds
        self._memory = memory_bytes
        self._turns = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._idle: dict[str, list[Worker]] = {}
        self._alive: set[Worker] = set()
        self._closed = False

    @contextlib.contextmanager
    def turn(self) -> Generator[None]:
        """Wait until fewer than the allowed number of callers are at work."""
        with self._turns:
            yield

    @contextlib.contextmanager
    def borrowed(self, program: WorkerProgram) -> Generator[Worker]:
        """Lend a worker; whatever is raised ends it. Raises ``WorkersClosedError`` and ``OSError``."""
        worker = self._take(program)
        try:
            yield worker
        except BaseException:
            self._discard(worker)
            if self._closed:
                raise WorkersClosedError from None
            raise
        with self._lock:
            if not self._closed:
                self._idle.setdefault(program.name, []).append(worker)

    def close(self) -> None:
        """End every worker, also those that are at work; can be called twice."""
        with self._lock:
            self._closed = True
            workers = list(self._alive)
            self._alive.clear()
            self._idle.clear()
        for worker in workers:
            worker.kill()

    def process_ids(self) -> list[int]:
        """Return the ids of the living workers."""
        with self._lock:
            return [worker.process.pid for worker in self._alive]

    def _take(self, program: WorkerProgram) -> Worker:
        with self._lock:
            if self._closed:
                raise WorkersClosedError
            idle = self._idle.get(program.name, [])
            while idle:
                worker = idle.pop()
                if worker.process.poll() is None:
                    return worker
                self._alive.discard(worker)
        worker = Worker(program, self.deadline_seconds, self._memory)
        with self._lock:
            if not self._closed:
                self._alive.add(worker)
                return worker
        worker.kill()
        raise WorkersClosedError

    def _discard(self, worker: Worker) -> None:
        worker.kill()
        with self._lock:
            self._alive.discard(worker)


def _environment() -> dict[str, str]:
    """Return an environment without secrets: the needs of an interpreter's start, mostly nothing."""
    needed = ("SYSTEMROOT",) if sys.platform == "win32" else ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {name: os.environ[name] for name in needed if name in os.environ}


def _forward(replies: IO[bytes], to: queue.SimpleQueue[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError), replies:
        for line in replies:
            to.put(line)
    to.put(b"")
