"""When something was, as people read it; a file need not say. Light."""

from __future__ import annotations

from datetime import datetime

SOME_TIME_AGO = "some time ago"


def is_known(moment: datetime) -> bool:
    """Tell whether a file said when something was: the year 1 stands for a moment that it did not."""
    return moment.year > 1


def local_time(moment: datetime) -> str:
    """Return a moment as a clock here shows it: ``2026-11-26 16:23:09``, "" for one that is not known."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S") if is_known(moment) else ""
