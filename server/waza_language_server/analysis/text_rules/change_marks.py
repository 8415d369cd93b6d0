"""Lines pasted from a diff: each added line has a `+` in its first column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, as_one
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_MARKED_KEY = compiled_later(r"\+[ ]*(?:-[ ]+)*[A-Za-z_][\w-]*")
_MARKED = compiled_later(r"\+(?P<blanks>[ ]*)(?:-[ ]+\S|[A-Za-z_][\w-]*:(?:[ \t\r\n]|\Z))")
_MESSAGE = "The `+` of a list of changes stands in front of this line; delete it."
_MOST_LINES = 60


def change_mark(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the marks of the lines at a fault, each deleted or replaced by the space that it displaced.

    The two differ in whether the next line can be parsed afterwards; further down there may be other typos.
    """
    for problem, edits in _without_marks(text, lines, lines.line_of(fault.span.start)):
        behind = min(lines.line_of(edits[-1].span.start) + 1, lines.line_count - 1)
        cured = Span(edits[0].span.start, lines.line_span(behind).end)
        yield Slip(problem, as_one(text, edits), cures=cured)


def marked_key(text: str, key: Span) -> Problem | None:
    """Return the problem of diff marks, one of which begins a key, reported once for all lines."""
    is_first = not key.start or text[key.start - 1] in "\r\n"
    if not is_first or _MARKED_KEY.fullmatch(text, key.start, key.end) is None:
        return None
    lines = _lines_of(text)
    return next((problem for problem, _ in _without_marks(text, lines, lines.line_of(key.start))), None)


@lru_cache(maxsize=1)
def _lines_of(text: str) -> LineIndex:
    """Return the lines of a text, cached because many keys may have a mark."""
    return LineIndex(text)


def _without_marks(text: str, lines: LineIndex, number: int) -> Iterator[tuple[Problem, list[Edit]]]:
    """Yield the problem of all marked lines around one, and its edits; the likelier ones first."""
    first, last = number, number
    while first > max(0, number - _MOST_LINES) and _mark(text, lines, first - 1):
        first -= 1
    while last + 1 < min(lines.line_count, number + _MOST_LINES) and _mark(text, lines, last + 1):
        last += 1
    mark = _mark(text, lines, first)
    if mark is None:
        return
    place = Span(mark.start(), mark.start() + 1)
    # An odd number of spaces after it: it replaced one more.
    for instead in (" ", "") if len(mark["blanks"]) % 2 else ("", " "):
        starts = [lines.line_span(each).start for each in range(first, last + 1)]
        edits = [Edit(Span(start, start + 1), instead) for start in starts]
        fix = Fix("Delete the `+`" if len(edits) == 1 else "Delete every `+`", tuple(edits))
        yield Problem("yaml-syntax", place, _MESSAGE, "error", (fix,)), edits


def _mark(text: str, lines: LineIndex, number: int) -> re.Match[str] | None:
    return _MARKED.match(text, lines.line_span(number).start)
