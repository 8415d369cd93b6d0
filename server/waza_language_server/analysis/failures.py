"""Isolation of failing rules: a rule that fails loses only its own problems.

An editor leaves out the problems of the rule and logs the failure once. A check must not report "no problems"
then: while ``failures_noted`` is active, failures are collected instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from waza_engine.frozen import frozen

logger = logging.getLogger(__name__)

T = TypeVar("T")

_logged: set[str] = set()
_noted: ContextVar[list[RuleFailure] | None] = ContextVar("noted", default=None)
_SHOWN_CHARACTERS = 200


@frozen()
class RuleFailure:
    """The component that failed, such as ``the rule "patterns"``, and the reason."""

    what: str
    error: Exception

    def __str__(self) -> str:
        why = str(self.error)[:_SHOWN_CHARACTERS]
        return f"{self.what} failed ({type(self.error).__name__}{f': {why}' if why else ''})"


def guarded(rule: str, found: Callable[[], Iterable[T]]) -> Iterator[T]:
    """Yield the problems that a rule finds; none when it fails, even for lack of memory or stack."""
    try:
        known = list(found())
    except Exception as error:  # noqa: BLE001 - noted
        note_rule_failure(rule, error)
        return
    yield from known


def note_rule_failure(rule: str, error: Exception) -> None:
    """Record that a rule has failed."""
    note_failure(f'the rule "{rule}"', error)


def note_failure(what: str, error: Exception) -> None:
    """Add a failure to those that are collected, or log it: each ``what`` only once."""
    noted = _noted.get()
    if noted is not None:
        if all(failure.what != what for failure in noted):
            noted.append(RuleFailure(what, error))
    elif what not in _logged:
        _logged.add(what)
        logger.error("%s; what it finds is left out", RuleFailure(what, error), exc_info=error)


@contextmanager
def failures_noted() -> Generator[list[RuleFailure]]:
    """Collect failures in the given list while this is active."""
    noted: list[RuleFailure] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
