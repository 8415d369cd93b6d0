"""Redundant brackets around a block: `tags: [` above lines with dashes, `config: {` above keys."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_OPENED = compiled_later(r"(?P<lead>[ ]*(?:-[ ]+)*)[A-Za-z_]\w*:(?P<sign>[ ]*[\[{])[ ]*\Z")
_CLOSED = compiled_later(r"[ ]*[\]}],?[ ]*\Z")
_ITEM = compiled_later(r"[ ]*-[ ]")
_KEY = compiled_later(r"[ ]*[A-Za-z_]\w*:(?:[ ]|\Z)")
_COMMA = compiled_later(r",[ ]*$")
_MOST_LINES = 60


def needless_brackets(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the block without the brackets around it, if a fault is in it or at its beginning."""
    number = lines.line_of(fault.span.start)
    for first in range(number, max(-1, number - _MOST_LINES), -1):
        opened = _OPENED.match(_line(text, lines, first))
        if opened is None:
            continue
        last = _end_of(text, lines, first, opened["sign"].strip(), len(opened["lead"]))
        if last is not None and last >= number:
            start = lines.line_span(first).start
            ending = "\r\n" if "\r\n" in text else "\n"
            block = [_COMMA.sub("", _line(text, lines, each)) for each in range(first + 1, last)]
            edit = Edit(
                Span(start + opened.start("sign"), lines.line_span(last).end), ending.join(["", *block])
            )
            place = Span(start + len(opened[0].rstrip()) - 1, start + len(opened[0].rstrip()))
            message = f"Lines below a key are a block without `{text[place.start]}` around them; remove it."
            fixes = (Fix("Remove the brackets", (edit,)), *fault.fixes)
            yield Slip(Problem("yaml-syntax", place, message, "error", fixes), edit)
        return


def _end_of(text: str, lines: LineIndex, first: int, sign: str, column: int) -> int | None:
    """Return the line of the bracket that closes one at the end of a line; None if no block is between."""
    below = _line(text, lines, first + 1) if first + 1 < lines.line_count else ""
    if (_ITEM if sign == "[" else _KEY).match(below) is None:
        return None
    for last in range(first + 2, min(lines.line_count, first + _MOST_LINES)):
        written = _line(text, lines, last)
        if _CLOSED.match(written) is not None and len(written) - len(written.lstrip(" ")) <= column:
            return last
    return None


def _line(text: str, lines: LineIndex, number: int) -> str:
    span = lines.line_span(number)
    return text[span.start : span.end]
