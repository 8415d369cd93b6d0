"""Cancel a run: everything that waits or works is notified immediately."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from contextvars import copy_context
from typing import Generic, TypeVar

from waza_engine.executors.executor import Cancellation
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


ResultT = TypeVar("ResultT")


class TooSlowError(Exception):
    """The call did not end in time; its thread is left to itself."""


class CancelledRunError(Exception):
    """The run was cancelled while the call went on."""


def call_bounded(call: Callable[[], ResultT], seconds: float, cancellation: Cancellation) -> ResultT:
    """Return what the call returns, or raise what it raises.

    The thread is a daemon: one that never ends keeps neither the run nor the process from ending.

    Raises:
        TooSlowError: after ``seconds``.
        CancelledRunError: immediately, when the run is cancelled.

    """
    if cancellation.requested:
        raise CancelledRunError
    outcome: queue.SimpleQueue[_Returned[ResultT] | Exception] = queue.SimpleQueue()
    _in_thread(lambda: outcome.put(_result_of(call)))
    withdraw = cancellation.on_request(lambda: outcome.put(CancelledRunError()))
    try:
        found = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TooSlowError from None
    finally:
        withdraw()
    if cancellation.requested:
        # The error of a killed call means nothing.
        raise CancelledRunError
    if isinstance(found, _Returned):
        return found.value
    raise found


def start_call(call: Callable[[], ResultT], done: Callable[[ResultT | Exception], None]) -> None:
    """Make a call in another thread and return immediately; ``done`` gets its result or error there."""

    def work() -> None:
        found = _result_of(call)
        done(found.value if isinstance(found, _Returned) else found)

    _in_thread(work)


class _Returned(Generic[ResultT]):
    def __init__(self, value: ResultT) -> None:
        self.value = value


def _result_of(call: Callable[[], ResultT]) -> _Returned[ResultT] | Exception:
    try:
        return _Returned(call())
    except Exception as error:  # noqa: BLE001 - handed over to the caller
        return error
    except BaseException as error:  # noqa: BLE001 - it is not up to a call to end the process
        return RuntimeError(f"it tried to end the process ({type(error).__name__})")


def _in_thread(work: Callable[[], None]) -> None:
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), daemon=True).start()
