"""Format times for people; a file may have none. Light."""

from __future__ import annotations

from datetime import datetime

SOME_TIME_AGO = "some time ago"


def is_known(moment: datetime) -> bool:
    """Return whether a time is known: the year 1 means that a file did not say."""
    return moment.year > 1


def local_time(moment: datetime) -> str:
    """Return a moment as a clock here shows it: ``2026-11-26 16:23:09``, "" for one that is not known."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S") if is_known(moment) else ""
