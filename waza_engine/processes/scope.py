"""The programs of a run: they belong to it while it is active, and they all end with it.

Nothing inside a killed process can clean up after it. Where the engine has no supervisor (``supervisor.py``),
on macOS and in a program that uses the engine as a library, a small guard process does. It reads a pipe that
the system closes when the engine ends, and then kills the process groups that are still active.
"""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar

from waza_engine.processes.supervisor import is_supervised
from waza_engine.processes.trees import end_trees, kill_tree
from waza_engine.vocabulary import CANCELLED

# A shell is there on every system with process groups, and starts in a millisecond.
_SHELL = "/bin/sh"
_PROGRAM = """\
trap '' HUP INT TERM
groups=
while read -r sign group; do
  others=
  for each in $groups; do [ "$each" = "$group" ] || others="$others $each"; done
  groups=$others
  [ "$sign" = + ] && groups="$groups $group"
done
for each in $groups; do kill -9 "-$each" 2>/dev/null; done
"""
_LEAVE_SECONDS = 1.0


class Guard:
    """Watches over process groups, and runs while there are any. Thread-safe; nothing without a shell."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def watch(self, group: int) -> None:
        """Kill this group when the engine ends."""
        with self._lock:
            self._groups.add(group)
            if self._process is None and os.name != "nt" and not is_supervised():
                self._process = _started()
            self._tell("+", group)

    def release(self, group: int) -> None:
        """Forget a group that has ended: its number may soon be reused."""
        with self._lock:
            self._groups.discard(group)
            self._tell("-", group)
            if not self._groups:
                process, self._process = self._process, None
                _end(process)

    def _tell(self, sign: str, group: int) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(f"{sign} {group}\n".encode())


def _started() -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            [_SHELL, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
            bufsize=0,
        )
    except OSError:
        return None


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is None or process.stdin is None:
        return
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
