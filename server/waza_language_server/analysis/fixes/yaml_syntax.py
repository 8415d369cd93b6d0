"""A line that git has left where two changes meet: one of the two sides is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_MARK = compiled_later(r"^(?P<sign><{7}|\|{7}|={7}|>{7})(?:[ \t][^\r\n]*)?(?:\r\n|\r|\n|\Z)", re.MULTILINE)


def fixes(view: FileView, problem: Problem) -> Iterator[Fix]:
    """Yield the fixes for a conflict marker: each deletes the markers and one side.

    If a marker of the conflict is missing, the extent of a side is unknown; only the last marker that is left
    in a file can be deleted alone.
    """
    text, offset = view.tree.text, problem.span.start
    if _MARK.match(text, offset) is not None:
        yield Fix("Keep the first side of the merge", partial(_side, text, offset, second=False))
        yield Fix("Keep the second side of the merge", partial(_side, text, offset, second=True))
        yield Fix("Delete the conflict marker of the merge", partial(_lone_mark, text, offset), reveals=True)


def _lone_mark(text: str, offset: int) -> Edits:
    marks = list(islice(_MARK.finditer(text), 2))
    return (Edit(Span(*marks[0].span()), ""),) if [mark.start() for mark in marks] == [offset] else ()


def _side(text: str, offset: int, *, second: bool) -> Edits:
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
