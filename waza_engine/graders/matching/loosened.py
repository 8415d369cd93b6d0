"""Patterns that allow a little more than a pattern does, and how far a pattern that fails does match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from waza_engine.graders.matching.patterns import PatternError, check_syntax, found_at

LONGEST = 300
"""The length in characters of the longest pattern that is analyzed."""
LEAST_BEGINNING = 3
"""The shortest prefix of a pattern, in matched characters, that is worth showing."""
_PIECES = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_FLAGS = re.compile(r"^\(\?[a-zA-Z-]+\)")
_SPECIAL = re.compile(r"(?<!\\)[.*+?()\[\]{}|^$]")


@dataclass(frozen=True, slots=True)
class Loosened:
    """A pattern that matches more, and what it additionally allows, in words."""

    pattern: str
    allows: str


def loosened(pattern: str) -> Iterator[Loosened]:
    """Yield patterns that match more than this one, the most similar first.

    They may match no more of a given string; some may be invalid.
    """
    if len(pattern) > LONGEST:
        return
    steps = [(change, words) for change, words in _STEPS if change(pattern) != pattern]
    seen = {pattern}
    for count in range(1, len(steps) + 1):
        for chosen in combinations(steps, count):
            changed = pattern
            for change, _ in chosen:
                changed = change(changed)
            if changed not in seen:
                seen.add(changed)
                yield Loosened(changed, _listed([words for _, words in chosen]))
    if _SPECIAL.search(pattern):
        plain = re.sub(r"\\(?=\W)", "", pattern)
        for changed, words in (
            (escaped(plain), "its special characters as plain text"),
            (f"(?i){escaped(plain)}", "its special characters as plain text, upper and lower case ignored"),
        ):
            if changed not in seen:
                seen.add(changed)
                yield Loosened(changed, words)


def matching_loosened(
    pattern: str, text: str, *, ignore_case: bool = False
) -> tuple[Loosened, tuple[int, int]] | None:
    """Return the nearest looser pattern that occurs in a string, and where; None when none does."""
    for looser in loosened(pattern):
        place = _place(looser.pattern, text, ignore_case=ignore_case)
        if place is not None and place[1] > place[0]:
            return looser, place
    return None


def longest_beginning(
    pattern: str, text: str, *, ignore_case: bool = False
) -> tuple[str, tuple[int, int]] | None:
    """Return the longest prefix of a pattern that occurs in a string, and where; None when none does."""
    pieces = _PIECES.findall(pattern) if len(pattern) <= LONGEST else []
    try:
        if not pieces or _has_alternatives(pieces) or check_syntax(pattern) == "python":
            return None
    except PatternError:
        return None
    for count in range(len(pieces) - 1, 0, -1):
        beginning = "".join(pieces[:count])
        place = _place(beginning, text, ignore_case=ignore_case)
        if place is not None:
            return (beginning, place) if place[1] - place[0] >= LEAST_BEGINNING else None
    return None


def escaped(text: str) -> str:
    """Return a pattern for exactly this string, in syntax that RE2 and Python both read."""
    return re.sub(r"[.*+?()\[\]{}|^$\\]", lambda found: f"\\{found.group()}", text)


def _has_alternatives(pieces: Sequence[str]) -> bool:
    """Return whether the pattern as a whole is one of several, so that no part of it comes first."""
    depth = 0
    for piece in pieces:
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            return True
    return False


def _place(pattern: str, text: str, *, ignore_case: bool) -> tuple[int, int] | None:
    try:
        return found_at(pattern, text, ignore_case=ignore_case)
    except PatternError:
        return None


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)


def _flag(letter: str, pattern: str) -> str:
    written = _FLAGS.match(pattern)
    if written is None:
        return f"(?{letter}){pattern}"
    on = written.group()[2:-1].partition("-")[0]
    return (
        pattern
        if letter in on or "-" in written.group()
        else f"(?{letter}{written.group()[2:]}{pattern[written.end() :]}"
    )


def _any_case(pattern: str) -> str:
    return _flag("i", pattern)


def _any_space(pattern: str) -> str:
    pieces = _PIECES.findall(pattern)
    changed: list[str] = []
    for position, piece in enumerate(pieces):
        if piece not in (" ", "\\ "):
            changed.append(piece)
        elif pieces[position + 1 : position + 2] and pieces[position + 1] in "*+?{":
            changed.append(r"\s")
        elif changed[-1:] != [r"\s+"]:
            changed.append(r"\s+")
    return "".join(changed)


def _of_lines(pattern: str) -> str:
    anchored = {"^", "$"} & set(_PIECES.findall(pattern))
    return _flag("m", pattern) if anchored else pattern


def _without_anchors(pattern: str) -> str:
    flags = _FLAGS.match(pattern)
    start = flags.end() if flags is not None else 0
    pieces = _PIECES.findall(pattern[start:])
    if pieces and pieces[0] in ("^", r"\A"):
        pieces = pieces[1:]
    if pieces and pieces[-1] in ("$", r"\z", r"\Z"):
        pieces = pieces[:-1]
    return pattern[:start] + "".join(pieces) if pieces else pattern


def _single_backslashes(pattern: str) -> str:
    return re.sub(r"\\\\(?=\W|[dswbDSWB])", r"\\", pattern)


def _without_plural(pattern: str) -> str:
    return re.sub(r"(?<=[a-z]{2})s(?=$|\$$|\\b|\s|\\s)", "s?", pattern)


_STEPS: Sequence[tuple[Callable[[str], str], str]] = (
    (_any_case, "upper and lower case ignored"),
    (_any_space, "any white space between its words"),
    (_single_backslashes, "its backslashes not doubled"),
    (_of_lines, "its anchors for lines"),
    (_without_anchors, "without its anchors"),
    (_without_plural, "with or without the plural"),
)
