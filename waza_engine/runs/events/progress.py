"""Count a run's finished trials and report the count with its events."""

from __future__ import annotations

import threading
from typing import Any

from waza_engine.runs.events.stream import EventKind, EventStream


class Progress:
    """Counts the finished trials of a run over all its passes, and reports their ends."""

    def __init__(self, stream: EventStream, total: int) -> None:
        self.stream = stream
        self.total = total
        self._completed = 0
        self._lock = threading.Lock()

    def tell_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        """Count and report in one step: the count never runs backwards in the stream."""
        with self._lock:
            self._completed += trials
            self.stream.send(kind, completed=self._completed, total=self.total, **values)
