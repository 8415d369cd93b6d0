"""What a rule of a grader met in a recorded trial, and what would let it pass: data that an editor draws."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

AROUND = 60
"""Characters that are shown before and after what was found in a text."""
MOST_FOUND = 400
MOST_LINES = 60
MOST_VALUES = 12
LONGEST_VALUE = 300

RulePath = tuple[str | int, ...]
"""Where a rule stands in the ``config`` of its grader, as in ``Check``."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, with what stands around it in the same text; ``line`` is its first, from 1.

    What is cut off is an ellipsis.
    """

    before: str
    found: str
    after: str
    line: int

    @staticmethod
    def of(text: str, start: int, end: int) -> Excerpt:
        """Return the characters from ``start`` to ``end`` of a text."""
        begin, rest = max(0, start - AROUND), min(len(text), end + AROUND)
        found = text[start:end]
        if len(found) > MOST_FOUND:
            found = f"{found[: MOST_FOUND // 2]}…{found[-MOST_FOUND // 2 :]}"
        return Excerpt(
            before=("…" if begin else "") + text[begin:start],
            found=found,
            after=text[end:rest] + ("…" if rest < len(text) else ""),
            line=text.count("\n", 0, start) + 1,
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one rule met in one trial.

    ``observed`` is that in a few characters, to stand in a row with those of the other trials: a count, a
    name. ``told`` are sentences without a full stop. ``values`` are expressions beside what they came to.
    ``lines`` compare what was wanted with what was there: their first character is ``-`` for what was wanted
    only, ``+`` for what was there only, a blank for both. Of the trials that a rule fails, the one with the
    greatest ``weight`` says most.
    """

    observed: str = ""
    told: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    excerpt: Excerpt | None = None
    lines: tuple[str, ...] = ()
    weight: float = 0.0


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """Return a text on one line, its end cut off when it is long."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most and len(text) <= most * 2 else line[:most] + "…"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Another value for a place of a configuration, with which more trials might pass; plain JSON.

    ``words`` say what it does, as the title of a fix: what loosens a rule says so. What is written for it
    follows a colon, if it is told.
    """

    words: str
    path: RulePath
    value: Any


@dataclass(frozen=True, slots=True)
class FileProposal:
    """Another content for a file that a rule compares with, to be shown before it is written."""

    words: str
    file: Path
    text: str
