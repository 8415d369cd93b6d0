"""Nothing that the engine starts outlives it, even if it is killed and a program has cut itself off.

On Linux a command that starts programs divides into three processes before it does anything else::

    front        what the caller started: passes on signals, and ends as the engine ended
    └─ guard     in a session of its own; the subreaper of all below it
       └─ engine the command itself, in the caller's process group, with the caller's streams
          └─ …   programs, agents, MCP servers, and all they start

A process whose parent ends becomes a child of the guard, whatever session it is in and whatever is in its
environment. When the engine or the front is gone, the guard kills all below it until nothing is left. No
program has to be registered with the guard, so there is no moment at which one could be missed.

On Windows a job object does the same. Elsewhere there is neither: see ``docs/engine.md``.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
import threading
import time
from typing import NoReturn

ENDING_SECONDS = 5.0
_ANSWER_SECONDS = 2.0
_PAUSE_SECONDS = 0.002
# From <linux/prctl.h>.
_SET_PARENT_DEATH_SIGNAL, _SET_NAME, _SET_CHILD_SUBREAPER = 1, 15, 36
_NUMBER = struct.Struct("i")

_requests: socket.socket | None = None
_asking = threading.Lock()


def supervise() -> None:
    """Arrange that everything started from here on ends with this process; call it before anything starts.

    On Linux only the engine returns from here, as a process of its own. Where the system offers nothing, or a
    thread is running already (a fork would lose it), this does nothing.
    """
    if sys.platform == "win32":
        from waza_engine.processes.job_object import join_job

        join_job()
    elif sys.platform == "linux" and threading.active_count() == 1:
        _divide()


def is_supervised() -> bool:
    """Return whether a guard ends the programs that this process starts."""
    return _requests is not None


def end_orphans() -> None:
    """Kill programs that the engine's programs started and detached; return when they are gone.

    Call it only while no program of the engine is active: its daemons would be killed too.
    """
    if _requests is None:
        return
    with _asking, contextlib.suppress(OSError):
        _requests.sendall(b"?")
        _requests.recv(1)


def _divide() -> None:
    global _requests  # noqa: PLW0603 - one engine in one process
    try:
        import ctypes

        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, OSError, AttributeError):
        return
    forwarded = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
    awaited = forwarded | {signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    front_lives, front_end = os.pipe()
    report_in, report_out = os.pipe()
    theirs, ours = socket.socketpair()
    guard = os.fork()
    if guard:
        for descriptor in (front_lives, report_out, theirs.detach(), ours.detach()):
            os.close(descriptor)
        _be_front(guard, report_in, awaited)
    os.close(front_end)
    os.close(report_in)
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent = os.getpid()
    engine = os.fork()
    if engine:
        ours.close()
        prctl(_SET_NAME, b"waza-guard", 0, 0, 0)
        _Guard(engine, theirs).watch(front_lives, report_out)
    theirs.close()
    os.close(front_lives)
    os.close(report_out)
    prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    # From here on whatever ends the caller's process group leaves the guard alone.
    ours.recv(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    ours.settimeout(_ANSWER_SECONDS)
    _requests = ours


def _be_front(guard: int, report: int, awaited: set[signal.Signals]) -> NoReturn:
    _leave_streams()
    engine = _read_number(report)
    while True:
        received = signal.sigwaitinfo(awaited)
        if received.si_signo != signal.SIGCHLD:
            # Signals of the terminal have reached the engine too; those sent to this process have not.
            if received.si_code <= 0 and engine is not None:
                with contextlib.suppress(OSError):
                    os.kill(engine, received.si_signo)
        elif os.waitpid(guard, os.WNOHANG)[0]:
            status = _read_number(report)
            _end_like(signal.SIGKILL if status is None else status)


def _end_like(status: int) -> NoReturn:
    """End with an exit code, or by a signal, as the engine did."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os._exit(128 + number)
    os._exit(os.waitstatus_to_exitcode(status))


class _Guard:
    """The process above the engine; it does nothing but wait and kill."""

    def __init__(self, engine: int, requests: socket.socket) -> None:
        self._engine = engine
        self._requests = requests
        self._engine_status: int | None = None
        self._callers_session = os.getsid(0)

    def watch(self, front_lives: int, report: int) -> NoReturn:
        """Wait until the engine or the front has ended; then end all that is left, and leave."""
        import select

        try:
            os.setsid()
            self._requests.sendall(b"!")
            _leave_streams()
            os.write(report, _NUMBER.pack(self._engine))
            woken, wake = os.pipe()
            os.set_blocking(wake, False)
            signal.signal(signal.SIGCHLD, lambda number, frame: None)
            signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            waiting = select.poll()
            for descriptor in (front_lives, self._requests.fileno(), woken):
                waiting.register(descriptor, select.POLLIN)
            self._reap()
            while self._engine_status is None:
                ready = {descriptor for descriptor, _ in waiting.poll()}
                if front_lives in ready:
                    break
                if woken in ready:
                    os.read(woken, 4096)
                    self._reap()
                if self._requests.fileno() in ready:
                    if not self._requests.recv(1):
                        waiting.unregister(self._requests.fileno())
                        continue
                    self._reap()
                    if self._has_orphans():
                        self._end_all(except_engine=True)
                    self._requests.sendall(b"!")
        finally:
            self._end_all(except_engine=False)
            with contextlib.suppress(OSError):
                os.write(report, _NUMBER.pack(self._engine_status or 0))
            os._exit(0)

    def _end_all(self, *, except_engine: bool) -> None:
        """Kill all processes below the guard until none is left, or the rest cannot be killed."""
        deadline = time.monotonic() + ENDING_SECONDS
        while self._reap() and time.monotonic() < deadline:
            processes = _processes()
            spared = _below(self._engine, processes) if except_engine else set[int]()
            found = _below(os.getpid(), processes) - spared - {os.getpid()}
            if except_engine and not found and not self._has_orphans():
                return
            spared_groups = {processes[pid].group for pid in spared}
            for group in {processes[pid].group for pid in found if self._is_own_session(processes[pid])}:
                # Kill all of a group together: one that forks without end cannot run ahead of the killing.
                if group not in spared_groups:
                    _kill(-group)
            for pid in found:
                _kill(pid)
            time.sleep(_PAUSE_SECONDS)

    def _has_orphans(self) -> bool:
        """Return whether the guard has another child than the engine. Quick: it runs after every program."""
        own = os.getpid()
        try:
            children = {int(name) for name in _read(f"/proc/self/task/{own}/children").split()}
        except OSError:
            # Not every kernel lists them.
            newest = _newest_pid()
            younger = (name for name in _pids() if self._is_younger(int(name), newest))
            return any((process := _process(name)) and process.parent == own for name in younger)
        return bool(children - {self._engine})

    def _is_younger(self, pid: int, newest: int) -> bool:
        """Return whether a process may be younger than the engine: pids wrap around at the highest number."""
        if newest >= self._engine:
            return self._engine < pid <= newest
        return pid > self._engine or pid <= newest

    def _is_own_session(self, process: _Process) -> bool:
        """Return whether a process is in a session created below the guard: its groups are only our own."""
        return process.session not in (self._callers_session, os.getsid(0)) and process.group > 1

    def _reap(self) -> bool:
        """Reap ended processes; return whether anything is left below the guard.

        The kernel alone knows that: a table that is read row by row misses a process that is born while it is
        read and whose parent is gone before its row is reached. An orphan is the guard's child before its
        parent can be collected, so without a child there is no descendant either.
        """
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._engine:
                    self._engine_status = found[1]
        except ChildProcessError:
            return False
        return True


class _Process:
    """A row of the table of processes."""

    __slots__ = ("group", "parent", "session")

    def __init__(self, parent: int, group: int, session: int) -> None:
        self.parent = parent
        self.group = group
        self.session = session


def _processes() -> dict[int, _Process]:
    """Return the living processes of the system by their numbers."""
    return {int(name): process for name in _pids() if (process := _process(name)) is not None}


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - pathlib is slow to load


def _newest_pid() -> int:
    return int(_read("/proc/loadavg").split()[-1])


def _process(name: str) -> _Process | None:
    """Return a process by its number; None when it has ended."""
    try:
        # The name of the program is in parentheses and may hold anything.
        fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
        state, parent, group, session = fields[:4]
        return None if state in (b"Z", b"X") else _Process(int(parent), int(group), int(session))
    except (OSError, ValueError):
        return None


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 65536)
    finally:
        os.close(descriptor)


def _below(root: int, processes: dict[int, _Process]) -> set[int]:
    """Return a process and all that descend from it, as far as they are in the table."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        if pid in processes:
            found.add(pid)
        waiting += children.get(pid, ())
    return found


def _kill(target: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(target, signal.SIGKILL)


def _leave_streams() -> None:
    """Close the caller's streams: their readers and writers wait for the engine alone."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _read_number(descriptor: int) -> int | None:
    data = os.read(descriptor, _NUMBER.size)
    return _NUMBER.unpack(data)[0] if len(data) == _NUMBER.size else None
