"""Fingerprints of files and folders from the file system, which differ after a change.

Architecture invariant: light, and nothing here raises: it is used before anything of a document is loaded.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

Stamp = tuple[int, int, int, int, int]
"""When the content changed, size, number, device, and when anything changed last; times in nanoseconds."""

_TICK_NS = 100_000_000
_COARSE_TICK_NS = 3_000_000_000
_SECOND_NS = 1_000_000_000
CLOCK_SLACK_SECONDS = 1.0
"""Result files of other programs carry whole seconds."""


def stamp_of(path: Path) -> Stamp | str | None:
    """Return the fingerprint of a file, None if it does not exist, or why it is unknown."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return reason(error)
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev, status.st_ctime_ns


def was_there(path: Path, moment: datetime) -> bool:
    """Return whether a file is certainly unchanged since a moment."""
    stamp = stamp_of(path)
    return isinstance(stamp, tuple) and stamp[0] / 1e9 <= moment.timestamp() + CLOCK_SLACK_SECONDS


def identity_of(stamp: Stamp | str | None) -> tuple[int, int] | None:
    """Return the identity of a folder, the same for all of its names; None if it does not exist."""
    return stamp[2:4] if isinstance(stamp, tuple) else None


def is_settled(stamp: Stamp | str | None) -> bool:
    """Return whether a change from now on cannot leave the stamp as it is.

    File systems count time in ticks: two changes within one of them look like one. Some count in seconds.
    A time in the future counts as long ago: who wrote it has another clock, or made it up.
    """
    if not isinstance(stamp, tuple):
        return True
    times = stamp[0], stamp[4]
    is_coarse = any(moment % _SECOND_NS == 0 for moment in times)
    tick, now = _COARSE_TICK_NS if is_coarse else _TICK_NS, time.time_ns()
    return all(abs(now - moment) > tick for moment in times)


def reason(error: Exception) -> str:
    """Return a sentence why a file cannot be read."""
    if isinstance(error, PermissionError):
        return "there is no permission to read it"
    return "it cannot be read"
