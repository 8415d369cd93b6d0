"""Common wording of all verdicts: reasons, ages, and the agent that answered."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_engine.moments import SOME_TIME_AGO, is_known
from waza_engine.spec.executors import asked_model
from waza_engine.vocabulary import COULD_NOT_GRADE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_engine.results.reading.scores import RunOrigin

ADVISORY = "○"
"""Marks a grader that did not pass and is not required: no failure."""
SIGNS = {
    "passed": "✓",
    "failed": "✗",
    "graded": "✗",
    "advisory": ADVISORY,
    "error": "!",
    "errored": "!",
    "pending": "◷",
    "unjudged": "◷",
}
"""The mark of each verdict, and of each status of a grader that did not pass."""
LONGEST_REASON = 60
TRACEBACK = "Traceback (most recent call last):"
_PATH_FIRST = compiled_later(r"(?:/|[A-Za-z]:\\)[^\n]*?\.\w+:(?:\d+:)? (?P<said>.+)", re.DOTALL)


def advisory_label(label: str, statuses: Iterable[str]) -> str:
    """Return a label of failure as that of a grader that need not pass, if ``statuses`` say so."""
    return f"{ADVISORY}{label[1:]} · advisory" if "advisory" in statuses else label


def sign_of(judged: Iterable[tuple[int, int]]) -> str:
    """Return ✓ when all trials passed, ✗ when a task has none that did, else ◐.

    Args:
        judged: How many trials passed, and how many there were, of each task.

    """
    shares = [(passed, trials) for passed, trials in judged if passed < trials]
    return "✓" if not shares else "✗" if any(not passed for passed, _ in shares) else "◐"


def share_label(sign: str, passed: int, total: int, noun: str = "") -> str:
    """Return how many of some passed; after ✗ how many failed: ``◐ 2/3``, ``✗ 1 of 3``."""
    of = counted(total, noun) if noun else str(total)
    return f"{sign} {total - passed} of {of}" if sign.startswith("✗") else f"{sign} {passed}/{of}"


def error_label(reason: str) -> str:
    """Return the mark of an item that could not be judged, with the reason, cut after a word."""
    return f"! {shortened(reason_line(reason) or 'error')}"


def reason_line(reason: str) -> str:
    """Return the line of a reason that says the most, without the path of a file before it; "" for none.

    That is its first one, and the last one of an exception of Python, whose beginning says where it was.
    """
    # The mark before it says that already.
    lines = [line.strip() for line in reason.removeprefix(COULD_NOT_GRADE).splitlines() if line.strip()]
    if not lines:
        return ""
    if TRACEBACK in lines[0] or (len(lines) > 1 and lines[1] == TRACEBACK):
        return lines[-1]
    return without_path(lines[0])


def without_path(reason: str) -> str:
    """Return a reason without the absolute paths of files before it."""
    while (found := _PATH_FIRST.match(reason)) is not None:
        reason = found["said"]
    return reason


def shortened(line: str, longest: int = LONGEST_REASON) -> str:
    """Return a line with at most so many characters, cut after a word."""
    if len(line) <= longest:
        return line
    begun = line[:longest]
    words = begun.rpartition(" ")[0].rstrip(" ,;:.…")
    # A path or an address has no words to end at.
    return f"{words if len(words) > longest // 2 else begun[:-1]}…"


def told_by(origin: RunOrigin | None) -> str:
    """Return the executor and the model of a run in Markdown, "" when they are not known."""
    found = (origin.executor, asked_model(origin.executor, origin.model)) if origin is not None else ()
    return " · ".join(code(word) for word in found if word)


def suite_words(suite: Path) -> str:
    """Return the name that distinguishes an eval file from others: ``deploy/eval.yaml``."""
    return f"{suite.parent.name}/{suite.name}"


def age(then: datetime, now: datetime) -> str:
    """Return how long ago something was, in words."""
    if not is_known(then):
        return SOME_TIME_AGO
    seconds = (now - then).total_seconds()
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "just now"
