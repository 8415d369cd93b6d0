"""End the process at the end of its input, whatever it is doing: above all while it still loads.

An editor that was killed leaves only a closed pipe. A reader notices that, but while loading there is no
reader yet.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time

LEAVE_WITHIN_SECONDS = 1.8
_CHECK_SECONDS = 0.1


def leave_at_end_of_input() -> None:
    """End the process soon after its standard input has ended and everything in it was read.

    When the parent has ended, too, nothing waits for answers, and unread input is dropped.

    Does nothing where pipes cannot be watched (Windows): there the end is noticed by reading.
    """
    if sys.platform != "win32":
        threading.Thread(target=_watch, name="end of input", daemon=True).start()


def _watch() -> None:
    if sys.platform == "win32":
        return
    parent = os.getppid()
    pipe = select.poll()
    pipe.register(0, 0)
    if not any(event & select.POLLHUP for _, event in pipe.poll()):
        return  # It is not a pipe.
    pipe.modify(0, select.POLLIN)
    while os.getppid() == parent and any(event & select.POLLIN for _, event in pipe.poll(0)):
        time.sleep(_CHECK_SECONDS)  # Another thread may still read what was written before the end.
    time.sleep(LEAVE_WITHIN_SECONDS)
    os._exit(0)
