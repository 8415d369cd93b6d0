"""Keys that are, with all lines below them, too far to the left of the item or block they belong to."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import islice

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, as_one, column_of_line
from waza_language_server.analysis.text_rules.written_lines import KEY, LOOKED_AT, line_written, row_above
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_BARE = compiled_later(r"[ ]*(?:-[ ]+)*[A-Za-z_][\w-]*:[ \t]*(?:#.*)?\Z")
_ITEM = compiled_later(r"(?P<lead>[ ]*)-(?:[ ]|\Z)")
_STEPS = frozenset({0, 2, 4})
_MOST_LINES = 400
_COLUMNS_TRIED = 3
_ENDS_TRIED = 2


def fallen_body(
    text: str, lines: LineIndex, fault: SyntaxFault, known_outside: Container[str]
) -> Iterator[Slip]:
    """Yield keys below an item, or below a bare key, that are at its dash or further to the left.

    They extend to the next item of the list around, to the next line further to the left, or to the last key
    before it. A key of ``known_outside`` at the margin is in its place.
    """
    number = lines.line_of(fault.span.start)
    for row in range(number, max(0, number - LOOKED_AT), -1):
        key = KEY.match(line_written(text, lines, row))
        if key is None or "-" in key["lead"]:
            continue
        column, above = len(key["lead"]), row_above(text, lines, row)
        holder = KEY.match(line_written(text, lines, above)) if above is not None else None
        if (
            above is None
            or holder is None
            or not _may_have_lost(holder, column, line_written(text, lines, above))
        ):
            if holder is not None and not column and len(holder["lead"]):
                return
            continue
        if not column and key["key"] in known_outside and not _is_set_above(text, lines, row, key["key"]):
            # It is in its place.
            return
        dash = _dash_around(text, lines, above)
        runs = list(_runs(text, lines, row, column, dash))
        for usual in islice(dict.fromkeys(_columns_above(text, lines, above, column)), _COLUMNS_TRIED):
            for last, starts in runs:
                yield _moved(text, lines, (row, last), usual - column, starts)
        return


def first_block_pushed(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the lines at the beginning of a file that are indented further than all the others."""
    number = lines.line_of(fault.span.start)
    rows = [row for row in range(min(number, _MOST_LINES)) if _is_content(text, lines, row)]
    if not rows or lines.line_span(number).start != fault.span.start:
        return
    by = min(column_of_line(text, lines.line_span(row)) for row in rows)
    if by and by == column_of_line(text, lines.line_span(rows[0])):
        slip = _moved(text, lines, (rows[0], number - 1), -by, [lines.line_span(rows[0]).start + by])
        yield slip


def first_items_pushed(
    text: str, lines: LineIndex, fault: SyntaxFault, *, surely: bool = False
) -> Iterator[Slip]:
    """Yield the items at the beginning of a list that are indented further than those after them.

    ``surely`` when only these have a column that is unusual for items below a key; otherwise the others may
    be wrong.
    """
    number = lines.line_of(fault.span.start)
    for row in range(number, max(0, number - LOOKED_AT), -1):
        item = _ITEM.match(line_written(text, lines, row))
        above = row_above(text, lines, row) if item is not None else None
        if item is None or above is None or _BARE.match(line_written(text, lines, above)) is None:
            continue
        column, holder = len(item["lead"]), column_of_line(text, lines.line_span(above))
        end = _end_of_items(text, lines, row, column)
        behind = next(
            (each for each in range(end + 1, lines.line_count) if _is_content(text, lines, each)), None
        )
        other = _ITEM.match(line_written(text, lines, behind)) if behind is not None else None
        if other is None or not holder <= len(other["lead"]) < column:
            continue
        usual = len(other["lead"])
        if not surely or (column - holder not in _STEPS and usual - holder in _STEPS):
            # The meaning of the items does not change with their column.
            slip = _moved(text, lines, (row, end), usual - column, [])
            yield replace(slip, problem=_item_too_far(slip.problem, column - usual), moves=True)
        return


def _end_of_items(text: str, lines: LineIndex, row: int, column: int) -> int:
    """Return the last line of the items at a column; of the one above a key at their column."""
    last = row
    for below in range(row + 1, min(lines.line_count, row + _MOST_LINES)):
        if _is_content(text, lines, below):
            at = column_of_line(text, lines.line_span(below))
            if at < column or (at == column and _ITEM.match(line_written(text, lines, below)) is None):
                break
            last = below
    return last


def _item_too_far(problem: Problem, far: int) -> Problem:
    spaces = counted(far, "space")
    return replace(
        problem, message=f"This item stands {spaces} too far to the right of the others of its list."
    )


def _is_content(text: str, lines: LineIndex, row: int) -> bool:
    written = line_written(text, lines, row).lstrip()
    return bool(written) and not written.startswith("#")


def _is_set_above(text: str, lines: LineIndex, row: int, key: str) -> bool:
    return f"\n{key}:" in f"\n{text[: lines.line_span(row).start]}"


def _may_have_lost(holder: re.Match[str], column: int, written: str) -> bool:
    """Return whether a line left of the key above it may belong next to, or below, that key."""
    own = len(holder["lead"])
    if "-" in holder["lead"] and (own - column) % 2:
        # More likely its dash is at a wrong column.
        return False
    return column < own or (column == own and _BARE.match(written) is not None)


def _columns_above(text: str, lines: LineIndex, above: int, column: int) -> Iterator[int]:
    """Yield the possible columns of keys below a line, and below the item around it: the nearest first."""
    written = line_written(text, lines, above)
    key = KEY.match(written)
    if key is None:
        return
    own = len(key["lead"])
    if _BARE.match(written) is not None:
        yield own + 2
    if own > column:
        yield own
    for row in range(above - 1, max(-1, above - LOOKED_AT), -1):
        outer = KEY.match(line_written(text, lines, row))
        if outer is not None and column < len(outer["lead"]) < own:
            own = len(outer["lead"])
            yield own


def _dash_around(text: str, lines: LineIndex, above: int) -> int | None:
    """Return the column of the dash of the item that a line is in."""
    column = len(line_written(text, lines, above))
    for row in range(above, max(-1, above - LOOKED_AT), -1):
        written = line_written(text, lines, row)
        item = _ITEM.match(written)
        if item is not None and len(item["lead"]) < column and KEY.match(written) is not None:
            return len(item["lead"])
        if written.strip():
            column = min(column, column_of_line(text, lines.line_span(row)))
    return None


def _runs(
    text: str, lines: LineIndex, row: int, column: int, dash: int | None
) -> Iterator[tuple[int, list[int]]]:
    """Yield possible last lines of the dedented part, the longest first, with the offsets of its keys."""
    starts: list[int] = []
    ends: list[tuple[int, list[int]]] = []
    last = row
    for each in range(row, min(lines.line_count, row + _MOST_LINES)):
        written = line_written(text, lines, each)
        if not written.strip():
            continue
        at = column_of_line(text, lines.line_span(each))
        item = _ITEM.match(written)
        if at < column or (item is not None and dash is not None and at == dash):
            break
        if at == column and item is None:
            key = KEY.match(written)
            if key is None:
                break
            if starts:
                ends.append((last, list(starts)))
            starts.append(lines.line_span(each).start + column)
        last = each
    ends.append((last, list(starts)))
    yield from ends[::-1][:_ENDS_TRIED]


def _moved(text: str, lines: LineIndex, rows: tuple[int, int], by: int, starts: list[int]) -> Slip:
    first = lines.line_span(rows[0])
    written = text[first.start : first.end]
    column = len(written) - len(written.lstrip(" "))
    begins = [
        lines.line_span(each).start
        for each in range(rows[0], rows[1] + 1)
        if line_written(text, lines, each).strip() and text[lines.line_span(each).start] != "#"
    ]
    edits = tuple(Edit(Span(at, at + max(-by, 0)), " " * by) for at in begins)
    key = KEY.match(written)
    name = key["key"] if key is not None else ""
    below = ", with the lines below it" if len(edits) > 1 else ""
    message = f"`{name}` belongs to the block above, so indent it by {column + by} spaces{below}."
    if by < 0:
        spaces = counted(-by, "space")
        message = f"`{name}` stands {spaces} too far to the right{below}."
    title = "Align the line" if len(edits) == 1 else "Align the lines"
    place = Span(first.start + column, first.start + len(written.rstrip()))
    problem = Problem("yaml-indentation", place, message, "error", (Fix(title, edits),))
    known = tuple(at + by * sum(begin <= at for begin in begins) for at in starts)
    first_known, others = (known[0], known[1:]) if known else (None, ())
    return Slip(
        problem,
        as_one(text, edits),
        moved_to=first.start + column + by,
        known_at=first_known,
        also_known=others,
        cures=Span(0, len(text)),
    )
