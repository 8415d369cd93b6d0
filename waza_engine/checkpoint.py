"""Checkpoints: long work calls ``checkpoint()`` often, so that whoever runs it can serve others or stop it.

Without a watcher, as in the command line, a checkpoint does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from math import inf
from typing import TypeVar

Value = TypeVar("Value")


class Superseded(BaseException):
    """The running work is void: its input has changed, or nobody waits for its result any more."""


class _OutOfTime(BaseException):
    """The work of ``within`` has taken too long."""


class _Watch:
    """The function to call at the checkpoints of this process, which has one thread of analysis."""

    def __init__(self) -> None:
        self.watcher: Callable[[], None] | None = None
        self.until = inf


_watch = _Watch()


def watch_checkpoints(watcher: Callable[[], None] | None) -> None:
    """Call a function at every checkpoint of this process; it may raise ``Superseded``."""
    _watch.watcher = watcher


def checkpoint() -> None:
    """Let something more urgent go first; raises ``Superseded`` if the running work is void."""
    if _watch.watcher is not None:
        _watch.watcher()
    if _watch.until < inf and time.perf_counter() > _watch.until:
        raise _OutOfTime


def collect(values: Iterable[Value]) -> list[Value]:
    """Return all values, with a checkpoint after each."""
    found: list[Value] = []
    for value in values:
        found.append(value)
        checkpoint()
    return found


def within(work: Callable[[], Value], seconds: float) -> tuple[Value] | None:
    """Return the value of some work in a tuple; None if it was stopped because it took longer.

    The files that it has read by then are cached, so that another attempt has less to do.
    """
    around = _watch.until
    _watch.until = min(around, time.perf_counter() + seconds)
    try:
        return (work(),)
    except _OutOfTime:
        return None
    finally:
        _watch.until = around
