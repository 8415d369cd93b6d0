r"""Decoding of a YAML scalar that records the source of each character.

The rules are those of libyaml, which parses the tree: how lines fold, which line breaks a block scalar has at
its end, which escapes there are. If a decoded value differs from the tree's (it should not), the entire
scalar maps to its span.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.text.span import Span

_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_SURROGATES = compiled_later(r"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HEADER = compiled_later(r"[|>](?P<signs>[-+1-9]{0,2})[ \t]*(?:#[^\r\n]*)?(?P<break>\r\n|\r|\n|\Z)")
_BREAK = compiled_later(r"\r\n|\r|\n")
_ROW = compiled_later(r"([ ]*)([^\r\n]*)(\r\n|\r|\n|\Z)")


@dataclass(slots=True)
class Decoded:
    """A value and, for each of its characters, the source offsets of its start and end.

    ``end`` is where the content ends. ``indent`` and ``signs`` describe a block scalar: the column of its
    content and the indicators after ``|`` or ``>``. ``is_exact`` is false if all characters map to the span.
    """

    end: int
    chars: list[str] = field(default_factory=list[str])
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    indent: int = -1
    signs: str = ""
    is_exact: bool = True

    @property
    def value(self) -> str:
        """Return the decoded string."""
        return "".join(self.chars)

    def add(self, char: str, start: int, end: int) -> None:
        """Append one character whose source is ``start`` up to ``end``."""
        self.chars.append(char)
        self.starts.append(start)
        self.ends.append(end)

    def add_all(self, pieces: Iterable[tuple[str, int, int]]) -> None:
        """Append characters with their source offsets."""
        for char, start, end in pieces:
            self.add(char, start, end)


def decode(source: str, span: Span, style: str, expected: str, *, raw: bool = False) -> Decoded:
    """Decode the scalar at ``span``.

    with ``raw`` the characters stay as they are; ``expected`` is the tree's value.
    """
    if raw:
        decoded = Decoded(span.end)
        decoded.add_all((source[at], at, at + 1) for at in range(span.start, span.end))
        return decoded
    if style in {"literal", "folded"}:
        decoded = _block(source, span, style == "folded", expected)
    elif style == "double":
        decoded = _quoted(source, span.start + 1, span.end - 1, '"')
    elif style == "single":
        decoded = _quoted(source, span.start + 1, span.end - 1, "'")
    else:
        decoded = _quoted(source, span.start, span.end, "")
    return decoded if decoded.value == expected else _coarse(span, expected)


def _coarse(span: Span, value: str) -> Decoded:
    size = len(value)
    return Decoded(span.end, list(value), [span.start] * size, [span.end] * size, is_exact=False)


def _quoted(source: str, start: int, end: int, quote: str) -> Decoded:
    """Decode flow text between its quotes: folding in every style, escapes by the quote."""
    out = Decoded(end)
    at = start
    while at < end:
        char = source[at]
        if char in " \t\r\n":
            at = _blanks(source, at, end, out)
        elif char == "'" and quote == "'":
            out.add("'", at, at + 2)
            at += 2
        elif char == "\\" and quote == '"':
            at = _escape(source, at, end, out)
        else:
            out.add(char, at, at + 1)
            at += 1
    return out


def _blanks(source: str, start: int, end: int, out: Decoded, *, escaped: bool = False) -> int:
    """Decode a run of whitespace and line breaks; after an escaped break the first break is already gone."""
    at = start
    while at < end and source[at] in " \t\r\n":
        at += 1
    breaks = [match.span() for match in _BREAK.finditer(source, start, at)]
    if not breaks and not escaped:
        out.add_all((source[place], place, place + 1) for place in range(start, at))
    elif escaped:
        out.add_all(("\n", *place) for place in breaks)
    elif len(breaks) == 1:
        out.add(" ", start, at)
    else:
        out.add_all(("\n", *place) for place in breaks[1:])
    return at


def _escape(source: str, at: int, end: int, out: Decoded) -> int:
    code = source[at + 1 : at + 2]
    if (pair := _SURROGATES.match(source, at, end)) is not None:
        # Only JSON writes a character as two escapes.
        out.add(json.loads(f'"{pair[0]}"'), at, pair.end())
        return pair.end()
    if code in _HEX_DIGITS:
        stop = at + 2 + _HEX_DIGITS[code]
        try:
            out.add(chr(int(source[at + 2 : stop], 16)), at, stop)
        except (ValueError, OverflowError):
            return end
        return stop
    broken = _BREAK.match(source, at + 1, end)
    if broken:
        return _blanks(source, broken.end(), end, out, escaped=True)
    out.add(_ESCAPES.get(code, code), at, at + 2)
    return at + 2


def _block(source: str, span: Span, folded: bool, expected: str) -> Decoded:
    header = _HEADER.match(source, span.start)
    if header is None:
        return _coarse(span, expected)
    signs = header["signs"]
    rows = _rows(source, header.end(), span.end)
    if not any(char.isdigit() for char in signs):
        return _block_at(rows, span.end, _natural_indent(rows), signs, folded)
    # The indicator counts from the indentation of the parent, which the scalar alone does not contain.
    widest = max((len(row.spaces) for row in rows), default=0)
    for indent in range(widest, 0, -1):
        decoded = _block_at(rows, span.end, indent, signs, folded)
        if decoded.value == expected:
            return decoded
    return _coarse(span, expected)


@frozen()
class _Row:
    """A line of a block scalar: ``end`` is where its break starts, ``next`` where the next line does."""

    start: int
    spaces: str
    rest: str
    end: int
    next: int


def _rows(source: str, start: int, end: int) -> list[_Row]:
    """Return the lines up to ``end``, which is the end of the last text, and the empty ones after it."""
    rows: list[_Row] = []
    for match in _ROW.finditer(source, start):
        if match.start() == len(source) or (match.start() >= end and match[2]):
            break
        rows.append(_Row(match.start(), match[1], match[2], match.end(2), match.end()))
    return rows


def _natural_indent(rows: list[_Row]) -> int:
    widest = 1
    for row in rows:
        widest = max(widest, len(row.spaces))
        if row.rest:
            break
    return widest


def _block_at(rows: list[_Row], end: int, indent: int, signs: str, folded: bool) -> Decoded:
    """Decode the lines with their text starting at column ``indent``."""
    out = Decoded(end, indent=indent, signs=signs)
    last_break: tuple[str, int, int] | None = None
    blank_lines: list[tuple[str, int, int]] = []
    began_blank = False
    for row in rows:
        text = (row.spaces + row.rest)[indent:]
        line_break = ("\n", row.end, row.next) if row.next > row.end else None
        if not text:
            if line_break:
                blank_lines.append(line_break)
            continue
        begins_blank = text[0] in " \t"
        if last_break is not None:
            if folded and not began_blank and not begins_blank:
                if not blank_lines:
                    out.add(" ", last_break[1], row.start + indent)
            else:
                out.add(*last_break)
        out.add_all(blank_lines)
        blank_lines = []
        first = row.start + indent
        out.add_all((char, first + index, first + index + 1) for index, char in enumerate(text))
        last_break, began_blank = line_break, begins_blank
    if "-" not in signs and last_break is not None:
        out.add(*last_break)
    if "+" in signs:
        out.add_all(blank_lines)
    out.end = max([end, *out.starts[-1:]])
    return out
