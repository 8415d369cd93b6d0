"""Work with pauses: a generator yields where its caller may do something else and returns what it made."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

Value = TypeVar("Value")
Steps = Generator[None, None, Value]
"""Work that pauses and returns a value."""


def finished(steps: Steps[Value]) -> Value:
    """Do the work without pausing and return what it made."""
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
