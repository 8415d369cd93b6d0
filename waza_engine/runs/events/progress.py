"""How far a run is, told with its events."""

from __future__ import annotations

import threading
from typing import Any

from waza_engine.runs.events.stream import EventKind, EventStream


class Progress:
    """How many trials of a run have ended, over all its passes; their ends are told through it."""

    def __init__(self, stream: EventStream, total: int) -> None:
        self.stream = stream
        self.total = total
        self._completed = 0
        self._lock = threading.Lock()

    def tell_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        """Count and tell in one step: the count never runs backwards in the stream."""
        with self._lock:
            self._completed += trials
            self.stream.send(kind, completed=self._completed, total=self.total, **values)
