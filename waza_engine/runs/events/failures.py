"""Failed checks of a verdict, as events report them."""

from __future__ import annotations

from typing import Any

from waza_engine.counting import counted
from waza_engine.results.json_values import given
from waza_engine.results.record import Validation

_SHOWN_CHARACTERS = 2000
_MOST_FAILURES = 20


def failures_of(verdict: Validation) -> list[dict[str, Any]]:
    """Return the first failed checks: the ``path`` to the rule of each, and its ``message``.

    A check that compares two strings has them as ``expected`` and ``actual``.
    """
    failed = [check for check in verdict.checks if not check.passed][:_MOST_FAILURES]
    return [
        {
            "path": list(check.path),
            "message": shown(check.message),
            **given(expected=check.expected, actual=check.actual),
        }
        for check in failed
    ]


def shown(text: str) -> str:
    """Return the beginning of a long string and how much is left out: answers may have megabytes."""
    left_out = len(text) - _SHOWN_CHARACTERS
    if left_out <= 0:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({counted(left_out, 'more character')})"
