"""Where kept problems are: in files of their own in the user's cache, which nobody else may read.

They quote what suites say. What is broken, cut off, somebody else's or unreadable is as good as nothing, and
so is a place that cannot be written.

Architecture invariant: light.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from waza_engine.files import FileError, read_bytes
from waza_language_server.kept.digests import digest

VARIABLE = "WAZA_PROBLEMS_CACHE"
"""Names another folder, or says ``off``."""
LARGEST_BYTES = 2_000_000
MOST_BYTES = 20_000_000
MOST_FILES = 1_000
LONGEST_SECONDS = 30 * 86_400.0
"""How long a file stays that is not needed."""
_USED_AFTER_SECONDS = 86_400.0
_UNFINISHED_SECONDS = 3_600.0
_ENDING, _UNFINISHED = ".problems", ".new"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def folder() -> Path | None:
    """Return where problems are kept, None when they are not."""
    said = os.environ.get(VARIABLE, "")
    if said:
        return _absolute(said) if said.strip().lower() != "off" else None
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        caches = os.path.expanduser("~/Library/Caches")  # noqa: PTH111 - that of pathlib raises
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    known = _absolute(caches)
    return None if known is None else known / "waza-language-server" / "problems"


def read(place: Path, name: str) -> Any:
    """Return what was written by this name, None when that is nothing that can be trusted."""
    path = place / f"{name}{_ENDING}"
    try:
        status = os.lstat(path)
    except OSError:
        return None
    try:
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            return None
        checksum, _, content = read_bytes(path, LARGEST_BYTES).partition(b"\n")
        if checksum.decode("ascii") != digest(content):
            return None
        found = json.loads(content)
    except (OSError, FileError, ValueError, RecursionError):
        return None
    if status.st_mtime + _USED_AFTER_SECONDS < time.time():
        with suppress(OSError):
            os.utime(path)
    return found


def write(place: Path, name: str, content: Any) -> None:
    """Keep a JSON value by a name, whole or not at all, and let go of what is old or too much."""
    data = json.dumps(content, separators=(",", ":")).encode()
    if len(data) > LARGEST_BYTES:
        return
    unfinished = place / f"{name}.{os.getpid()}{_UNFINISHED}"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(unfinished, _FLAGS, 0o600)
    except OSError:
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(digest(data).encode() + b"\n" + data)
        unfinished.replace(place / f"{name}{_ENDING}")
    except OSError:
        # A full disk has room for the beginning of it.
        with suppress(OSError):
            unfinished.unlink()
    _tidy(place)


def _tidy(place: Path) -> None:
    now = time.time()
    kept: list[tuple[float, int, str]] = []
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                age = now - status.st_mtime
                if entry.name.endswith(_UNFINISHED) and age > _UNFINISHED_SECONDS:
                    Path(entry.path).unlink()
                elif entry.name.endswith(_ENDING):
                    kept.append((age, status.st_size, entry.path))
    size = 0
    for count, (age, bytes_of_it, path) in enumerate(sorted(kept)):
        size += bytes_of_it
        if age > LONGEST_SECONDS or size > MOST_BYTES or count >= MOST_FILES:
            with suppress(OSError):
                Path(path).unlink()


def _absolute(written: str) -> Path | None:
    path = Path(written)
    return path if path.is_absolute() and "\0" not in written else None
