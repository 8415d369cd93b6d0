r"""Where an offset stands for an editor: line and column, and back.

Editors count lines and columns; the core counts code points from the start of the text. The index is built
once per version of a document and answers both ways in UTF-8, UTF-16 and UTF-32 columns.

Architecture invariant: only ``\n``, ``\r\n`` and ``\r`` break lines, as the Language Server Protocol
says. Form feed, NEL and U+2028, where ``str.splitlines`` breaks too, are characters like any other.
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
        """How many lines there are; the empty one behind a final line break counts."""
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """Return the line that holds the offset; offsets outside the text belong to the nearest line."""
        return bisect_right(self._starts, max(offset, 0)) - 1

    def line_span(self, line: int) -> Span:
        """Return the characters of a line without its break.

        Empty at the end of the text behind the last line.
        """
        if line >= len(self._starts):
            return Span(len(self._text), len(self._text))
        line = max(line, 0)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        while end > start and self._text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def position(self, offset: int, encoding: Encoding = "utf-16") -> tuple[int, int]:
        r"""Return (line, column) of an offset; offsets outside the text count as its ends.

        An offset between ``\r`` and ``\n`` counts as the end of the line.
        """
        offset = min(max(offset, 0), len(self._text))
        line = self.line_of(offset)
        span = self.line_span(line)
        before = self._text[span.start : min(offset, span.end)]
        return line, _width(before, encoding)

    def offset(self, line: int, character: int, encoding: Encoding = "utf-16") -> int:
        """Return the offset of a position.

        Columns behind the line end there, lines behind the text at its end.

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
        used = 0
        for index, char in enumerate(row):
            used += _width(char, encoding)
            if used > character:
                return span.start + index
        return span.end


def _width(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        # Lines end where they did: a break of two characters stays as long.
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    lengths = map(len, text.split("\n"))
    starts = [0, *accumulate(length + 1 for length in lengths)]
    starts.pop()
    return starts
