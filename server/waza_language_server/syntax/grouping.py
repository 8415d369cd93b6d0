"""Grouping of lines by columns: the entries of a mapping and the items of a list.

In a file with a fault columns may be off by one and values may look like keys. The grouping that leaves most
lines with their neighbours wins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.error_sentences import is_unclosed
from waza_language_server.syntax.libyaml_events import read
from waza_language_server.syntax.lines import Line, dash_at, key_at
from waza_language_server.text.span import Span

_MAX_JOINED = 8_000
_COMMENT = compiled_later(r"[ \t]+#")
_OPENED = compiled_later(r"(?<=[(\[{,= ])(?P<quote>['\"])[^'\"]*$")


class Grouping:
    """Groups the lines of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def block_kind(self, lines: Sequence[Line]) -> str:
        """Return whether lines look like a mapping or a list; empty when they are a single value."""
        text = self.text
        if text[lines[0].content] in "[{":
            return ""
        solid = [(line_kind(text, line), line.column) for line in lines if not line.blank]
        dash = min((column for kind, column in solid if kind == "dash"), default=None)
        key = min((column for kind, column in solid if kind == "key"), default=None)
        if solid[0][0] == "dash" or (dash is not None and (key is None or dash < key)):
            return "sequence"
        return "mapping" if key is not None else ""

    def item_groups(self, lines: Sequence[Line], parent: int) -> list[list[Line]]:
        """Return the lines of each item of a list below a key at column ``parent``."""
        groups = [[lines[0]]]
        content, first_key = self.item_head(lines[0])
        for line in lines[1:]:
            if line.blank:
                groups[-1].append(line)
                continue
            own = groups[-1][0].column
            kind = line_kind(self.text, line)
            starts = parent < line.column < content and (
                kind == "dash"
                or (line.column <= own and kind != "junk")
                or (first_key is not None and self.key_text(line) == first_key)
            )
            if starts:
                groups.append([line])
                content, first_key = self.item_head(line)
            else:
                groups[-1].append(line)
        return groups

    def item_head(self, line: Line) -> tuple[int, str | None]:
        """Return the column of an item's content and its first key."""
        dash = dash_at(self.text, line.content)
        if dash is None:
            return line.column + 1, None
        if dash.end() >= line.end:
            return line.column + 1, None
        inner = line.at(dash.end())
        return inner.column, self.key_text(inner)

    def key_text(self, line: Line) -> str | None:
        """Return the key that a line begins with, quotes included."""
        match = key_at(self.text, line.content)
        return match["key"].rstrip() if match else None

    def entry_groups(self, lines: Sequence[Line]) -> list[list[Line]]:
        """Return the lines of each entry of a mapping."""
        usual = self.usual_column(lines)
        groups: list[list[Line]] = []
        until = -1
        own, inner, state = 0, -1, ""
        for index, line in enumerate(lines):
            if groups:
                belongs = line.blank or line.start < until
                if not belongs:
                    belongs = self.belongs(line, own, inner, state, usual)
                    if belongs and own < line.column < inner:
                        belongs = not self.is_nearer_outside(lines, index, own, inner)
                if belongs:
                    groups[-1].append(line)
                    if inner < 0 and not line.blank:
                        inner = line.column
                    continue
            groups.append([line])
            own = usual if abs(line.column - usual) <= 1 else line.column
            inner, state = -1, self.entry_state(line)
            if state == "block":
                own = line.column
            until = self.open_until(line, lines) if state == "unclosed" else -1
        return groups

    def usual_column(self, lines: Sequence[Line]) -> int:
        """Return the column of a mapping's keys, where any one may be off by a space."""
        first = lines[0].column
        solid = [line for line in lines if not line.blank]
        keys = [line.column for line in solid if line_kind(self.text, line) == "key"]
        usual = usual_of([column for column in keys if column <= first] or [first])
        opens = self.entry_state(lines[0]) == "empty" and len(solid) > 1 and solid[1].column == first + 1
        if first and usual == first and keys.count(first) <= 1 and first + 1 in keys and not opens:
            return first + 1
        return usual

    def belongs(self, line: Line, own: int, inner: int, state: str, usual: int) -> bool:
        """Return whether a line continues the entry at column ``own`` whose lines are at ``inner``."""
        column = line.column
        kind = line_kind(self.text, line)
        if kind == "junk" and inner > own:
            return True
        if state == "block":
            return column > own and not (line.tabbed and kind == "key")
        if state == "empty":
            if column <= own:
                return kind == "dash" and column == own
            return not (kind == "key" and column == usual)
        if column <= own:
            return kind == "junk" and state == "flow"
        if kind == "key" and state == "value":
            return column > own + 1
        return True

    def is_nearer_outside(self, lines: Sequence[Line], index: int, own: int, inner: int) -> bool:
        """Return whether a key between the columns of an entry and of its lines is probably its sibling."""
        line = lines[index]
        if line_kind(self.text, line) != "key":
            return False
        outwards, inwards = line.column - own, inner - line.column
        if outwards != inwards:
            return outwards < inwards
        below = next((other for other in lines[index + 1 :] if not other.blank), None)
        if self.entry_state(line) != "empty" or below is None or below.column != inner:
            return False
        # If dashes are at the column of their key, a dash below says nothing about the level of this key.
        before = (other for other in lines[:index] if not other.blank and other.column == inner)
        return line_kind(self.text, below) != "dash" or all(line_kind(self.text, o) != "dash" for o in before)

    def entry_state(self, line: Line) -> str:
        """Return the kind of value after the colon.

        Empty, block, flow, unclosed, value; or word when there is no colon.
        """
        match = key_at(self.text, line.content)
        if match is None:
            return "word"
        value = self.inline_value(match.end(), line.end)
        if value.start == value.end or re.fullmatch(r"&\S+|!\S*", self.text[value.start : value.end]):
            return "empty"
        head = self.text[value.start]
        if head in "|>":
            return "block"
        if head in "[{":
            return "flow"
        if head in "\"'" and is_unclosed(self.text, value.start, value.end):
            return "unclosed"
        return "value"

    def inline_value(self, start: int, end: int) -> Span:
        """Return the span of the value on the line after a colon, without a comment."""
        while start < end and self.text[start] in " \t":
            start += 1
        if self.text.startswith("#", start):
            return Span(start, start)
        stop = start + len(self.text[start:end].rstrip())
        if stop > start and self.text[start] not in "\"'":
            comment = _COMMENT.search(self.text, start, stop)
            stop = comment.start() if comment else stop
        return Span(start, stop)

    def open_until(self, head: Line, lines: Sequence[Line]) -> int:
        """Return where a multi-line quoted string certainly ends, or -1 if no end is plausible."""
        match = key_at(self.text, head.content)
        if match is None:
            return -1
        quote = self.text[self.inline_value(match.end(), head.end).start]
        tried = 0
        for line in lines:
            if line.start <= head.start or quote not in self.text[line.start : line.end]:
                continue
            pad = " " * head.column
            if read(pad + self.text[head.content : line.next]).error is None:
                return line.next
            tried += 1
            if tried == 3 or line.start - head.start > _MAX_JOINED:
                return -1
        return -1


def significant(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines without empty lines and comments at both ends."""
    start, end = 0, len(lines)
    while start < end and lines[start].blank:
        start += 1
    while end > start and lines[end - 1].blank:
        end -= 1
    return lines[start:end]


def usual_of(columns: Sequence[int]) -> int:
    """Return the most common column, the first one on a tie."""
    return Counter(columns).most_common(1)[0][0]


def line_kind(text: str, line: Line) -> str:
    """Return the kind of a line.

    Dash, key, word (a key half typed, a value), or junk that begins none of these.
    """
    if dash_at(text, line.content):
        return "dash"
    key = key_at(text, line.content)
    if key is not None and not _cuts_text(text, key, line.end):
        return "key"
    return "junk" if text[line.content] in "]}," else "word"


def _cuts_text(text: str, key: re.Match[str], end: int) -> bool:
    """Return whether the colon after a key is in a quoted string, as in `output.count('a: b')`."""
    opened = _OPENED.search(key["key"])
    return opened is not None and opened["quote"] in text[key.end() : end]


def has_keys(text: str, lines: Sequence[Line]) -> bool:
    """Return whether any of the lines begins with a key."""
    return any(not line.blank and line_kind(text, line) == "key" for line in lines)
