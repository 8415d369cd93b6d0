"""The globs of ``tasks`` and ``--task``, with the rules of Go's ``filepath`` (reference waza.md §1.1).

``*``, ``?`` and ``[…]`` stay within one directory level, so ``**`` is no more than ``*``; names that start
with a dot match too; the files of one pattern come sorted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_SPECIAL = "*?[" if os.name == "nt" else "*?[\\"


class PatternError(ValueError):
    """A pattern that cannot be read; the text says why."""


def expand(directory: Path, pattern: str) -> list[Path]:
    """Return what the pattern matches below the directory, sorted. Raises ``PatternError``."""
    segments = _segments(pattern)
    for segment in segments:
        _matcher(segment)
    places = [directory]
    for segment in segments:
        places = [found for place in places for found in _step(place, segment)]
    return places if segments else []


def name_matches(pattern: str, name: str) -> bool:
    """Return whether a whole name matches; ``*`` does not match ``/``. Raises ``PatternError``."""
    return _matcher(pattern)(name) is not None


def _segments(pattern: str) -> list[str]:
    """Return the directory levels.

    ``a/..`` is taken out and a slash at the start has no meaning, as on joining.
    """
    cleaned: list[str] = []
    for segment in (pattern.replace("\\", "/") if os.name == "nt" else pattern).split("/"):
        if segment in ("", "."):
            continue
        if segment == ".." and cleaned and cleaned[-1] != "..":
            cleaned.pop()
        else:
            cleaned.append(segment)
    return cleaned


def _step(place: Path, segment: str) -> Iterator[Path]:
    if segment == "..":
        yield place.parent
        return
    if not any(character in segment for character in _SPECIAL):
        if os.path.lexists(place / segment):
            yield place / segment
        return
    matches = _matcher(segment)
    try:
        names = sorted(os.listdir(place))  # noqa: PTH208 - names alone, without a stat each
    except OSError:
        return
    yield from (place / name for name in names if matches(name))


@lru_cache(maxsize=512)
def _matcher(pattern: str):
    expression = re.compile(_translated(pattern), re.DOTALL)
    return expression.fullmatch


def _translated(pattern: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            text, position = _bracket(pattern, position)
            parts.append(text)
        elif character == "\\" and os.name != "nt":
            if position == len(pattern):
                raise PatternError(f"`{pattern}` ends with a backslash")
            parts.append(re.escape(pattern[position]))
            position += 1
        else:
            parts.append(re.escape(character))
    return "".join(parts)


def _bracket(pattern: str, position: int) -> tuple[str, int]:
    negated = pattern.startswith("^", position)
    position += negated
    ranges: list[str] = []
    while not (ranges and pattern.startswith("]", position)):
        low, position = _bracket_character(pattern, position)
        high = low
        if pattern.startswith("-", position):
            high, position = _bracket_character(pattern, position + 1)
        if low > high:
            raise PatternError(f"`{pattern}` has the range {low}-{high}, which runs backwards")
        ranges.append(f"{re.escape(low)}-{re.escape(high)}")
    # A negated bracket matches no slash either: it stays within its directory level.
    return f"[{'^/' if negated else ''}{''.join(ranges)}]", position + 1


def _bracket_character(pattern: str, position: int) -> tuple[str, int]:
    character = pattern[position : position + 1]
    if character == "\\" and os.name != "nt":
        position += 1
        character = pattern[position : position + 1]
    elif character in ("-", "]"):
        raise PatternError(f"`{pattern}` has a {character} where a character is expected")
    if not character:
        raise PatternError(f"`{pattern}` has a [ that is not closed")
    return character, position + 1
