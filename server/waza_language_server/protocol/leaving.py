"""Shutdown: the process always ends soon after there is a reason for it, with everything that it started.

An orderly loop closes the engine, answers pending requests, and returns. It may not get there: a handler that
is busy for ever, a client that no longer reads, an import that hangs. So a thread that does not depend on
any of these ends the process after a timeout.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

END_WITHIN_SECONDS = 1.5
KILL_WITHIN_SECONDS = 0.4
CLIENT_CHECK_SECONDS = 0.5
LARGEST_PID = 2**31 - 1

_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")


def end_process(code: int) -> NoReturn:
    """End this process, in which no work is left.

    A normal exit would first free the memory, object by object, for a tenth of a second.
    """
    logging.shutdown()
    os._exit(code)


class Departure:
    """The end of this process, for the first reason that there is; all methods belong to any thread."""

    def __init__(self, kill: Callable[[], None]) -> None:
        """``kill`` ends everything that was started, without waiting."""
        self._kill = kill
        self._code: int | None = None
        # Its ``put`` may interrupt itself, as no lock may: it is called by signal handlers.
        self._due: queue.SimpleQueue[None] = queue.SimpleQueue()
        threading.Thread(target=self._watch, name="departure", daemon=True).start()

    @property
    def code(self) -> int:
        """The exit code of the process."""
        return 1 if self._code is None else self._code

    def begin(self, code: int) -> None:
        """Let the process end with this exit code within ``END_WITHIN_SECONDS``."""
        if self._code is None:
            self._code = code
            self._due.put(None)

    def begin_on_signals(self, leave: Callable[[], None]) -> None:
        """Begin when the system asks for the end; ``leave`` is called then, between any two steps."""

        def handle(number: int, _frame: object) -> None:
            self.begin(128 + number)
            leave()

        for name in _SIGNALS:
            number = getattr(signal, name, None)
            if number is not None:
                signal.signal(number, handle)

    def begin_with_client(self, pid: int, leave: Callable[[], None]) -> None:
        """Begin when the client's process is gone, though its pipe may be open; ``leave`` is called then."""
        if 0 < pid <= LARGEST_PID:
            arguments = (pid, leave)
            threading.Thread(target=self._watch_client, args=arguments, name="client", daemon=True).start()

    def _watch(self) -> None:
        self._due.get()
        time.sleep(END_WITHIN_SECONDS)
        killing = threading.Thread(target=self._kill, daemon=True)
        killing.start()
        killing.join(KILL_WITHIN_SECONDS)
        os._exit(self.code)

    def _watch_client(self, pid: int, leave: Callable[[], None]) -> None:
        time.sleep(CLIENT_CHECK_SECONDS)
        import psutil

        try:
            client = psutil.Process(pid)
            while client.is_running() and client.status() != psutil.STATUS_ZOMBIE:
                time.sleep(CLIENT_CHECK_SECONDS)
        except psutil.NoSuchProcess:
            pass
        except (psutil.Error, ValueError, OverflowError):
            return  # Nothing can be known of it: the end of input has to do.
        self.begin(1)
        leave()
