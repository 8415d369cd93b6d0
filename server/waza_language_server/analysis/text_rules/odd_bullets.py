"""Items of a list that begin with another sign than a dash: `-- a`, `> a`, `-: a`, `1. a` among `- b`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.wrong_signs import dash_message
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_ODD_BULLET = re.compile(r"(?P<lead>[ ]*)(?P<sign>--|-:|[->=]>|[>~+_]|[0-9]{1,3}[.)])[ ]+(?=[^\s|>])")
_ITEM = re.compile(r"(?P<lead>[ ]*)-[ ]")
_BLANKS = re.compile(r"[ ]*(?=[^\s#])")
_BARE_KEY = re.compile(r"(?P<lead>[ ]*)(?:-[ ]+)?[A-Za-z_][\w-]*:[ \t]*(?:#.*)?\Z")
_SURELY_MEANT = frozenset({"--", "-:"})
"""Signs that begin nothing else below a key."""
_LOOKED_AT = 60


def odd_bullet(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the sign at which an item begins, on the line of a fault or above it, among items with dashes."""
    number = lines.line_of(fault.span.start)
    for at in (number, number - 1):
        line = lines.line_span(max(at, 0))
        found = _ODD_BULLET.match(text, line.start, line.end)
        if found is None:
            continue
        column = len(found["lead"])
        is_due = found["sign"] in _SURELY_MEANT and _begins_list(text, lines, at, column)
        if not is_due and not _is_among_items(text, lines, at, column):
            continue
        sign = Span(found.start("sign"), found.end("sign"))
        edit = Edit(Span(sign.start, found.end()), "- ")
        fix = Fix(f"Write `-` for `{found['sign']}`", (edit,))
        problem = Problem("yaml-syntax", sign, dash_message(found["sign"]), "error", (fix,))
        yield Slip(problem, edit)
        return


def _begins_list(text: str, lines: LineIndex, number: int, column: int) -> bool:
    """Whether the line above one is a key without a value, no further to the right."""
    line = lines.line_span(max(number - 1, 0))
    key = _BARE_KEY.match(text[line.start : line.end])
    return number > 0 and key is not None and len(key["lead"]) <= column


def _is_among_items(text: str, lines: LineIndex, number: int, column: int) -> bool:
    """Whether an item with a dash stands at a column in the block around a line."""
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
