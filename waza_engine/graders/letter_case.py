"""Lower case as upstream has it: letter by letter, each with one lower form."""

from __future__ import annotations


def lowered(text: str) -> str:
    """Return the text in lower case, without a final sigma and with one letter for ``İ``."""
    if text.isascii():
        return text.lower()
    return "".join("i" if letter == "\u0130" else letter.lower() for letter in text)
