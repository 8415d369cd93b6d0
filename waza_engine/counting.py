"""A number of things in words: the one place that knows when a word takes an ``s``. Light."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """Return a number of things: ``1 task``, ``2 tasks``, ``12,345 tool calls``; ``what`` is one of them."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
