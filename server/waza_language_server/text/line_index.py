r"""Conversion between offsets and the editor's lines and columns.

Editors count lines and columns; the core counts code points from the start of the text. The index is built
once per version of a document and converts both ways for UTF-8, UTF-16 and UTF-32 columns.

Architecture invariant: only ``\n``, ``\r\n`` and ``\r`` break lines, as the Language Server Protocol says.
Form feed, NEL and U+2028, where ``str.splitlines`` breaks too, are characters like any other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from waza_engine.frozen import frozen
from waza_language_server.text.common_ends import difference
from waza_language_server.text.span import Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_BLOCK_CHARACTERS = 1 << 14


class LineIndex:
    """The lines of one text.

    Lines and columns are 0-based; a column counts code units of the given encoding.
    """

    __slots__ = ("_ascii", "_blocks", "_first_lines", "_offsets", "_text")

    def __init__(self, text: str, before: LineIndex | None = None) -> None:
        """Reuse the unchanged parts of an earlier version, ``before``."""
        self._text = text
        self._ascii = text.isascii()
        self._blocks = _blocks(text, is_last=True) if before is None else before._changed_blocks(text)
        self._offsets = [0, *accumulate(block.length for block in self._blocks)]
        self._first_lines = [0, *accumulate(len(block.starts) for block in self._blocks)]

    @property
    def line_count(self) -> int:
        """Return the number of lines; the empty one after a final line break counts."""
        return self._first_lines[-1]

    def line_of(self, offset: int) -> int:
        """Return the line that holds the offset; offsets outside the text belong to the nearest line."""
        offset = max(offset, 0)
        number = self._block_of(offset)
        starts = self._blocks[number].starts
        return self._first_lines[number] + bisect_right(starts, offset - self._offsets[number]) - 1

    def line_span(self, line: int) -> Span:
        """Return the characters of a line without its break.

        Empty after the last line.
        """
        if line >= self.line_count:
            return Span(len(self._text), len(self._text))
        line = max(line, 0)
        start = self._start(line)
        end = self._start(line + 1) if line + 1 < self.line_count else len(self._text)
        while end > start and self._text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def position(self, offset: int, encoding: Encoding = "utf-16") -> tuple[int, int]:
        r"""Return (line, column) of an offset; offsets outside the text count as its ends.

        An offset between ``\r`` and ``\n`` counts as the end of the line.
        """
        if not 0 <= offset <= len(self._text):
            offset = min(max(offset, 0), len(self._text))
        number = bisect_right(self._offsets, offset, hi=len(self._blocks)) - 1
        starts = self._blocks[number].starts
        inside = offset - self._offsets[number]
        line = bisect_right(starts, inside) - 1
        length = inside - starts[line]
        if length and self._text[offset - 1] == "\r":
            length -= 1
            offset -= 1
        if length and not self._ascii:
            length = _width(self._text[offset - length : offset], encoding)
        return self._first_lines[number] + line, length

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

    def _start(self, line: int) -> int:
        number = bisect_right(self._first_lines, line, hi=len(self._blocks)) - 1
        return self._offsets[number] + self._blocks[number].starts[line - self._first_lines[number]]

    def _block_of(self, offset: int) -> int:
        return bisect_right(self._offsets, offset, hi=len(self._blocks)) - 1

    def _changed_blocks(self, text: str) -> list[_Block]:
        """Return the blocks of another text; those before and after the difference are the same."""
        head, old_end, _ = difference(self._text, text)
        # The break before a block may be deleted: a block that begins where the difference ends is also split
        # again.
        first, last = self._block_of(head), self._block_of(old_end)
        end = self._offsets[last + 1] + len(text) - len(self._text)
        is_last = last + 1 == len(self._blocks)
        between = _blocks(text[self._offsets[first] : end], is_last=is_last)
        return [*self._blocks[:first], *between, *self._blocks[last + 1 :]]


@frozen()
class _Block:
    """Complete lines: their total length in characters, and the start of each, relative to the first."""

    length: int
    starts: Sequence[int]


def _blocks(text: str, *, is_last: bool) -> list[_Block]:
    """Split text after line breaks; only the last block has a line without one, perhaps an empty line."""
    found: list[_Block] = []
    at = 0
    while (end := text.find("\n", at + _BLOCK_CHARACTERS) + 1) > 0:
        found.append(_Block(end - at, _line_starts(text[at:end])[:-1]))
        at = end
    if is_last or at < len(text):
        starts = _line_starts(text[at:])
        found.append(_Block(len(text) - at, starts if is_last else starts[:-1]))
    return found


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
