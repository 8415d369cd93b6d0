"""Blocks of lines that are indented wrongly as a whole: an item of a list, lines indented with tabs."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import TAB, sentence
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, as_one, column_of_line
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_ITEM = compiled_later(r"(?P<lead>[ ]*)-[ ]+(?=\S)")
_KEY = compiled_later(r"(?:-[ ]+)+(?P<key>[A-Za-z_][\w-]*):(?:[ \t]|\Z)")
_KEY_OF_ITEM = compiled_later(r"[ ]*-[ ]+[A-Za-z_][\w-]*:(?=[ \t\r\n]|\Z)")
_BARE_KEY = compiled_later(r"[A-Za-z_][\w-]*:[ \t]*(?:[|>][-+]?[ \t]*)?(?:#.*)?\Z")
_KEY_ON_LINE = compiled_later(r"(?P<key>[A-Za-z_][\w-]*):(?:[ \t]|\Z)")
_TABS = compiled_later(r"\t[ \t]*")
_LOOKED_AT = 40
_FURTHER_BELOW = 100
"""Lines below a key in which its list ends."""
_BELOW = 12
"""Lines below a fault in which the item that causes it may begin."""
_MOST_LINES = 400
_COLUMNS_TRIED = 2


def shifted_items(
    text: str, lines: LineIndex, fault: SyntaxFault, *, outside: bool = False
) -> Iterator[Slip]:
    """Yield an item with all its lines at the column of the items above it, alone and with those below it.

    The last suggestion moves only its first line, in case the others are in their place. With ``outside`` it
    is the next item to the left of the fault: at the column of a key it turns everything below that key into
    a list.
    """
    number = lines.line_of(fault.span.start)
    margin = fault.span.start - lines.line_span(number).start
    for line in range(number, min(lines.line_count, number + (_FURTHER_BELOW if outside else _BELOW))):
        item = _item_at(text, lines, line)
        if item is None or (outside and len(item["lead"]) >= margin):
            continue
        column = len(item["lead"])
        for usual in islice(_columns_of_items_above(text, lines, line, column), _COLUMNS_TRIED):
            ends = [_end_of_item(text, lines, line, column, usual, others=others) for others in (False, True)]
            for last in dict.fromkeys((*ends, line)):
                if _has_room(text, lines, (line, last), column - usual):
                    yield _shifted(text, lines, (line, last), usual - column)
        return


def text_of_deeper_list(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield a string that is to the left of the list that it belongs to.

    It moves to the items next to it, or below the bare key above it.
    """
    number = lines.line_of(fault.span.start)
    for line in range(number, min(lines.line_count, number + _BELOW)):
        item = _item_at(text, lines, line)
        if item is None or _KEY.match(text, lines.line_span(line).start + len(item["lead"])) is not None:
            continue
        column = len(item["lead"])
        beside = (
            _item_at(text, lines, each) for each in (line - 1, line + 1) if 0 <= each < lines.line_count
        )
        columns = [len(other["lead"]) for other in beside if other is not None]
        above = lines.line_span(max(line - 1, 0))
        key = column_of_line(text, above)
        if _BARE_KEY.match(text, above.start + key, above.end):
            columns += [key, key + 2]
        for usual in dict.fromkeys(columns):
            if usual > column:
                yield _shifted(text, lines, (line, line), usual - column)


def dash_before_others(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the first line of an item that is indented further than its other keys."""
    number = lines.line_of(fault.span.start)
    line, above = lines.line_span(number), lines.line_span(max(number - 1, 0))
    item = _ITEM.match(text, above.start, above.end)
    column = fault.span.start - line.start
    if item is None or not number or text[line.start : fault.span.start].strip(" "):
        return
    inner = item.end() - above.start
    by = inner - column
    # A key at the column of the dash may belong outside the list.
    is_of_item = _KEY_ON_LINE.match(text, fault.span.start, line.end) and column != len(item["lead"])
    if is_of_item and 0 < by <= len(item["lead"]):
        yield _shifted(text, lines, (number - 1, number - 1), -by, beside="its other keys")


def dash_at_its_keys(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the first line of an item whose dash is at the column of its other keys, or after it."""
    number = lines.line_of(fault.span.start)
    for line in range(max(number - 1, 0), min(lines.line_count - 1, number + _BELOW)):
        item, below = _item_at(text, lines, line), lines.line_span(line + 1)
        if item is None or _KEY_OF_ITEM.match(text, lines.line_span(line).start) is None:
            continue
        column, inner = len(item["lead"]), column_of_line(text, below)
        is_key = _KEY_ON_LINE.match(text, below.start + inner, below.end) is not None
        if is_key and 2 <= inner <= column:
            by = inner - column - 2
            # The key below shows whether it is one of the item.
            yield replace(_shifted(text, lines, (line, line), by), known_at=below.start + inner + by)
            return


def rest_of_item(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the keys of an item, except the first, that are together between its dash and its first key."""
    number = lines.line_of(fault.span.start)
    for line in (number, number - 1):
        item = _item_at(text, lines, line) if line >= 0 and line + 1 < lines.line_count else None
        if item is None:
            continue
        inner, below = item.end(), lines.line_span(line + 1)
        column = column_of_line(text, below)
        is_key = _KEY_ON_LINE.match(text, below.start + column, below.end) is not None
        if not is_key or not len(item["lead"]) < column < inner:
            continue
        last = line + 1
        while last + 1 < lines.line_count and last - line < _MOST_LINES:
            following = lines.line_span(last + 1)
            if text[following.start : following.end].strip() and column_of_line(text, following) < column:
                break
            last += 1
        yield _shifted(text, lines, (line + 1, last), inner - column, is_item=False)
        return


def tabbed_lines(
    text: str, lines: LineIndex, faults: Sequence[SyntaxFault], keys: Container[str]
) -> Iterator[Slip]:
    """Yield the lines that are indented with tabs, each tab converted to one level of the lines above.

    One of ``keys`` below a text does not become a part of it, if there is a block that knows it.
    """
    seen = -1
    for fault in faults:
        number = lines.line_of(fault.span.start)
        if fault.code != "yaml-tab" or number <= seen:
            continue
        first = seen = number
        while first > 0 and number - first < _MOST_LINES and _is_tabbed(text, lines, first - 1):
            first -= 1
        while (
            seen + 1 < lines.line_count and seen - first < _MOST_LINES and _is_tabbed(text, lines, seen + 1)
        ):
            seen += 1
        while first < number and not _is_written(text, lines, first):
            first += 1
        row = lines.line_span(first)
        key = _KEY_ON_LINE.match(text[row.start : row.end].lstrip())
        below_text = key is not None and key["key"] in keys and _is_below_text(text, lines, first)
        if below_text:
            yield from _in_spaces(
                text, lines, (first, seen), _columns_further_out(text, lines, first), known=True
            )
        columns = _columns_above(text, lines, first)
        yield from _in_spaces(text, lines, (first, seen), columns, sure=not below_text)


def moved_block(text: str, lines: LineIndex, number: int, usual: int) -> Iterator[Slip]:
    """Yield a key with all its lines at another column, if both were indented together.

    They were if the lines below are as far to the right of the key as those of other keys.
    """
    line = lines.line_span(number)
    written = text[line.start : line.end].rstrip()
    column = len(written) - len(written.lstrip(" "))
    if _BARE_KEY.match(written, column) is None or text.startswith("\t", line.start):
        return
    last = _end_of_item(text, lines, number, column, column, others=False)
    below = next(
        (
            column_of_line(text, lines.line_span(each))
            for each in range(number + 1, last + 1)
            if _is_written(text, lines, each)
        ),
        None,
    )
    if below is None or below - column != _step(text, lines):
        return
    if _has_room(text, lines, (number, last), column - usual):
        yield _shifted(text, lines, (number, last), usual - column, is_item=False)


def moved_rest(text: str, lines: LineIndex, number: int, usual: int) -> Iterator[Slip]:
    """Yield a key and everything below it, including other keys at its column, at another column.

    This repairs a part of a file that was pasted too far to the right.
    """
    line = lines.line_span(number)
    written = text[line.start : line.end].rstrip()
    column = len(written) - len(written.lstrip(" "))
    if usual >= column or _KEY_ON_LINE.match(written, column) is None:
        return
    below = lines.line_span(min(number + 1, lines.line_count - 1))
    if _BARE_KEY.match(written, column) and column_of_line(text, below) == column:
        # The lines below may be its own.
        return
    last, others = number, 0
    for below in range(number + 1, min(lines.line_count, number + _MOST_LINES)):
        if _is_written(text, lines, below):
            at = column_of_line(text, lines.line_span(below))
            if at < column:
                break
            others += at == column and _item_at(text, lines, below) is None
            last = below
    if others and _has_room(text, lines, (number, last), column - usual):
        yield _shifted(text, lines, (number, last), usual - column, is_item=False)


def _step(text: str, lines: LineIndex) -> int:
    """Return the indentation of the first block at the margin; 2 if there is none."""
    for number in range(min(lines.line_count - 1, _MOST_LINES)):
        line, following = lines.line_span(number), lines.line_span(number + 1)
        written = text[line.start : line.end].rstrip()
        is_key = _BARE_KEY.match(written) is not None and written.endswith(":")
        column = column_of_line(text, following) if is_key and _is_written(text, lines, number + 1) else 0
        if column and _item_at(text, lines, number + 1) is None:
            return column
    return 2


def _is_below_text(text: str, lines: LineIndex, number: int) -> bool:
    """Return whether the nearest line above that is not empty is neither a key nor an item with keys."""
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        if _is_written(text, lines, above):
            line = lines.line_span(above)
            written = text[line.start : line.end].lstrip()
            return not written.startswith("#") and _KEY_ON_LINE.match(written.removeprefix("- ")) is None
    return False


def _columns_further_out(text: str, lines: LineIndex, number: int) -> Iterator[int]:
    """Yield the columns of the keys around the text above a line, the nearest first."""
    least = None
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        # The key of a list may be at the column of its dashes.
        column = column_of_line(text, line) + (_item_at(text, lines, above) is not None)
        if _is_written(text, lines, above) and (least is None or column < least):
            if least is not None:
                yield column
            least = column


def _in_spaces(
    text: str,
    lines: LineIndex,
    part: tuple[int, int],
    columns: Iterator[int],
    *,
    known: bool = False,
    sure: bool = False,
) -> Iterator[Slip]:
    first, last = part
    rows = [lines.line_span(number) for number in range(first, last + 1)]
    tabs = [_TABS.match(text, row.start, row.end) for row in rows]
    if (first == last and not known) or tabs[0] is None:
        return
    message = "These lines are indented with tabs; use spaces." if first < last else sentence(TAB)
    for base in columns:
        for step in (2, 4):
            edits: list[Edit] = []
            for row, match in zip(rows, tabs, strict=True):
                if match is not None and text[row.start : row.end].strip():
                    column = base + _width(match[0], step) - _width(tabs[0][0], step)
                    edits.append(Edit(Span(match.start(), match.end()), " " * max(column, 0)))
            fix = Fix("Indent with spaces", tuple(edits), preferred=sure)
            place = Span(tabs[0].start(), tabs[0].end())
            problem = Problem("yaml-tab", place, message, "error", (fix,))
            known_at = rows[0].start + base if known else None
            cured = Span(rows[0].start, rows[-1].end)
            yield Slip(problem, as_one(text, edits), known_at=known_at, cures=cured)


def _width(blanks: str, step: int) -> int:
    return len(blanks.replace("\t", " " * step))


def _is_tabbed(text: str, lines: LineIndex, number: int) -> bool:
    line = lines.line_span(number)
    written = text[line.start : line.end]
    return written.startswith("\t") or (not written.strip() and number + 1 < lines.line_count)


def _is_written(text: str, lines: LineIndex, number: int) -> bool:
    line = lines.line_span(number)
    return bool(text[line.start : line.end].strip())


def _columns_above(text: str, lines: LineIndex, number: int) -> Iterator[int]:
    """Yield the possible columns of a line below the nearest one that is not empty, the likeliest first."""
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        written = text[line.start : line.end].rstrip()
        if not written or written.lstrip().startswith("#"):
            continue
        column = column_of_line(text, line)
        item = _ITEM.match(written)
        inner = item.end() if item is not None else column
        if written.endswith((":", "|", ">", "|-", ">-")):
            yield inner + 2
        yield from dict.fromkeys((inner, column))
        return


def _item_at(text: str, lines: LineIndex, number: int) -> re.Match[str] | None:
    line = lines.line_span(number)
    return _ITEM.match(text[line.start : line.end])


def _columns_of_items_above(text: str, lines: LineIndex, number: int, column: int) -> Iterator[int]:
    found: dict[int, None] = {}
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        item = _item_at(text, lines, above)
        if item is not None and len(item["lead"]) != column:
            found[len(item["lead"])] = None
    yield from found


def _end_of_item(text: str, lines: LineIndex, number: int, column: int, usual: int, *, others: bool) -> int:
    """Return the last line of an item; with ``others`` that of the items at its column below it.

    If it is too far to the left, the lines below it belong to it up to the next item.
    """
    last = number
    for below in range(number + 1, min(lines.line_count, number + _MOST_LINES)):
        line = lines.line_span(below)
        if not text[line.start : line.end].strip():
            continue
        at = column_of_line(text, line)
        is_item = _item_at(text, lines, below) is not None
        if at < column or (at == column and not (others and is_item)):
            break
        if usual > column and at == usual and is_item and not others:
            break
        last = below
    return last


def _has_room(text: str, lines: LineIndex, rows: tuple[int, int], left: int) -> bool:
    """Return whether each line that is not empty begins with this many spaces."""
    starts = (lines.line_span(number) for number in range(rows[0], rows[1] + 1))
    return not any(
        text[line.start : line.end].strip() and text[line.start : line.start + max(left, 0)].strip(" ")
        for line in starts
    )


def _shifted(
    text: str,
    lines: LineIndex,
    rows: tuple[int, int],
    by: int,
    *,
    is_item: bool = True,
    beside: str = "the others of its list",
) -> Slip:
    edits: list[Edit] = []
    for number in range(rows[0], rows[1] + 1):
        line = lines.line_span(number)
        if text[line.start : line.end].strip():
            edits.append(
                Edit(Span(line.start, line.start), " " * by)
                if by > 0
                else Edit(Span(line.start, line.start - by), "")
            )
    first = lines.line_span(rows[0])
    written = text[first.start : first.end]
    place = Span(first.start + len(written) - len(written.lstrip()), first.start + len(written.rstrip()))
    far = abs(by)
    spaces = counted(far, "space")
    side = "left" if by > 0 else "right"
    message = f"This item stands {spaces} too far to the {side} of {beside}."
    if not is_item:
        message = f"This key stands {spaces} too far to the {side}, with the lines below it."
        problem = Problem(
            "yaml-indentation", place, message, "error", (Fix("Align the lines", tuple(edits)),)
        )
        return Slip(problem, as_one(text, edits), moves=True, moved_to=place.start + by)
    title = "Align the item" if rows[0] < rows[1] else "Align the line"
    problem = Problem("yaml-indentation", place, message, "error", (Fix(title, tuple(edits)),))
    key = _KEY.match(written, place.start - first.start)
    known_at = first.start + by + key.start("key") if key is not None else None
    edit, moved_to = as_one(text, edits), place.start + by
    # A part without a key is in its place where a list accepts it.
    return Slip(
        problem, edit, known_at=known_at, cures=Span(0, len(text)), moves=key is None, moved_to=moved_to
    )
