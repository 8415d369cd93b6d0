"""Work with pauses: a generator yields where its caller may do something else and returns the result."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from typing import TypeVar

Value = TypeVar("Value")
Steps = Generator[None, None, Value]
"""Work that pauses and returns a value."""


def finished(steps: Steps[Value]) -> Value:
    """Do the work without pausing and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def in_steps(values: Iterable[Value]) -> Steps[list[Value]]:
    """Return all values, with a pause after each."""
    found: list[Value] = []
    for value in values:
        found.append(value)
        yield
    return found


def within(steps: Steps[Value], seconds: float) -> Steps[tuple[Value] | None]:
    """Run steps for a time, pauses not counted; return their value in a tuple, None if unfinished.

    To get the rest, the caller goes on with the same steps.
    """
    worked = 0.0
    while worked < seconds:
        begun = time.perf_counter()
        try:
            next(steps)
        except StopIteration as end:
            return (end.value,)
        worked += time.perf_counter() - begun
        yield
    return None
