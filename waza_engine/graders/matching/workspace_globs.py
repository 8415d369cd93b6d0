"""Globs over the files of a workspace: an extension of the `file` grader over upstream's.

``*`` and ``?`` stay within one folder, ``**`` crosses folders, ``{a,b}`` means either. Everything else is
plain text, brackets too: many projects have folders called ``[id]``. Names that begin with a dot match, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from waza_engine.graders.base import GraderError
from waza_engine.graders.matching.patterns import PatternError, is_match

MOST_PATHS = 100_000
_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}/]*,[^{}/]*\}|[^*?{]+|\{")
_WRITTEN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def is_glob(path: str) -> bool:
    """Return whether a path has a wildcard."""
    return re.search(r"[*?]|\{[^{}/]*,[^{}/]*\}", path) is not None


def matching_paths(workspace: Path, glob: str) -> list[Path]:
    """Return the files and folders of a workspace that match, sorted. Links are not followed.

    Raises ``GraderError`` for a glob that is too large, and in a workspace with too many files.
    """
    pattern = f"(?s)^{_pattern(glob.removeprefix('./').rstrip('/'))}$"
    try:
        return sorted(place for name, place in _paths(workspace) if is_match(pattern, name))
    except PatternError as error:
        raise GraderError(f"the glob `{glob}` cannot be used: {error}") from None


@lru_cache(maxsize=256)
def _pattern(glob: str) -> str:
    return "".join(map(_written, _PARTS.findall(glob)))


def _written(part: str) -> str:
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(_pattern(each) for each in part[1:-1].split(','))})"
    return _WRITTEN.get(part) or re.escape(part)


def _paths(workspace: Path) -> Iterator[tuple[str, Path]]:
    """Yield the paths below a workspace, by their names with ``/``."""
    count = 0
    for folder, folders, files in os.walk(workspace):
        for name in (*folders, *files):
            count += 1
            if count > MOST_PATHS:
                raise GraderError(f"the workspace has more than {MOST_PATHS:,} files, too many for a glob")
            place = Path(folder, name)
            yield place.relative_to(workspace).as_posix(), place
