"""The globs of ``tasks:``, resolved as the run resolves them.

The rules are those of Go's ``filepath.Glob`` (reference waza.md §1.1): ``*``, ``?`` and ``[…]`` stay within
one folder level, ``**`` means no more than ``*``, names that start with a dot match too, and the files of
one pattern come sorted. The pattern is joined to the eval's folder, so even one that starts with a slash
starts there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

_SPECIAL = re.compile(r"[*?\[\\]") if os.sep == "/" else re.compile(r"[*?\[]")

Listing = Callable[[Path], "Iterable[tuple[str, bool]] | None"]
"""Names in a folder with whether each is a folder; None when the folder cannot be read or does not exist."""


class BadPatternError(ValueError):
    """The pattern cannot be read: a bracket is not closed, a range is empty or runs backwards."""


def glob(folder: Path, pattern: str, listing: Listing, *, limit: int = 20_000) -> tuple[Path, ...]:
    """Return the paths below ``folder`` that match, in the order in which a run loads them.

    Raises ``BadPatternError``. Stops after ``limit`` paths.
    """
    segments = split_pattern(pattern)
    places = [folder]
    for position, segment in enumerate(segments):
        last = position == len(segments) - 1
        found: list[Path] = []
        for place in places:
            found += _step(place, segment, listing, folders_only=not last)
            if len(found) >= limit:
                break
        places = found[:limit]
    return tuple(places) if segments else ()


def matches(folder: Path, pattern: str, path: Path) -> bool:
    """Whether the path is one that the pattern picks up when it exists. Raises ``BadPatternError``."""
    segments = split_pattern(pattern)
    ups = 0
    while segments and segments[0] == "..":
        segments, ups = segments[1:], ups + 1
    base = folder
    for _ in range(ups):
        base = base.parent
    try:
        steps = path.relative_to(base).parts
    except ValueError:
        return False
    return len(steps) == len(segments) and all(
        segment_matcher(segment)(step) for segment, step in zip(segments, steps, strict=True)
    )


def split_pattern(pattern: str) -> list[str]:
    """Return the cleaned segments of a pattern; ``.`` is dropped and ``a/..`` is taken out, as on joining."""
    if os.sep == "\\":
        pattern = pattern.replace("\\", "/")
    segments: list[str] = []
    for segment in pattern.split("/"):
        if segment in {"", "."}:
            continue
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        else:
            segments.append(segment)
    return segments


@lru_cache(maxsize=512)
def segment_matcher(segment: str) -> Callable[[str], bool]:
    """Return a test for one folder level. Raises ``BadPatternError``."""
    expression = re.compile(_translate(segment), re.DOTALL)
    return lambda name: expression.fullmatch(name) is not None


def _step(place: Path, segment: str, listing: Listing, *, folders_only: bool) -> list[Path]:
    if segment == "..":
        return [place.parent]
    if not _SPECIAL.search(segment):
        candidate = place / segment
        if folders_only:
            return [candidate]
        names = listing(place)
        return [candidate] if names is not None and any(name == segment for name, _ in names) else []
    matcher = segment_matcher(segment)
    names = listing(place)
    if names is None:
        return []
    return [
        place / name for name, is_folder in sorted(names) if (is_folder or not folders_only) and matcher(name)
    ]


def _translate(segment: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(segment):
        character = segment[position]
        position += 1
        if character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append(".")
        elif character == "[":
            text, position = _bracket(segment, position)
            parts.append(text)
        elif character == "\\" and os.sep == "/":
            if position == len(segment):
                raise BadPatternError("a backslash stands at the end")
            parts.append(re.escape(segment[position]))
            position += 1
        else:
            parts.append(re.escape(character))
    return "".join(parts)


def _bracket(segment: str, position: int) -> tuple[str, int]:
    negated = segment[position : position + 1] == "^"
    position += negated
    ranges: list[str] = []
    while True:
        if position >= len(segment):
            raise BadPatternError("a [ is not closed")
        if segment[position] == "]" and ranges:
            return f"[{'^' if negated else ''}{''.join(ranges)}]", position + 1
        low, position = _bracket_character(segment, position)
        high = low
        if segment[position : position + 1] == "-":
            high, position = _bracket_character(segment, position + 1)
        if low > high:
            raise BadPatternError(f"the range {low}-{high} runs backwards")
        ranges.append(f"{re.escape(low)}-{re.escape(high)}")


def _bracket_character(segment: str, position: int) -> tuple[str, int]:
    character = segment[position : position + 1]
    if character == "\\" and os.sep == "/":
        position += 1
        character = segment[position : position + 1]
    elif character in {"-", "]"}:
        raise BadPatternError(f"a {character} stands where a character is expected")
    if not character:
        raise BadPatternError("a [ is not closed")
    return character, position + 1
