"""The worker processes of graders, kept warm between gradings: to start one costs more than most gradings."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.executor import Cancellation
from waza_engine.graders.matching.patterns import pattern_workers
from waza_engine.processes.workers import WorkerPool

IDLE_SECONDS = 60.0


@dataclass(slots=True)
class WorkerSet:
    """The workers for assertions and for pattern searches. They start when they are first needed."""

    assertions: AssertionEvaluator = field(default_factory=AssertionEvaluator)
    patterns: WorkerPool = field(default_factory=pattern_workers)
    idle_since: float = 0.0

    def close(self) -> None:
        """End them, also those that are at work; can be called twice."""
        self.assertions.close()
        self.patterns.close()

    def process_ids(self) -> list[int]:
        """Return the ids of those that live."""
        return [*self.assertions.process_ids(), *self.patterns.process_ids()]


class GradingWorkers:
    """Workers for one grading after the other. Thread-safe; ``close`` ends them.

    Gradings at the same time get workers of their own. A set that is not needed for ``idle_seconds`` ends.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._idle: list[WorkerSet] = []
        self._closed = False
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def lent(self, cancellation: Cancellation) -> Generator[WorkerSet]:
        """Lend a set of workers; a request to cancel ends them, whatever they do."""
        with self._lock:
            found = self._idle.pop() if self._idle else WorkerSet()
        withdraw = cancellation.on_request(found.close)
        try:
            yield found
        finally:
            withdraw()
            self._take_back(found, ended=cancellation.requested)

    def close(self) -> None:
        """End the idle workers now, and those in use when they are returned. A second call does nothing."""
        with self._lock:
            self._closed = True
            waiting, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
        for workers in waiting:
            workers.close()

    def process_ids(self) -> list[int]:
        """Return the ids of those that wait for the next grading."""
        with self._lock:
            return [pid for workers in self._idle for pid in workers.process_ids()]

    def _take_back(self, workers: WorkerSet, *, ended: bool) -> None:
        workers.idle_since = time.monotonic()
        with self._lock:
            kept = not (ended or self._closed)
            if kept:
                self._idle.append(workers)
                self._look_later()
        if not kept:
            workers.close()

    def _look_later(self) -> None:
        """See to it that the set that waits longest is ended when its time is over."""
        if self._timer is None and self._idle:
            due = min(workers.idle_since for workers in self._idle) + self._idle_seconds
            self._timer = threading.Timer(max(0.0, due - time.monotonic()), self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with self._lock:
            self._timer = None
            latest = time.monotonic() - self._idle_seconds
            ended = [workers for workers in self._idle if workers.idle_since <= latest]
            self._idle = [workers for workers in self._idle if workers.idle_since > latest]
            self._look_later()
        for workers in ended:
            workers.close()
