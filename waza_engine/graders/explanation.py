"""The result of a rule on a recorded trial, and changes that let it pass, as data for an editor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

AROUND = 60
"""The number of characters shown before and after a match."""
MOST_FOUND = 400
MOST_LINES = 60
MOST_VALUES = 12
LONGEST_VALUE = 300

RulePath = tuple[str | int, ...]
"""The path of a rule in the ``config`` of its grader, as in ``Check``."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a string, with its surroundings; ``line`` is its first, from 1.

    Parts that are cut off become an ellipsis.
    """

    before: str
    found: str
    after: str
    line: int

    @staticmethod
    def of(text: str, start: int, end: int) -> Excerpt:
        """Return the characters from ``start`` to ``end`` of a string."""
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
    """The result of one rule in one trial.

    ``observed`` is the result in a few characters, shown in a row with those of the other trials: a count, a
    name. ``told`` are sentences without a full stop. ``values`` are expressions with their values. ``lines``
    compare the wanted with the actual lines: their first character is ``-`` for wanted only, ``+`` for actual
    only, a space for both. Of the trials that a rule fails, the one with the greatest ``weight`` is the most
    informative.
    """

    observed: str = ""
    told: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    excerpt: Excerpt | None = None
    lines: tuple[str, ...] = ()
    weight: float = 0.0


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """Return a string on one line, its end cut off when it is long."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most and len(text) <= most * 2 else line[:most] + "…"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Another value for a path of a configuration, with which more trials might pass; plain JSON.

    ``words`` say what it does, as the title of a fix: a looser rule is called so. The new value follows a
    colon, if it is shown.
    """

    words: str
    path: RulePath
    value: Any


@dataclass(frozen=True, slots=True)
class FileProposal:
    """Another content for a file that a rule compares with, shown before it is written."""

    words: str
    file: Path
    text: str
