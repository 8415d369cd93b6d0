"""List items that begin with another character than a dash: `-- a`, `> a`, `-: a`, `1. a` among `- b`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, as_one
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.wrong_signs import dash_message
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_ODD_BULLET = compiled_later(r"(?P<lead>[ ]*)(?P<sign>--|-:|[->=]>|[>~+_]|[0-9]{1,3}[.)])[ ]+(?=[^\s|>])")
_ITEM = compiled_later(r"(?P<lead>[ ]*)-[ ]")
_BLANKS = compiled_later(r"[ ]*(?=[^\s#])")
_BARE_KEY = compiled_later(r"(?P<lead>[ ]*)(?:-[ ]+)?(?P<key>[A-Za-z_][\w-]*):[ \t]*(?:#.*)?\Z")
_SURELY_MEANT = frozenset({"--", "-:"})
"""Markers that can only be bullets below a key."""
_MAY_BE_MEANT = compiled_later(r">|[0-9]{1,3}[.)]")
"""Markers that are bullets below a key that does not hold a string."""
_LOOKED_AT = 60
_MOST_ROWS = 400


def odd_bullet(text: str, lines: LineIndex, fault: SyntaxFault, texts: Container[str]) -> Iterator[Slip]:
    """Yield the wrong bullet of an item, on the line of a fault or above it, among items with dashes.

    Below a key that does not hold a string it may be the only item. ``texts`` are the keys that hold one.
    """
    number = lines.line_of(fault.span.start)
    for at in (number, number - 1):
        line = lines.line_span(max(at, 0))
        found = _ODD_BULLET.match(text, line.start, line.end)
        if found is None:
            continue
        column = len(found["lead"])
        holder = _holder_of_list(text, lines, at, column)
        is_alone = holder is not None and (
            found["sign"] in _SURELY_MEANT
            or (_MAY_BE_MEANT.fullmatch(found["sign"]) is not None and holder not in texts)
        )
        if not is_alone and not _is_among_items(text, lines, at, column):
            continue
        edits = [_dash(text, lines, at, found, as_wide=is_alone)]
        if is_alone:
            edits += _further(text, lines, at, column)
        signs = f"`{found['sign']}`" if len(edits) == 1 else "these signs"
        fix = Fix(f"Write `-` for {signs}", tuple(edits))
        sign = Span(found.start("sign"), found.end("sign"))
        problem = Problem("yaml-syntax", sign, dash_message(found["sign"]), "error", (fix,))
        yield Slip(problem, as_one(text, edits))
        return


def _dash(text: str, lines: LineIndex, number: int, found: re.Match[str], *, as_wide: bool) -> Edit:
    """Return the edit that writes a dash; with ``as_wide`` the first key keeps its column."""
    start = found.start("sign")
    inner = found.end() - lines.line_span(number).start
    width = found.end() - start if as_wide and _stands_below(text, lines, number, inner) else len("- ")
    return Edit(Span(start, found.end()), "-".ljust(width))


def _further(text: str, lines: LineIndex, number: int, column: int) -> Iterator[Edit]:
    """Yield the edits of the items below one that begin with such a marker at its column."""
    for below in range(number + 1, min(lines.line_count, number + _MOST_ROWS)):
        line = lines.line_span(below)
        blanks = _BLANKS.match(text, line.start, line.end)
        if blanks is None or len(blanks[0]) > column:
            continue
        found = _ODD_BULLET.match(text, line.start, line.end)
        if len(blanks[0]) < column or found is None:
            return
        yield _dash(text, lines, below, found, as_wide=True)


def _holder_of_list(text: str, lines: LineIndex, number: int, column: int) -> str | None:
    """Return the key without a value on the line above, if it is not indented further."""
    line = lines.line_span(max(number - 1, 0))
    key = _BARE_KEY.match(text[line.start : line.end])
    return key["key"] if number > 0 and key is not None and len(key["lead"]) <= column else None


def _stands_below(text: str, lines: LineIndex, number: int, column: int) -> bool:
    """Return whether the line below one begins at a column."""
    if number + 1 >= lines.line_count:
        return False
    line = lines.line_span(number + 1)
    blanks = _BLANKS.match(text, line.start, line.end)
    return blanks is not None and len(blanks[0]) == column


def _is_among_items(text: str, lines: LineIndex, number: int, column: int) -> bool:
    """Return whether an item with a dash is at a column in the block around a line."""
    above = range(number - 1, max(-1, number - _LOOKED_AT), -1)
    below = range(number + 1, min(lines.line_count, number + _LOOKED_AT))
    for side in (above, below):
        for each in side:
            line = lines.line_span(each)
            blanks = _BLANKS.match(text, line.start, line.end)
            if blanks is None or len(blanks[0]) > column:
                continue
            item = _ITEM.match(text, line.start, line.end)
            if item is not None and len(item["lead"]) == column:
                return True
            break
    return False
