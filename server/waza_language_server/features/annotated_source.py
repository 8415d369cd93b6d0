"""Draw a document as an editor would show it: carets under ranges, lenses above lines, hints at line ends.

``waza-language-server show FILE`` prints this, and the snapshot tests compare it, so that a wrong range is
seen when a change is reviewed::

    - type: txt
            ^^^ error unknown-grader-type: There is no grader type "txt"; did you mean "text"?

Columns are columns of a terminal: a tab reaches the next multiple of four, wide characters and emoji take
two, combining marks none. The drawing is plain text without colours.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from waza_engine.frozen import frozen
from waza_engine.terminal import visible
from waza_language_server.analysis.problem import Problem
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

TAB_WIDTH = 4


@frozen()
class Caret:
    """A range to underline, the message next to it, and notes to list below."""

    span: Span
    message: str = ""
    notes: tuple[str, ...] = ()


@frozen()
class Lens:
    """A code lens: drawn above the line that holds ``offset``, at that line's indentation."""

    offset: int
    title: str


@frozen()
class Hint:
    """An inlay hint: drawn at the end of the line that holds ``offset``."""

    offset: int
    label: str


Mark = Caret | Lens | Hint


def annotate_source(text: str, marks: Iterable[Mark], *, context: int | None = None) -> str:
    """Return ``text`` with the marks drawn in, each line ending in a newline.

    ``context`` keeps only the lines that carry a mark and that many lines around them, with ``⋯`` for what is
    left out; None keeps every line.
    """
    lines = LineIndex(text)
    by_line = _by_line(lines, marks)
    drawn: list[str] = []
    previous = -1
    for line in _shown(lines, by_line, context):
        if line != previous + 1:
            drawn.append("⋯")
        previous = line
        span = lines.line_span(line)
        source = text[span.start : span.end]
        drawn += _draw_line(source, span.start, by_line.get(line, ()))
    return "".join(f"{row}\n" for row in drawn)


def carets_of(problems: Iterable[Problem], *, fixes: bool = False) -> list[Mark]:
    """Return one caret a problem, labelled ``severity code: message``; fixes become notes if asked for."""
    return [
        Caret(
            problem.span,
            f"{problem.severity} {problem.code}: {problem.message}",
            tuple(f"fix: {fix.title}" for fix in problem.fixes if fix.edits) if fixes else (),
        )
        for problem in problems
    ]


def _by_line(lines: LineIndex, marks: Iterable[Mark]) -> dict[int, list[Mark]]:
    by_line: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        offset = mark.span.start if isinstance(mark, Caret) else mark.offset
        by_line[lines.line_of(offset)].append(mark)
    return by_line


def _shown(lines: LineIndex, by_line: dict[int, list[Mark]], context: int | None) -> Sequence[int]:
    last = lines.line_count - 1
    end = last if len(lines.line_span(last)) or last in by_line else last - 1
    if context is None:
        return range(end + 1)
    near = {
        line + step for line in by_line for step in range(-context, context + 1) if 0 <= line + step <= end
    }
    return sorted(near)


def _draw_line(source: str, start: int, marks: Sequence[Mark]) -> list[str]:
    shown, columns = _display(source)
    indent = " " * (len(shown) - len(shown.lstrip(" ")))
    lenses = [mark.title for mark in marks if isinstance(mark, Lens)]
    hints = [mark.label for mark in marks if isinstance(mark, Hint)]
    carets = sorted((mark for mark in marks if isinstance(mark, Caret)), key=lambda mark: mark.span)
    rows: list[str] = []
    if lenses:
        rows.append(f"{indent}{' | '.join(lenses)}")
    rows.append(f"{shown}{''.join(f'  ‹{hint}›' for hint in hints)}".rstrip())
    for caret in carets:
        rows += [row.rstrip() for row in _draw_caret(caret, columns, start)]
    return rows


def _draw_caret(caret: Caret, columns: Sequence[int], line_start: int) -> list[str]:
    end_of_line = len(columns) - 1
    first = min(caret.span.start - line_start, end_of_line)
    last = min(caret.span.end - line_start, end_of_line)
    left = " " * columns[first]
    carets = "^" * max(1, columns[last] - columns[first])
    more = "⋯" if caret.span.end - line_start > end_of_line and len(caret.span) > 1 else ""
    message, *continued = caret.message.splitlines() or [""]
    rows = [f"{left}{carets}{more} {message}"]
    rows += [f"{left}  {line}" for line in continued]
    rows += [f"{left}  = {note}" for note in caret.notes]
    return rows


def _display(source: str) -> tuple[str, list[int]]:
    """Return the line as a terminal shows it, and the column of each character and of the end."""
    shown: list[str] = []
    columns: list[int] = []
    column = 0
    for character in source:
        columns.append(column)
        drawn, width = _glyph(character, column)
        shown.append(drawn)
        column += width
    columns.append(column)
    return "".join(shown), columns


def _glyph(character: str, column: int) -> tuple[str, int]:
    if " " <= character <= "~":
        return character, 1
    if character == "\t":
        width = TAB_WIDTH - column % TAB_WIDTH
        return " " * width, width
    if character == "\ufeff":
        return "", 0
    if ord(character) < 0x20:
        return chr(0x2400 + ord(character)), 1
    category = unicodedata.category(character)
    written = visible(character)
    if written != character:
        return written, len(written)
    if category in {"Mn", "Me", "Cf"}:
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
