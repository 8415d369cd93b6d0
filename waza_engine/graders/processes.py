"""Child processes of graders: bounded in time and output, and never left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from waza_engine.graders.guard import Guard
from waza_engine.processes.supervisor import end_orphans

OUTPUT_LIMIT_BYTES = 1_000_000
# On Windows a child gets its own process group by a flag; elsewhere `start_new_session` does it.
NEW_GROUP_FLAGS: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_PIPE_GRACE_SECONDS = 1.0
_MARK = "WAZA_PROGRAM"
_marks: weakref.WeakKeyDictionary[subprocess.Popen[bytes], str] = weakref.WeakKeyDictionary()
_going_on: weakref.WeakSet[object] = weakref.WeakSet()
_beginning = threading.Lock()


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: its exit code (None when it was killed for its time) and what it wrote."""

    exit_code: int | None
    stdout: str
    stderr: str
    timed_out: bool = False


class ProcessScope:
    """The programs that a run has started and that still go on: cancelling ends them all at once.

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
        """Keep a process while the block lasts; one that comes too late is ended at once.

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
        """Start a program that is known before the scope can be closed, so that none slips through.

        The caller keeps it with ``holding``. Raises ``OSError`` when the scope is closed already.
        """
        with self._starting:
            if self._closed:
                raise OSError(errno.ECANCELED, "the run was cancelled")
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


def run_bounded(
    command: Sequence[str],
    *,
    stdin: str,
    timeout_seconds: float,
    cwd: Path,
    environment: Mapping[str, str],
    without: Collection[str] = (),
) -> Finished:
    """Run a program without a shell; kill it with its children when the time is over.

    Of each output stream one million bytes are kept, the rest is read and dropped. Raises ``OSError`` when
    the program cannot be started. A program belongs to the scope of the run that is current in this thread.
    It inherits the environment, but not the variables that ``without`` names.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    scope = current_scope.get()

    def start() -> subprocess.Popen[bytes]:
        return start_program(command, cwd, {**inherited, **environment}, stdin)

    process = start() if scope is None else scope.start(start)
    assert process.stdout is not None
    assert process.stderr is not None
    stdout, stderr = _Reader(process.stdout), _Reader(process.stderr)
    timed_out = False
    try:
        with contextlib.nullcontext() if scope is None else scope.holding(process):
            process.wait(timeout_seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        # A child may hold the pipes after its parent ended; wait for the output a moment, not for the child.
        deadline = time.monotonic() + (0 if timed_out else _PIPE_GRACE_SECONDS)
        stdout.join(max(0.0, deadline - time.monotonic()))
        stderr.join(max(0.0, deadline - time.monotonic()))
        kill_tree(process)
    stdout.join(_PIPE_GRACE_SECONDS)
    stderr.join(_PIPE_GRACE_SECONDS)
    return Finished(None if timed_out else process.returncode, stdout.text, stderr.text, timed_out)


def start_program(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str | None
) -> subprocess.Popen[bytes]:
    """Start a program without a shell, in a process group of its own, its output in pipes.

    ``stdin`` is sent while it runs; None gives it nothing to read. Raises ``OSError`` when it cannot be
    started.
    """
    process = start_marked(
        command,
        cwd,
        environment,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if stdin is not None and process.stdin is not None:
        _Writer(process.stdin, stdin.encode("utf-8", "replace")).start()
    return process


def start_marked(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, stdin: int, stderr: int
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, so that ``kill_tree`` finds all that it starts.

    ``stdin`` and ``stderr`` are as ``subprocess`` has them. Raises ``OSError`` when it cannot be started.
    """
    mark = secrets.token_hex(8)
    with _beginning:
        process = subprocess.Popen(
            list(command),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=cwd,
            env={**environment, _MARK: mark},
            start_new_session=True,
            creationflags=NEW_GROUP_FLAGS,
        )
        _marks[process] = mark
        _going_on.add(process)
    return process


def program_begins(program: object) -> None:
    """Note that a program which a library starts goes on, until ``program_ended`` is told the same object."""
    with _beginning:
        _going_on.add(program)


def program_ended(program: object) -> None:
    """Note that a program has ended. After the last one nothing that any of them started may go on.

    What has cleared its environment and lost its parent does not show whose it was, so it is ended then.
    """
    with _beginning:
        if program in _going_on:
            _going_on.discard(program)
            if not _going_on:
                end_orphans()


def end_trees(processes: Mapping[subprocess.Popen[bytes], float]) -> None:
    """End processes of their own groups with all they started, all at the same time.

    Each is asked first and has its number of seconds to end by itself; one with 0 seconds is killed at once.
    """
    asked: list[tuple[subprocess.Popen[bytes], float, list[psutil.Process]]] = []
    for process, seconds in processes.items():
        if seconds <= 0 or process.poll() is not None:
            kill_tree(process)
            continue
        # A child in a session of its own is found only while its parent lives.
        asked.append((process, time.monotonic() + seconds, _children(process)))
        _ask_to_end(process)
    for process, deadline, children in asked:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        kill_tree(process)
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process of its own group with all it started, and collect it; fine when all are gone."""
    members = _children(process)
    if os.name != "nt":
        # The group outlives its leader, so children that were left behind are reached even when the leader is
        # gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, 9)
    for member in members:
        with contextlib.suppress(psutil.Error):
            member.kill()
    with contextlib.suppress(OSError):
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    for stray in _strays(process):
        with contextlib.suppress(psutil.Error):
            stray.kill()
    program_ended(process)


def _strays(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return what a program started and made independent: in a session of its own, its parent gone.

    They have inherited the program's mark. Only processes that are younger are looked at.
    """
    mark = _marks.pop(process, None)
    if mark is None:
        return []
    found: list[psutil.Process] = []
    for identifier in psutil.pids():
        if identifier > process.pid or os.name == "nt":
            with contextlib.suppress(psutil.Error, OSError):
                candidate = psutil.Process(identifier)
                if candidate.environ().get(_MARK) == mark:
                    found.append(candidate)
    return found


def _children(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    if process.returncode is None:
        with contextlib.suppress(psutil.Error):
            return psutil.Process(process.pid).children(recursive=True)
    return []


def _ask_to_end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        if os.name == "nt":
            process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))
        else:
            os.killpg(process.pid, signal.SIGTERM)


class _Reader(threading.Thread):
    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._kept = bytearray()
        self.start()

    @property
    def text(self) -> str:
        return bytes(self._kept).decode("utf-8", "replace")

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._stream:
            while chunk := os.read(self._stream.fileno(), 65536):
                self._kept += chunk[: max(0, OUTPUT_LIMIT_BYTES - len(self._kept))]


class _Writer(threading.Thread):
    def __init__(self, stream: IO[bytes], content: bytes) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._content = content

    def run(self) -> None:
        # A program need not read its input: a closed pipe is no error.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(self._content)
        with contextlib.suppress(OSError, ValueError):
            self._stream.close()
