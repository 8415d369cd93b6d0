"""Checks that fail only because of CRLF line ends: these are invisible, so the feedback names them."""

from __future__ import annotations

from collections.abc import Callable


def line_end_words(text: str, holds: Callable[[str], bool], advice: str = "") -> str:
    """Return a clause for a check that would pass with LF line ends, "" otherwise."""
    if "\r\n" not in text or not holds(text.replace("\r\n", "\n")):
        return ""
    return f" (only the line ends differ: this text has CRLF{advice})"
