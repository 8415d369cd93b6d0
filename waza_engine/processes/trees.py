"""The end of a process that was started as the leader of a group, with all that it started. Light."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

# A killed engine has a guard (``supervisor.py``), which knows more of its programs than is seen here.
GUARD_SECONDS = 0.3


def end_process_tree(pid: int) -> None:
    """Kill a process, everything it started and its process group; silent about what is gone already.

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
        with contextlib.suppress(psutil.Error):
            process.kill()
