r"""The text of an open document as a client keeps it: the fuzzer's own reading of the protocol.

Nothing of the server is used here, so that both can be wrong only in different ways. Lines end at ``\n``,
``\r\n`` and ``\r``; columns count code units of the negotiated encoding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODEC = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
Position = dict[str, int]


@dataclass(frozen=True)
class Text:
    """One version of a document. ``encoding`` is ``utf-8``, ``utf-16`` or ``utf-32``."""

    content: str
    encoding: str

    @cached_property
    def lines(self) -> tuple[tuple[int, str], ...]:
        """The offset and the text, without its break, of every line."""
        lines: list[tuple[int, str]] = []
        for match in _LINE.finditer(self.content):
            lines.append((match.start(), match[1]))
            if not match[2]:
                break
        return tuple(lines)

    def width(self, line: str) -> int:
        """Return how many code units a text has."""
        if line.isascii():
            return len(line)
        return len(line.encode(_CODEC[self.encoding])) // _UNIT_BYTES[self.encoding]

    def position(self, offset: int) -> Position:
        """Return the position of an offset; one inside a line break is the end of its line."""
        low, high = 0, len(self.lines) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.lines[middle][0] <= offset else (low, middle - 1)
        start, line = self.lines[low]
        return {"line": low, "character": self.width(line[: max(0, offset - start)])}

    def offset(self, position: Position) -> int:
        """Return the offset of a position; one behind a line or the text is its end, as clients agree."""
        if position["line"] >= len(self.lines):
            return len(self.content)
        start, line = self.lines[position["line"]]
        if line.isascii():
            return start + min(position["character"], len(line))
        units = line.encode(_CODEC[self.encoding])[: position["character"] * _UNIT_BYTES[self.encoding]]
        # A position inside a character counts as its start.
        return start + len(units.decode(_CODEC[self.encoding], "ignore"))

    def holds(self, position: Position) -> bool:
        """Whether there is such a position: on a line, not behind its end, not inside a character."""
        line = position["line"]
        if not 0 <= line < len(self.lines) or position["character"] < 0:
            return False
        start, row = self.lines[line]
        if row.isascii():
            return position["character"] <= len(row)
        return self.width(row[: self.offset(position) - start]) == position["character"]

    def changed(self, change: dict[str, Any]) -> Text:
        """Return the text after one ``TextDocumentContentChangeEvent``, or one ``TextEdit``."""
        new = well_formed(change.get("text", change.get("newText", "")))
        span = change.get("range")
        if span is None:
            return Text(new, self.encoding)
        start = self.offset(span["start"])
        end = max(start, self.offset(span["end"]))
        return Text(self.content[:start] + new + self.content[end:], self.encoding)

    def edited(self, edits: list[dict[str, Any]]) -> Text:
        """Return the text after the edits of one answer, which all refer to this text."""
        text = self
        order = sorted(enumerate(edits), key=lambda item: (self.offset(item[1]["range"]["start"]), item[0]))
        for _, edit in reversed(order):
            text = text.changed(edit)
        return text


def well_formed(text: str) -> str:
    """Return the text with halves of surrogate pairs replaced: JSON can carry them, no text can."""
    return text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)
