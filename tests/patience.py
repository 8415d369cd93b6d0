"""How much longer than promised tests wait, since other tests and other people use the processors too."""

import time
from collections.abc import Iterable

import psutil

ON_A_BUSY_MACHINE = 20.0
"""Seconds on top of every promise; what would break it hangs for longer, and is found all the same."""


def has_ended(process: psutil.Process) -> bool:
    """Whether a process has ended; who should have collected its exit code is not our matter."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def staying(processes: Iterable[psutil.Process], promised: float = 2.0) -> list[psutil.Process]:
    """Wait for the end of processes; return those that have not ended in so many seconds."""
    deadline = time.monotonic() + promised + ON_A_BUSY_MACHINE
    left = list(processes)
    while left := [process for process in left if not has_ended(process)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return left


def ends(pid: int) -> bool:
    """Wait for the end of a process that may be gone already; return whether it ended."""
    try:
        return not staying([psutil.Process(pid)])
    except psutil.NoSuchProcess:
        return True
