"""The words that all verdicts are told in: reasons, ages, and who answered."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

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
LONGEST_REASON = 60
TRACEBACK = "Traceback (most recent call last):"
_PATH_FIRST = compiled_later(r"(?:/|[A-Za-z]:\\)[^\n]*?\.\w+:(?:\d+:)? (?P<said>.+)", re.DOTALL)


def advisory_label(label: str, statuses: Iterable[str]) -> str:
    """Return a label of failure as that of a grader that need not pass, if ``statuses`` say so."""
    return f"{ADVISORY}{label[1:]} · advisory" if "advisory" in statuses else label


def error_label(reason: str) -> str:
    """Return the mark of what could not be judged, with the line that says why, cut behind a word."""
    line = reason_line(reason) or "error"
    return f"! {line if len(line) <= LONGEST_REASON else _cut(line)}"


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
    """Return a reason without the absolute paths of files before it, which nobody reads first."""
    while (found := _PATH_FIRST.match(reason)) is not None:
        reason = found["said"]
    return reason


def _cut(line: str) -> str:
    begun = line[:LONGEST_REASON]
    words = begun.rpartition(" ")[0].rstrip(" ,;:.")
    # A path or an address has no words to end at.
    return f"{words if len(words) > LONGEST_REASON // 2 else begun[:-1]}…"


def told_by(origin: RunOrigin | None) -> str:
    """Return the executor and the model of a run in Markdown, "" when they are not known."""
    found = (origin.executor, asked_model(origin.executor, origin.model)) if origin is not None else ()
    return " · ".join(code(word) for word in found if word)


def suite_words(suite: Path) -> str:
    """Return how an eval file is called beside others: ``deploy/eval.yaml``."""
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
