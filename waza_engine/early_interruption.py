"""Ctrl-C while a command is still being loaded ends it quietly, as it does afterwards.

Until ``run_command_line`` (``command_line.py``) handles interruptions, Python would print where in which
import it was interrupted. This only applies to a process that begins with the command: one that has loaded
more than that, a test for example, has its own handling, and so has a shell whose background jobs ignore
interruptions.

Architecture invariant: imported before everything else, and imports nothing that takes time.
"""

from __future__ import annotations

import os
import sys
import time
from signal import SIGINT, default_int_handler, getsignal, signal

INTERRUPTED = 130
"""The exit code that shells give for it."""

SAME_SIGNAL_SECONDS = 0.3
"""One that is sent to the whole process group comes a second time from its front: both are one request."""


def start_handling_interruptions() -> None:
    """Make interruptions raise exceptions again: from here on they are caught."""
    if getsignal(SIGINT) is _end:
        signal(SIGINT, default_int_handler)


def ignore_repeated_interruption() -> None:
    """Let the process end undisturbed by the same interruption; a later one ends it at once."""
    if not _handled:
        return
    began = time.monotonic()

    def again(number: int, frame: object) -> None:
        if time.monotonic() - began > SAME_SIGNAL_SECONDS:
            _end(number, frame)

    signal(SIGINT, again)


def _end(number: int, frame: object) -> None:
    del number, frame
    os._exit(INTERRUPTED)


_handled = "logging" not in sys.modules and getsignal(SIGINT) is default_int_handler
if _handled:
    signal(SIGINT, _end)
