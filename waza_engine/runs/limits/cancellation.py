"""Cancel a run: everything that waits or works is notified immediately."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from contextvars import copy_context

from waza_engine.vocabulary import CANCELLED


class RunCancellation:
    """The one switch of a run; thread-safe, and once on it stays on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = threading.Event()
        self.by_person = False
        """Return whether a person requested the end; false if the run was interrupted."""
        self._stops: dict[int, Callable[[], None]] = {}
        self._next = 0

    @property
    def requested(self) -> bool:
        """Return whether the run should stop."""
        return self._requested.is_set()

    @property
    def words(self) -> str:
        """Return why the run ended: a person cancelled it, or it was interrupted."""
        return CANCELLED if self.by_person else "the run was interrupted"

    def on_request(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Call ``stop`` when the run is cancelled, immediately if it already is.

        Return a function that withdraws this.
        """
        with self._lock:
            key = self._next = self._next + 1
            if not self.requested:
                self._stops[key] = stop
                return lambda: self._withdraw(key)
        stop()
        return lambda: None

    def request(self, *, by_person: bool = False) -> None:
        """Stop the run; can be called twice and from any thread.

        ``by_person`` is true if a person requested it, for instance with the button of an editor.
        """
        with self._lock:
            if not self.requested:
                self.by_person = by_person
            self._requested.set()
            stops = list(self._stops.values())
            self._stops.clear()
        with ExitStack() as stopping:
            # One that raises must not keep the others from stopping.
            for stop in reversed(stops):
                stopping.callback(stop)

    def _withdraw(self, key: int) -> None:
        with self._lock:
            self._stops.pop(key, None)


def all_at_once(calls: Sequence[Callable[[], object]]) -> None:
    """Make all calls at the same time and return when all are done; raise the first error.

    Each may need a second to end its programs, and a cancelled run has two in all.
    """
    errors: list[Exception] = []

    def call(each: Callable[[], object]) -> None:
        try:
            each()
        except Exception as error:  # noqa: BLE001 - raised below, when the others are done
            errors.append(error)

    threads = [threading.Thread(target=copy_context().run, args=(call, each), daemon=True) for each in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
