"""Git's conflict markers: fixes that keep one of the two sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.wrong_signs import is_merge_mark
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_MARK = compiled_later(r"^(?P<sign><{7}|\|{7}|={7}|>{7})(?:[ \t][^\r\n]*)?(?:\r\n|\r|\n|\Z)", re.MULTILINE)
_FIRST, _SECOND = "Keep the first side of the merge", "Keep the second side of the merge"


def sides_of_merge(text: str, offset: int) -> tuple[Fix, ...]:
    """Return the fixes for a conflict marker at an offset; empty if there is none.

    They delete the markers and the other side. If a marker of the conflict is missing, the extent of a side
    is unknown; only the last marker that is left in a file can be deleted alone.
    """
    if _MARK.match(text, offset) is None:
        return ()
    return (
        *(Fix(title, partial(_kept, text, offset, second=title == _SECOND)) for title in (_FIRST, _SECOND)),
        Fix("Delete the mark of the merge", partial(_lone_mark, text, offset), reveals=True),
    )


def without_keys_of_both_sides(text: str, faults: Sequence[SyntaxFault]) -> Iterator[SyntaxFault]:
    """Yield the faults without those of keys on two sides of a conflict: keeping one side repairs them."""
    marks = [fault.span.start for fault in faults if is_merge_mark(text, fault.span.start)]
    for fault in faults:
        first = fault.related[0].span.start if fault.code == "duplicate-key" and fault.related else None
        if first is None or not _are_two_sides(text, marks, first, fault.span.start):
            yield fault


def _are_two_sides(text: str, marks: Sequence[int], first: int, second: int) -> bool:
    """Return whether two offsets are on two sides of one conflict; ``marks`` are offsets of its markers."""
    before = "".join(text[mark] for mark in marks if mark < first)
    between = {text[mark] for mark in marks if first < mark < second}
    return before[-1:] in {"<", "|"} and bool(between) and between <= {"|", "="}


def _lone_mark(text: str, offset: int) -> Edits:
    marks = list(islice(_MARK.finditer(text), 2))
    return (Edit(Span(*marks[0].span()), ""),) if [mark.start() for mark in marks] == [offset] else ()


def _kept(text: str, offset: int, *, second: bool) -> Edits:
    start = offset if text.startswith("<", offset) else text.rfind("\n<<<<<<<", 0, offset) + 1
    marks: dict[str, re.Match[str]] = {}
    for match in _MARK.finditer(text, start):
        sign = match["sign"][0]
        if sign in marks or (not marks and sign != "<"):
            return ()
        marks[sign] = match
        if sign == ">":
            break
    opening, middle, closing = (marks.get(sign) for sign in "<=>")
    if opening is None or middle is None or closing is None or not start <= offset < closing.end():
        return ()
    if second:
        return Edit(Span(opening.start(), middle.end()), ""), Edit(Span(closing.start(), closing.end()), "")
    # With three sides, the one in the middle is the common ancestor.
    rest = marks.get("|", middle)
    return Edit(Span(opening.start(), opening.end()), ""), Edit(Span(rest.start(), closing.end()), "")
