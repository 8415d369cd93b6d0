"""Calls that must end: each in a thread of its own, waited for until it is done, too late, or cancelled."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from waza_engine.executors.base import Cancellation

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
        CancelledRunError: when the run is cancelled, at once.

    """
    if cancellation.requested:
        raise CancelledRunError
    outcome: queue.SimpleQueue[_Returned[ResultT] | BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcome.put(_Returned(call()))
        except BaseException as error:  # noqa: BLE001 - handed over to the caller
            outcome.put(error)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    withdraw = cancellation.on_request(lambda: outcome.put(CancelledRunError()))
    try:
        found = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TooSlowError from None
    finally:
        withdraw()
    if cancellation.requested:
        # What ends because it was killed says nothing of its own.
        raise CancelledRunError
    if isinstance(found, _Returned):
        return found.value
    raise found


class _Returned(Generic[ResultT]):
    def __init__(self, value: ResultT) -> None:
        self.value = value
