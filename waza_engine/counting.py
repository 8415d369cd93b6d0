"""Counted nouns: the one place that knows when a word takes an ``s``. Light."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """Return a number of things: ``1 task``, ``2 tasks``, ``12,345 tool calls``; ``what`` is one of them."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def in_seconds(seconds: float) -> str:
    """Return a time in words: ``1 second``, ``0.5 seconds``, ``300 seconds``."""
    return f"{seconds:g} second" if seconds == 1 else f"{seconds:g} seconds"
