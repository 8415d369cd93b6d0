"""Ctrl-C, termination requests and a closed terminal, during a run and while it is reported."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from types import FrameType

from waza_engine.early_interruption import SAME_SIGNAL_SECONDS


class RequestsToEnd:
    """Reports each request once, without interrupting the current instruction of the main thread.

    ``notify`` is called between two instructions of the main thread and must not wait for a lock. Once the
    run is over a request is a ``KeyboardInterrupt``, as it is before.
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify: Callable[[], None] | None = notify
        self._heard = -math.inf

    def heed(self) -> None:
        """Handle signals from now on; those ignored by ``nohup`` or a background shell stay ignored."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and (name == "SIGTERM" or signal.getsignal(number) != signal.SIG_IGN):
                signal.signal(number, self._hear)

    def run_is_over(self) -> None:
        """Stop forwarding: there is no run that could be stopped."""
        self._notify = None

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        now = time.monotonic()
        if now - self._heard <= SAME_SIGNAL_SECONDS:
            return
        self._heard = now
        if self._notify is None:
            raise KeyboardInterrupt
        self._notify()
