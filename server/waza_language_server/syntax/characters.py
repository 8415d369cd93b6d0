"""Characters that YAML parsers reject or misread, found before parsing.

Each is replaced by one harmless character of the same length, so that the rest of the file can be parsed and
every offset stays valid; the values in the tree get the original back.
"""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

# Compiled at first use: such large character sets take milliseconds.
_STOOD_IN = compiled_later("[\U00100000-\U0010ffff]")

_REFUSED = compiled_later("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")

MAX_CHARACTERS = 4_000_000
"""Longer files are not suites; parsing them would block the editor."""

_MAX_FAULTS = 50
_HEAD = 8_192
_ALLOWED_ASCII = bytes([9, 10, 13, *range(32, 127)])
_STAND_IN = 0x100000

_NAMES = {
    "\x00": "a NUL character",
    "\x0b": "a vertical tab",
    "\x0c": "a form feed",
    "\x1b": "an escape character",
    "\x7f": "a delete character",
    "\x85": "a NEL character",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
    "\ufeff": "a byte order mark",
}
_TAKEN_FOR_BREAKS = frozenset("\x85\u2028\u2029")


def has_refused(text: str) -> bool:
    """Return whether the text has a character that YAML parsers reject or misread."""
    if text.isascii():
        return bool(text.encode("ascii").translate(None, _ALLOWED_ASCII))
    return _REFUSED.search(text) is not None


def is_binary(text: str) -> bool:
    """Return whether the text is binary: many control characters and undecodable bytes at its start."""
    head = text[:_HEAD]
    odd = len(_REFUSED.findall(head)) + head.count("\ufffd")
    return odd > 8 and odd * 20 > len(head)


def stand_in(text: str) -> str:
    """Return the text with each rejected character replaced by one that parsers read as a letter."""
    return _REFUSED.sub(lambda match: chr(_STAND_IN + ord(match[0])), text)


def restore(value: str) -> str:
    """Return a value with the original characters."""
    if value.isascii():
        return value
    return _STOOD_IN.sub(lambda match: chr(ord(match[0]) - _STAND_IN), value)


def refused_faults(text: str) -> Iterator[SyntaxFault]:
    """Yield a fault for each rejected character, up to a limit."""
    for count, match in enumerate(_REFUSED.finditer(text)):
        if count == _MAX_FAULTS:
            return
        char = match[0]
        name = _NAMES.get(char, f"an invisible control character (U+{ord(char):04X})")
        why = "which parsers read as a line break" if char in _TAKEN_FOR_BREAKS else "which readers refuse"
        span = Span(match.start(), match.end())
        remove = Fix("Remove the invisible character", (Edit(span, ""),), preferred=True)
        yield SyntaxFault(span, f"This is {name}, {why}; delete it.", "control-character", fixes=(remove,))
