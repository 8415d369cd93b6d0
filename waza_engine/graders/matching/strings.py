"""Strings in checks and messages: letter case as upstream has it, line ends, quoted and shortened strings."""

from __future__ import annotations

import json
from collections.abc import Callable


def lowered(text: str) -> str:
    """Return the string in lower case, without a final sigma and with one letter for ``İ``."""
    if text.isascii():
        return text.lower()
    return "".join("i" if letter == "\u0130" else letter.lower() for letter in text)


def uppered(text: str) -> str:
    """Return the string in upper case, with the same length: ``ß`` stays ``ß``."""
    if text.isascii():
        return text.upper()
    return "".join(upper if len(upper := letter.upper()) == 1 else letter for letter in text)


def line_end_advice(text: str, holds: Callable[[str], bool], advice: str = "") -> str:
    """Return a clause for a check that would pass with LF line ends, "" otherwise."""
    if "\r\n" not in text or not holds(text.replace("\r\n", "\n")):
        return ""
    return f" (only the line ends differ: this text has CRLF{advice})"


def quoted(text: str) -> str:
    """Return a string in double quotes, on one line: its beginning and end are unambiguous."""
    return json.dumps(text, ensure_ascii=False)


def shortened(text: str, most: int = 300) -> str:
    """Return a string on one line, its end cut off when it is long."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most and len(text) <= most * 2 else line[:most] + "…"
