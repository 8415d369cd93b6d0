"""Block scalars (`|`, `>`) with lines that YAML does not read as part of them: after tabs, at the margin."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, column_of_line
from waza_language_server.spelling import slip_of
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_OPENS_TEXT = compiled_later(
    r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*):[ \t]+[|>][-+]?(?:[ \t]+#.*)?[ \t]*\Z"
)
_KEY = compiled_later(r"[ ]*(?:-[ ]+)*(?P<key>[A-Za-z_][\w-]*)(?::(?!//)|[ \t]*=(?!=))")
"""A key with its colon; the space after it may be missing, or the colon be another character."""
_DASH = compiled_later(r"(?P<lead>[ ]*)-[ ]")
_MARK = compiled_later(r"(?:---|\.\.\.)(?:\s|\Z)")
_MOST_LINES = 200
_LOOKED_AT = 40
"""The most lines above a fault to search for the key of the text."""


def tabbed_text(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the lines of a block scalar that are indented with tabs."""
    first = lines.line_of(fault.span.start)
    above = first - 1
    while above > 0 and not text[lines.line_span(above).start : lines.line_span(above).end].strip():
        above -= 1
    opening = lines.line_span(max(above, 0))
    match = _OPENS_TEXT.match(text, opening.start, opening.end)
    if fault.code != "yaml-tab" or match is None or above < 0:
        return
    rows: list[str] = []
    margin = " " * (len(match["lead"]) + 2)
    last = first
    for number in range(first, min(lines.line_count, first + _MOST_LINES)):
        line = lines.line_span(number)
        row = text[line.start : line.end]
        if row.strip() and not row.startswith("\t"):
            break
        content = row.lstrip("\t")
        rows.append(f"{margin}{'  ' * (len(row) - len(content) - 1)}{content}" if row.strip() else row)
        last = number if row.strip() else last
    start, end = lines.line_span(first).start, lines.line_span(last).end
    ending = "\r\n" if "\r\n" in text else "\n"
    edit = Edit(Span(start, end), ending.join(rows[: last - first + 1]))
    if rows and end > start:
        fix = Fix("Indent the text with spaces", (edit,), preferred=True)
        problem = Problem(fault.code, fault.span, fault.message, "error", (fix,), fault.related)
        yield Slip(problem, edit)


def text_at_margin(text: str, lines: LineIndex, fault: SyntaxFault, known: Collection[str]) -> Iterator[Slip]:
    """Yield the lines of a block scalar that are not indented further than its key.

    The text continues up to a line with one of the ``known`` keys, or with something similar.
    """
    number = lines.line_of(fault.span.start)
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        opening = lines.line_span(above)
        match = _OPENS_TEXT.match(text, opening.start, opening.end)
        if match is None:
            continue
        rows = _rows_at_margin(text, lines, above + 1, len(match["lead"]), known)
        if rows and _begins_item(text, lines, above, rows[0]):
            return
        # The key that ends the text may be the unparsable part.
        if not rows or not rows[0] <= number <= rows[-1] + 1:
            return
        usual = _column_of_text(text, lines, above + 1, rows[0])
        least = len(match["lead"]) + 2
        if usual is None and _is_first_alone(text, lines, rows, least):
            usual = least
        edit = _indented(text, lines, rows, usual, least)
        first = lines.line_span(rows[0])
        written = text[first.start : first.end]
        place = Span(first.start + len(written) - len(written.lstrip()), first.start + len(written.rstrip()))
        message = f"The text of `{match['key']}` must stand further to the right than its key; indent it."
        fix = Fix("Indent the text", (edit,))
        yield Slip(Problem("yaml-indentation", place, message, "error", (fix,)), edit)
        return


def _begins_item(text: str, lines: LineIndex, opening: int, number: int) -> bool:
    """Return whether a line has the dash of the item after the one that holds the text opened above it."""
    line = lines.line_span(number)
    dash = _DASH.match(text, line.start, line.end)
    if dash is None:
        return False
    for above in range(opening, max(-1, opening - _LOOKED_AT), -1):
        span = lines.line_span(above)
        item = _DASH.match(text, span.start, span.end)
        if item is not None:
            return abs(len(item["lead"]) - len(dash["lead"])) <= 1
    return False


def _rows_at_margin(
    text: str, lines: LineIndex, first: int, column: int, known: Collection[str]
) -> list[int]:
    """Return the lines from the first one not indented further than ``column`` up to a known key."""
    rows: list[int] = []
    written_rows = 0
    for number in range(first, min(lines.line_count, first + _MOST_LINES)):
        line = lines.line_span(number)
        written = text[line.start : line.end]
        if not written.strip():
            if rows:
                rows.append(number)
            continue
        if not rows and column_of_line(text, line) > column:
            continue
        key = _KEY.match(written)
        if key is not None and column_of_line(text, line) <= column and _is_like(key["key"], known):
            break
        if _MARK.match(written):
            break
        rows.append(number)
        written_rows = len(rows)
    return rows[:written_rows]


def _is_first_alone(text: str, lines: LineIndex, rows: list[int], column: int) -> bool:
    """Return whether all lines but the first are at the text's column: then only the first is misplaced."""
    below = [lines.line_span(number) for number in rows[1:]]
    columns = {column_of_line(text, row) for row in below if text[row.start : row.end].strip()}
    return columns == {column}


def _is_like(key: str, known: Collection[str]) -> bool:
    return key in known or slip_of(key, known) is not None


def _column_of_text(text: str, lines: LineIndex, first: int, end: int) -> int | None:
    """Return the column of the lines of a text that are in their place; None without any."""
    rows = (lines.line_span(number) for number in range(first, end))
    return next((column_of_line(text, row) for row in rows if text[row.start : row.end].strip()), None)


def _indented(text: str, lines: LineIndex, rows: list[int], usual: int | None, least: int) -> Edit:
    """Return the edit that indents lines together to the column of the others; those already there stay.

    If all lines of the text are at the margin, all are moved, to the column ``least``.
    """
    start, end = lines.line_span(rows[0]).start, lines.line_span(rows[-1]).end
    column = least if usual is None else usual
    shift = " " * (column - column_of_line(text, lines.line_span(rows[0])))
    parts: list[str] = []
    at = start
    for number in rows:
        line = lines.line_span(number)
        parts.append(text[at : line.start])
        if text[line.start : line.end].strip() and (usual is None or column_of_line(text, line) < usual):
            parts.append(shift)
        at = line.start
    return Edit(Span(start, end), "".join((*parts, text[at:end])))
