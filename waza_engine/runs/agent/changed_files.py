"""Find the files that an agent made, changed or deleted, by name, size and modification time alone.

Tool calls are not enough: a shell writes files too, and some agents do not report their calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from waza_engine.results.record import FilesChanged

MOST_FILES = 20_000
"""Changes are not reported for a workspace with more files: scanning it would take too long."""
_LEFT_OUT = frozenset({".git"})

_State = tuple[int, int]
"""A size in bytes, and a time in nanoseconds."""


def watched_files(workspace: Path) -> Callable[[], FilesChanged]:
    """Take a snapshot of a workspace; return a function that reports what has changed since.

    Links are files of their own and never followed; git's own directory is left out.
    """
    before = _files_of(workspace)

    def changes() -> FilesChanged:
        after = None if before is None else _files_of(workspace)
        return FilesChanged() if before is None or after is None else _difference(before, after)

    return changes


def _difference(before: Mapping[str, _State], after: Mapping[str, _State]) -> FilesChanged:
    return FilesChanged.of(
        created=sorted(after.keys() - before.keys()),
        changed=sorted(path for path in after.keys() & before.keys() if after[path] != before[path]),
        deleted=sorted(before.keys() - after.keys()),
    )


def _files_of(workspace: Path) -> dict[str, _State] | None:
    """Return the files by their paths with `/`; None when there are too many, or not all can be seen."""
    found: dict[str, _State] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(workspace / folder))
        except FileNotFoundError:
            continue  # processes of the agent may still be active
        except OSError:
            return None
        for entry in entries:
            path = f"{folder}{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting += [] if entry.name in _LEFT_OUT else [f"{path}/"]
                    continue
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                return None
            found[path] = (status.st_size, status.st_mtime_ns)
            if len(found) > MOST_FILES:
                return None
    return found
