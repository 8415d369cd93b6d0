"""The programs of a run: they belong to it while it is active, and they all end with it."""

from __future__ import annotations

import contextlib
import errno
import subprocess
import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar

from waza_engine.processes.guard import Guard
from waza_engine.processes.trees import end_trees, kill_tree
from waza_engine.vocabulary import CANCELLED


class ProcessScope:
    """The active programs of a run: cancelling ends them all immediately.

    When the engine itself is killed, its guard ends them.
    """

    def __init__(self) -> None:
        self._guard = Guard()
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._starting = threading.Lock()
        self._processes: dict[subprocess.Popen[bytes], float] = {}
        self._closed = False

    @contextlib.contextmanager
    def holding(self, process: subprocess.Popen[bytes], grace_seconds: float = 0.0) -> Generator[None]:
        """Register a process during the block; one that comes too late is ended immediately.

        One with ``grace_seconds`` is asked to end and has so long to do it before it is killed.
        """
        with self._lock:
            self._processes[process] = grace_seconds
            late = self._closed
        self._guard.watch(process.pid)
        if late:
            kill_tree(process)
        try:
            yield
        finally:
            with self._lock:
                self._processes.pop(process, None)
            self._guard.release(process.pid)

    def start(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start a program that is registered before the scope can be closed, so that none is missed.

        The caller keeps it with ``holding``. Raises ``OSError`` when the scope is closed already.
        """
        with self._starting:
            if self._closed:
                raise OSError(errno.ECANCELED, CANCELLED)
            process = start()
            with self._lock:
                self._processes[process] = 0.0
        return process

    def close(self) -> None:
        """End every process, and each one that is still to come; can be called twice.

        A second caller waits until the first has ended them.
        """
        with self._closing:
            with self._starting, self._lock:
                self._closed = True
                processes = dict(self._processes)
            end_trees(processes)


current_scope: ContextVar[ProcessScope | None] = ContextVar("current_scope", default=None)
