"""End programs with all that they started, using every way to find their processes. Light.

A program leads a process group of its own, and all that it starts inherits a mark in its environment. A
process that has left both is an orphan, which the supervisor ends when no program of the engine is active.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from waza_engine.processes.supervisor import end_orphans

if TYPE_CHECKING:
    import psutil

# A killed engine has a guard (``supervisor.py``), which knows more of its programs than is seen here.
GUARD_SECONDS = 0.3
_MARK = "WAZA_PROGRAM"
_LOOK_AGAIN = 3
_marks: weakref.WeakKeyDictionary[subprocess.Popen[bytes], str] = weakref.WeakKeyDictionary()
_going_on: weakref.WeakSet[object] = weakref.WeakSet()
_beginning = threading.Lock()


def started_tree(start: Callable[[Mapping[str, str]], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a program with variables by which ``kill_tree`` finds all that it starts.

    ``start`` gets the variables and starts it in a process group of its own; its errors pass through.
    """
    mark = os.urandom(8).hex()
    with _beginning:
        process = start({_MARK: mark})
        _marks[process] = mark
        _going_on.add(process)
    return process


def program_begins(program: object) -> None:
    """Register a program of a library as active, until ``program_ended`` gets the same object."""
    with _beginning:
        _going_on.add(program)


def program_ended(program: object) -> None:
    """Unregister a program. After the last one, no process that any of them started may go on.

    A process that has cleared its environment and lost its parent has no visible owner, so it is ended then.
    """
    with _beginning:
        if program in _going_on:
            _going_on.discard(program)
            if not _going_on:
                end_orphans()


def end_trees(processes: Mapping[subprocess.Popen[bytes], float]) -> None:
    """End processes of their own groups with all they started, all at the same time.

    Each is asked first and has its number of seconds to end by itself; one with 0 seconds is killed
    immediately.
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
            _kill(child)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process of its own group with all it started, and collect it; ignore ended ones."""
    members = _children(process)
    if os.name != "nt":
        # The group outlives its leader, so this reaches children even when the leader is gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, 9)
    for member in members:
        _kill(member)
    with contextlib.suppress(OSError):
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    for stray in _strays(process):
        _kill(stray)
    program_ended(process)


def kill_marked(variable: str, value: str) -> None:
    """Kill every process with this variable in its environment, and all that these have started.

    For a program that a library starts, so that neither its number nor its group is known.
    """
    import psutil

    for _ in range(_LOOK_AGAIN):
        members = list(_family_of_marked(variable, value))
        if not members:
            return
        for member in members:
            _kill(member)
        psutil.wait_procs(members, timeout=0.2)


def is_marked(process: psutil.Process, variable: str, value: str) -> bool:
    """Return whether a process has this variable in its environment, as far as that can be read."""
    import psutil

    try:
        return process.environ().get(variable) == value
    except (psutil.Error, OSError):
        return False


def end_process_tree(pid: int) -> None:
    """Kill a process, everything it started and its process group; ignore those that are gone already.

    Blocks until everything but the process itself, which its parent collects, is gone: at most a moment.
    """
    import psutil

    family: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        family = psutil.Process(pid).children(recursive=True)
    if sys.platform == "win32":
        with contextlib.suppress(psutil.Error):
            psutil.Process(pid).kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    if sys.platform == "linux":
        _, family = psutil.wait_procs(family, GUARD_SECONDS)
    for process in family:
        _kill(process)


def _strays(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the detached processes of a program: in a session of their own, their parent gone.

    They have inherited the program's mark. Only processes that are younger are checked.
    """
    import psutil

    mark = _marks.pop(process, None)
    if mark is None:
        return []
    found: list[psutil.Process] = []
    for identifier in psutil.pids():
        if identifier > process.pid or os.name == "nt":
            with contextlib.suppress(psutil.Error):
                candidate = psutil.Process(identifier)
                if is_marked(candidate, _MARK, mark):
                    found.append(candidate)
    return found


def _family_of_marked(variable: str, value: str) -> Iterator[psutil.Process]:
    """Find the processes by their inherited mark, and by their parents where that cannot be read."""
    import psutil

    found = {process.pid: process for process in psutil.process_iter() if is_marked(process, variable, value)}
    for process in list(found.values()):
        with contextlib.suppress(psutil.Error):
            found |= {child.pid: child for child in process.children(recursive=True)}
    yield from (process for process in found.values() if _is_alive(process))


def _children(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    import psutil

    if process.returncode is None:
        with contextlib.suppress(psutil.Error):
            return psutil.Process(process.pid).children(recursive=True)
    return []


def _is_alive(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _kill(process: psutil.Process) -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        process.kill()


def _ask_to_end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        if os.name == "nt":
            process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))
        else:
            os.killpg(process.pid, signal.SIGTERM)
