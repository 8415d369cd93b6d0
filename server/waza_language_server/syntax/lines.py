"""The lines of a piece of YAML, for parsing by indentation."""

from __future__ import annotations

import re
from dataclasses import replace

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

_LINE = compiled_later(r"([ \t]*)([^\r\n]*)(\r\n|\r|\n|\Z)")
_KEY = compiled_later(
    r"""(?P<key>(?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*')[ \t]*
        |(?![-?:](?:\s|$)|["'\[\]{}\#|>@`%,\s])(?:[^:\r\n#]|(?<!\s)\#|:(?=\S))+):(?=[ \t\r\n]|$)""",
    re.VERBOSE,
)
_PROPERTIES = compiled_later(r"(?:[&!][^\s,\[\]{}]*[ \t]+)+")
_DASH = compiled_later(r"-(?=[ \t\r\n]|\Z)[ \t]*")


@frozen()
class Line:
    """One line. ``content`` is the offset after the indentation, ``end`` excludes the line break.

    ``column`` is the column of the content: for a line indented with tabs an estimate.
    """

    start: int
    content: int
    end: int
    next: int
    column: int
    blank: bool
    """Empty or a comment."""
    tabbed: bool = False

    def at(self, content: int) -> Line:
        """Return the same line as if it began at ``content``, the rest being indentation."""
        column = self.column + content - self.content
        return replace(self, content=content, column=column, tabbed=False)


def split_lines(text: str) -> list[Line]:
    """Return the lines of a text, without the empty one after a final line break."""
    lines: list[Line] = []
    column, dash_column, opens = 0, 0, False
    for match in _LINE.finditer(text):
        if match.start() == match.end() == len(text):
            break
        content, end = match.start(2), match.end(2)
        body = match[2]
        blank = not body or body[0] == "#"
        tabbed = "\t" in match[1]
        here = content - match.start()
        if not blank:
            dash = _DASH.match(text, content, end)
            if tabbed:
                # The intended width of a tab is unknown; the lines above show what would fit.
                here = dash_column if dash and not opens else column + 2 * opens
            if dash:
                dash_column = here
            column = here + len(dash[0]) if dash else here
            opens = body.rstrip().endswith(":")
        lines.append(Line(match.start(), content, end, match.end(), here, blank, tabbed))
    return lines


def key_at(text: str, offset: int) -> re.Match[str] | None:
    """Match ``key:`` at an offset.

    Group ``key`` holds the key with its quotes, perhaps with trailing whitespace.
    """
    return _KEY.match(text, offset)


def dash_at(text: str, offset: int) -> re.Match[str] | None:
    """Match the dash of a list item and the whitespace after it."""
    return _DASH.match(text, offset)


def after_properties(text: str, start: int, offset: int) -> int:
    """Return where a key or value begins after its anchor and its tag, if these end before an offset."""
    found = _PROPERTIES.match(text, start)
    return found.end() if found is not None and found.end() <= offset else start
