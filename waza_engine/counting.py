"""Words for people: counted nouns, times, and the beginning of long strings. Light."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """Return a number of things: ``1 task``, ``2 tasks``, ``12,345 tool calls``; ``what`` is one of them."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def in_seconds(seconds: float) -> str:
    """Return a time in words: ``1 second``, ``0.5 seconds``, ``300 seconds``."""
    return f"{seconds:g} second" if seconds == 1 else f"{seconds:g} seconds"


def cut(text: str, most: int) -> str:
    """Return a string, or its first ``most`` characters and an ellipsis when it is longer."""
    return text if len(text) <= most else f"{text[:most]}…"


def without_middle(text: str, most: int) -> str:
    """Return at most about ``most`` characters of a string: its beginning and its end."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
