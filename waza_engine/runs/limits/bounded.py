"""Calls that must end: each in another thread, waited for until it is done, too late, or cancelled.

Threads that are done serve the next call: to start one costs more than most graders do.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from waza_engine.executors.base import Cancellation

ResultT = TypeVar("ResultT")
_MOST_IDLE = 16
_idle: deque[_Worker] = deque()


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
    _in_thread(lambda: outcome.put(_made(call)))
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
        found = _made(call)
        done(found.value if isinstance(found, _Returned) else found)

    _in_thread(work)


class _Returned(Generic[ResultT]):
    def __init__(self, value: ResultT) -> None:
        self.value = value


def _made(call: Callable[[], ResultT]) -> _Returned[ResultT] | Exception:
    try:
        return _Returned(call())
    except Exception as error:  # noqa: BLE001 - handed over to the caller
        return error
    except BaseException as error:  # noqa: BLE001 - it is not up to a call to end the process
        return RuntimeError(f"it tried to end the process ({type(error).__name__})")


def _in_thread(work: Callable[[], None]) -> None:
    context = contextvars.copy_context()
    _worker().calls.put(lambda: context.run(work))


class _Worker:
    """A daemon thread that executes calls, one after the other; one that never ends blocks only itself."""

    def __init__(self) -> None:
        self.calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            self.calls.get()()
            if len(_idle) >= _MOST_IDLE:
                return
            _idle.append(self)


def _worker() -> _Worker:
    try:
        return _idle.pop()
    except IndexError:
        return _Worker()
