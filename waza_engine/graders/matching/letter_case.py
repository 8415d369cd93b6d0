"""Lower and upper case as upstream has them: letter by letter, each with one other form."""

from __future__ import annotations


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
