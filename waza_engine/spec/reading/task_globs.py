"""Task globs, read with the rules of Go's ``filepath.Glob``.

``*``, ``?`` and ``[…]`` stay within one directory level, so ``**`` is no more than ``*``; names that start
with a dot match too; the paths of one pattern come sorted. A pattern is joined to the suite's directory, so
even one that starts with a slash starts there. On Windows a backslash separates directories, elsewhere it
escapes the next character.

Architecture invariant: light, because the run and the language server share it; the caller lists directories,
so that the server can answer from memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from waza_engine.later_patterns import compiled_later

_ESCAPES = os.sep == "/"
_SPECIAL = compiled_later(r"[*?\[\\]" if _ESCAPES else r"[*?\[]")

Listing = Callable[[Path], "Iterable[tuple[str, bool]] | None"]
"""Names in a directory with whether each is one; None when it cannot be read or does not exist."""


class GlobError(ValueError):
    """A pattern that cannot be read; the message says why."""


def expand(
    directory: Path,
    pattern: str,
    listing: Listing | None = None,
    *,
    has_entry: Callable[[Path], bool] | None = None,
    limit: int | None = None,
) -> tuple[Path, ...]:
    """Return the paths below a directory that match, in the order in which a run loads them.

    Without ``listing`` the disk is read. ``has_entry`` checks a name without wildcards, by default in the
    listing of its directory. Stops after ``limit`` paths. Raises ``GlobError``.
    """
    segments = split_pattern(pattern)
    for segment in segments:
        segment_matcher(segment)
    if "\0" in pattern:
        return ()  # No file can have such a name, so do not query the file system for one.
    has_entry = has_entry or (os.path.lexists if listing is None else _listed_by(listing))
    places = [directory]
    for position, segment in enumerate(segments, 1):
        found: list[Path] = []
        for place in places:
            found += _step(place, segment, listing or _on_disk, has_entry, last=position == len(segments))
            if limit is not None and len(found) >= limit:
                break
        places = found[:limit]
    return tuple(places) if segments else ()


def matches(directory: Path, pattern: str, path: Path) -> bool:
    """Return whether the pattern picks up the path when it exists. Raises ``GlobError``."""
    segments = split_pattern(pattern)
    base = directory
    while segments and segments[0] == "..":
        segments, base = segments[1:], base.parent
    try:
        steps = path.relative_to(base).parts
    except ValueError:
        return False
    return len(steps) == len(segments) and all(
        segment_matcher(segment)(step) for segment, step in zip(segments, steps, strict=True)
    )


def literal_path(directory: Path, pattern: str) -> Path | None:
    """Return the one path that a pattern without wildcards picks up; None for all others."""
    segments = split_pattern(pattern)
    if not segments or not all(map(is_literal, segments)):
        return None
    base = directory
    while segments and segments[0] == "..":
        segments, base = segments[1:], base.parent
    return base.joinpath(*segments)


def name_matches(pattern: str, name: str) -> bool:
    """Return whether a whole name matches; ``*`` does not match ``/``. Raises ``GlobError``."""
    return segment_matcher(pattern)(name)


def split_pattern(pattern: str) -> list[str]:
    """Return the directory levels; ``.`` and ``a/..`` are removed, as on joining."""
    segments: list[str] = []
    for segment in (pattern if _ESCAPES else pattern.replace("\\", "/")).split("/"):
        if segment in ("", "."):
            continue
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        else:
            segments.append(segment)
    return segments


def literally(path: str) -> str:
    """Return the pattern that picks up a path alone, with slashes, whatever its names are made of."""
    return _SPECIAL.sub(lambda sign: "\\\\" if sign[0] == "\\" else f"[{sign[0]}]", path)


def is_literal(segment: str) -> bool:
    """Return whether a directory level names itself alone."""
    return not _SPECIAL.search(segment)


@lru_cache(maxsize=512)
def segment_matcher(segment: str) -> Callable[[str], bool]:
    """Return a test for one directory level, of linear time for each star. Raises ``GlobError``."""
    if is_literal(segment):
        return lambda name: name == segment
    first, *others = _runs(segment)
    # Each run takes the first place that it finds, which never costs another one its place.
    middle = "".join(f"(?>[^/]*?{run})" for run in others[:-1])
    pattern = re.compile(f"{first}{middle}[^/]*{others[-1]}" if others else first)
    return lambda name: pattern.fullmatch(name) is not None


def _step(
    place: Path, segment: str, listing: Listing, has_entry: Callable[[Path], bool], *, last: bool
) -> list[Path]:
    if segment == "..":
        return [place.parent]
    if is_literal(segment):
        found = place / segment
        return [found] if not last or has_entry(found) else []
    names = listing(place)
    if names is None:
        return []
    wanted = segment_matcher(segment)
    return [place / name for name, is_directory in sorted(names) if (is_directory or last) and wanted(name)]


def _listed_by(listing: Listing) -> Callable[[Path], bool]:
    # The file system itself may ignore case.
    return lambda path: any(name == path.name for name, _ in listing(path.parent) or ())


def _on_disk(directory: Path) -> Iterable[tuple[str, bool]] | None:
    try:
        with os.scandir(directory) as entries:
            return [(entry.name, entry.is_dir()) for entry in entries]
    except OSError:
        return None


def _runs(segment: str) -> list[str]:
    """Return the parts between the stars as regular expressions."""
    runs = [""]
    position = 0
    while position < len(segment):
        character = segment[position]
        position += 1
        if character == "*":
            runs.append("")
        elif character == "?":
            runs[-1] += "[^/]"
        elif character == "[":
            characters, position = _bracket(segment, position)
            runs[-1] += characters
        elif character == "\\" and _ESCAPES:
            if position == len(segment):
                raise GlobError("it ends with a backslash")
            runs[-1] += re.escape(segment[position])
            position += 1
        else:
            runs[-1] += re.escape(character)
    return runs


def _bracket(segment: str, position: int) -> tuple[str, int]:
    """Return the set of characters that begins after a bracket, and where it ends."""
    negated = segment.startswith("^", position)
    position += negated
    ranges = ""
    while not (ranges and segment.startswith("]", position)):
        low, position = _bracket_character(segment, position)
        high = low
        if segment.startswith("-", position):
            high, position = _bracket_character(segment, position + 1)
        if low > high:
            raise GlobError(f"the range {low}-{high} runs backwards")
        ranges += f"{re.escape(low)}-{re.escape(high)}"
    return f"[^/{ranges}]" if negated else f"[{ranges}]", position + 1


def _bracket_character(segment: str, position: int) -> tuple[str, int]:
    character = segment[position : position + 1]
    if character == "\\" and _ESCAPES:
        position += 1
        character = segment[position : position + 1]
    elif character in ("-", "]"):
        raise GlobError(f"a {character} stands where a character is expected")
    if not character:
        raise GlobError("a [ is not closed")
    return character, position + 1
