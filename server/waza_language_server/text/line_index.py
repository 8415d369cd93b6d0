r"""Conversion between offsets and the editor's lines and columns.

Editors count lines and columns; the core counts code points from the start of the text. The index is built
once per version of a document and converts both ways for UTF-8, UTF-16 and UTF-32 columns.

Architecture invariant: only ``\n``, ``\r\n`` and ``\r`` break lines, as the Language Server Protocol says.
Form feed, NEL and U+2028, where ``str.splitlines`` breaks too, are characters like any other.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Literal

from waza_language_server.text.span import Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]


class LineIndex:
    """The lines of one text.

    Lines and columns are 0-based; a column counts code units of the given encoding.
    """

    __slots__ = ("_ascii", "_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii()
        self._starts = _line_starts(text)

    @property
    def line_count(self) -> int:
        """Return the number of lines; the empty one after a final line break counts."""
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """Return the line that holds the offset; offsets outside the text belong to the nearest line."""
        return bisect_right(self._starts, max(offset, 0)) - 1

    def line_span(self, line: int) -> Span:
        """Return the characters of a line without its break.

        Empty after the last line.
        """
        if line >= self.line_count:
            return Span(len(self._text), len(self._text))
        line = max(line, 0)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < self.line_count else len(self._text)
        while end > start and self._text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def position(self, offset: int, encoding: Encoding = "utf-16") -> tuple[int, int]:
        r"""Return (line, column) of an offset; offsets outside the text count as its ends.

        An offset between ``\r`` and ``\n`` counts as the end of the line.
        """
        if not 0 <= offset <= len(self._text):
            offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        length = offset - self._starts[line]
        if length and self._text[offset - 1] == "\r":
            length -= 1
            offset -= 1
        if length and not self._ascii:
            length = _width(self._text[offset - length : offset], encoding)
        return line, length

    def positions(self, span: Span, encoding: Encoding = "utf-16") -> tuple[int, int, int, int]:
        """Return line and column of the start of a span, and those of its end."""
        line, column = self.position(span.start, encoding)
        between = self._text[span.start : span.end] if span.start >= 0 else "\n"
        if len(between) == span.end - span.start and not ("\n" in between or "\r" in between):
            # Usual: the end is on the same line.
            width = len(between) if self._ascii else _width(between, encoding)
            return line, column, line, column + width
        return line, column, *self.position(span.end, encoding)

    def offset(self, line: int, character: int, encoding: Encoding = "utf-16") -> int:
        """Return the offset of a position.

        Columns after the end of a line map to its end, lines after the last one to the end of the text.

        A column inside a character (between two surrogates, say) counts as the start of that character.
        """
        if line < 0:
            return 0
        span = self.line_span(line)
        character = max(character, 0)
        if self._ascii or encoding == "utf-32":
            return min(span.start + character, span.end)
        row = self._text[span.start : span.end]
        if row.isascii():
            return min(span.start + character, span.end)
        return span.start + _characters_within(row, character, encoding)


def _width(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _characters_within(text: str, units: int, encoding: Literal["utf-8", "utf-16"]) -> int:
    """Return how many complete characters a text has within its first code units."""
    text = text[:units]
    if encoding == "utf-8":
        data, end = text.encode("utf-8", "surrogatepass"), units
        while end < len(data) and data[end] & 0b1100_0000 == 0b1000_0000:
            end -= 1
        return len(data[:end].decode("utf-8", "surrogatepass"))
    data, end = text.encode("utf-16-le", "surrogatepass"), 2 * units
    if end < len(data) and data[end + 1] & 0b1111_1100 == 0b1101_1100:
        # The second half of a surrogate pair comes next: the character is incomplete.
        end -= 2
    return len(data[:end].decode("utf-16-le", "surrogatepass"))


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        # Line ends do not change: a break of two characters stays as long.
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    lengths = map(len, text.split("\n"))
    starts = [0, *accumulate(map((1).__add__, lengths))]
    starts.pop()
    return starts
