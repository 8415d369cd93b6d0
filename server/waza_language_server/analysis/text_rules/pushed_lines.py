"""Single lines at a wrong column: a key at the dashes above it, or next to the others of its mapping."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.lost_dashes import NO_DASH
from waza_language_server.analysis.text_rules.shifted_lines import moved_block, moved_rest
from waza_language_server.analysis.text_rules.slip import Slip, column_of_line
from waza_language_server.analysis.text_rules.written_lines import (
    KEY_WITHOUT_DASH,
    LOOKED_AT,
    line_written,
    row_above,
)
from waza_language_server.syntax.fault import STRUCTURAL_CODES, SyntaxFault
from waza_language_server.syntax.wrong_signs import has_odd_blank, is_merge_mark
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_KEY_OF_BLOCK = compiled_later(r"[ ]*(?P<key>[A-Za-z_]\w*):[ \t]*(?:#.*)?\Z")
_LEAD = compiled_later(r"( *)(?:- +)*(\S)")


def pushed_keys(
    text: str, lines: LineIndex, faults: Sequence[SyntaxFault], keys: Collection[str]
) -> Iterator[Slip]:
    """Yield the keys of blocks that are at the column of the items above them, further out."""
    for fault in faults[:1]:
        number = lines.line_of(fault.span.start)
        line = lines.line_span(number)
        key = _KEY_OF_BLOCK.match(text[line.start : line.end])
        if fault.message != NO_DASH or key is None or key["key"] not in keys:
            continue
        start = line.start + key.start("key")
        for column in sorted(_columns_further_out(text, lines, number, key.start("key")), reverse=True):
            edit = Edit(Span(line.start, start), " " * column)
            yield Slip(_moved_line(text, line, start, edit), edit, moves=True, known_at=line.start + column)


def block_below_value(
    text: str, lines: LineIndex, fault: SyntaxFault, known_outside: Container[str]
) -> Iterator[Slip]:
    """Yield the key of a block, with all below it, that is in a list, or right of a key with a value.

    In the second case the key is one of ``known_outside``: any other may be due below the key. Those missing
    at the margin come first.
    """
    number = lines.line_of(fault.span.start)
    for row in (number, number + 1):
        if not 0 < row < lines.line_count:
            continue
        key, number_above = _KEY_OF_BLOCK.match(line_written(text, lines, row)), row_above(text, lines, row)
        if key is None or number_above is None:
            continue
        above = lines.line_span(number_above)
        written = line_written(text, lines, number_above)
        is_item = written.lstrip().startswith("- ")
        is_further_out = column_of_line(text, above) < key.start("key") + is_item
        is_outside = key["key"] in known_outside
        if (
            not is_further_out
            or not (is_item or is_outside)
            or not (is_item or KEY_WITHOUT_DASH.match(written))
            or written.endswith(":")
        ):
            continue
        columns = sorted(_columns_further_out(text, lines, row, key.start("key")), reverse=True)
        is_of_top = is_outside and f"\n{key['key']}:" not in f"\n{text}"
        if is_of_top and 0 in columns:
            columns = [0, *(column for column in columns if column)]
        for usual in columns:
            for slip in (*moved_rest(text, lines, row, usual), *moved_block(text, lines, row, usual)):
                yield replace(slip, known_at=slip.moved_to)
        return


def pushed_lines(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the lines at the first fault, each at the columns of the lines around it, the nearest first."""
    number = lines.line_of(fault.span.start)
    around = _written_lines(text, lines, number)
    place = lines.line_span(number)
    begun = text[place.start : place.end]
    if has_odd_blank(begun[: len(begun) - len(begun.lstrip())]) or is_merge_mark(text, place.start):
        # The kind of its whitespace is wrong, not the amount; or it is not a line of the file.
        return
    moves: list[tuple[int, bool, int, int]] = []
    for line in (number, *(other for other in around if abs(other - number) == 1)):
        column = column_of_line(text, lines.line_span(line))
        columns = {usual for other in around if other != line for usual in around[other]}
        if line == number:
            columns |= _columns_further_out(text, lines, line, column)
        moves += [(abs(usual - column), line != number, -usual, line) for usual in columns]
    for _, _, outdent, line in sorted(moves):
        usual = -outdent
        span = lines.line_span(line)
        written = text[span.start : span.end]
        start = span.start + len(written) - len(written.lstrip(" \t"))
        edit = Edit(Span(span.start, start), " " * usual)
        if text[span.start : start] != edit.text:
            yield from moved_rest(text, lines, line, usual)
            yield from moved_block(text, lines, line, usual)
            yield Slip(_moved_line(text, span, start, edit), edit, moves=True)


def pushed_rest(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the line of a fault with all below it, at the columns of the blocks around it."""
    number = lines.line_of(fault.span.start)
    column = column_of_line(text, lines.line_span(number))
    for usual in sorted(_columns_further_out(text, lines, number, column), reverse=True):
        yield from moved_rest(text, lines, number, usual)


def is_at_known_key(
    text: str, lines: LineIndex, faults: Sequence[SyntaxFault], known: Container[str]
) -> bool:
    """Return whether one of the ``known`` keys begins the line of the first fault, or the one below."""
    for fault in faults[:1]:
        if fault.code not in STRUCTURAL_CODES or fault.fixes:
            # The document, or a character of the line itself, is wrong.
            return False
        number = lines.line_of(fault.span.start)
        rows = [lines.line_span(each) for each in (number, number + 1) if each < lines.line_count]
        found = (KEY_WITHOUT_DASH.match(text[row.start : row.end]) for row in rows)
        return any(key is not None and key["key"] in known for key in found)
    return False


def _columns_further_out(text: str, lines: LineIndex, number: int, column: int) -> set[int]:
    """Return the columns of the blocks around a line, up to the margin."""
    found: set[int] = set()
    for above in range(number - 1, max(-1, number - LOOKED_AT), -1):
        line = lines.line_span(above)
        written = text[line.start : line.end].lstrip()
        at = column_of_line(text, line)
        if written and not written.startswith("#") and at < min(found, default=column):
            found.add(at)
        if at == 0 and written:
            break
    return found


def _moved_line(text: str, line: Span, start: int, edit: Edit) -> Problem:
    fix = Fix("Align the line", (edit,))
    if "\t" in text[line.start : start]:
        fix = Fix("Indent with spaces", (edit,), preferred=True)
        message = "This line is indented with a tab; use spaces."
        return Problem("yaml-tab", Span(line.start, start), message, "error", (fix,))
    usual = len(edit.text)
    spaces = {0: "not at all", 1: "by 1 space"}.get(usual, f"by {usual} spaces")
    message = f"This line does not line up with those around it; indent it {spaces}."
    place = Span(start, line.start + len(text[line.start : line.end].rstrip()))
    return Problem("yaml-indentation", place, message, "error", (fix,))


def _written_lines(text: str, lines: LineIndex, number: int) -> dict[int, tuple[int, ...]]:
    """Return the lines around one that are not empty, with the possible columns of keys in them."""
    found: dict[int, tuple[int, ...]] = {}
    for line in range(max(0, number - 3), min(lines.line_count, number + 4)):
        span = lines.line_span(line)
        match = _LEAD.match(text[span.start : span.end])
        if match is not None and match[2] != "#":
            dash = len(match[1])
            below = [dash + 2] if text[span.start : span.end].rstrip().endswith(":") else []
            found[line] = (match.start(2), dash, *below)
    return found
