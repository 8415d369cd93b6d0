"""What a JavaScript expression is: read backwards from the dot behind it, as far as that is certain."""

from __future__ import annotations

from collections.abc import Sequence

from waza_language_server.embedded.brackets import CLOSERS
from waza_language_server.embedded.javascript.members import CONTEXT, globals_, item_of, members_of
from waza_language_server.embedded.javascript.source import Piece

_DOTS = frozenset({".", "?."})
_LITERALS = {"text": "string", "template": "string", "number": "number", "pattern": "pattern"}
_CALLBACKS = frozenset(("some", "every", "filter", "find", "findLast", "findIndex", "map", "flatMap")) | {
    "forEach"
}
MOST_LOOKED_BACK = 200
"""Pieces of one expression that are looked at."""


def type_before(pieces: Sequence[Piece], end: int, depth: int = 0) -> str:
    """Return the type of the expression that ends before a piece, "" when it is unknown."""
    if end <= 0 or depth > 20:
        return ""
    last = pieces[end - 1]
    if last.kind in _LITERALS:
        return _LITERALS[last.kind]
    if last.kind == "name":
        if end >= 2 and pieces[end - 2].text in _DOTS:
            member = members_of(type_before(pieces, end - 2, depth + 1)).get(last.text)
            return member.returns if member is not None and member.parameters is None else ""
        return _of_name(pieces, end - 1, depth)
    opening = opening_of(pieces, end - 1)
    if opening is None:
        return ""
    if last.text == "]":
        if opening and (pieces[opening - 1].kind == "name" or pieces[opening - 1].text in {")", "]"}):
            return item_of(type_before(pieces, opening, depth + 1))
        return "array"
    if last.text == ")" and opening:
        return _returned(pieces, opening, depth)
    return ""


def opening_of(pieces: Sequence[Piece], closing: int) -> int | None:
    """Return the bracket that a bracket closes, None when it is far away or not there."""
    wanted: list[str] = []
    for index in range(closing, max(closing - MOST_LOOKED_BACK, -1), -1):
        text = pieces[index].text
        if pieces[index].kind != "mark":
            continue
        if text in CLOSERS.values():
            wanted.append(text)
        elif text in CLOSERS:
            if not wanted or wanted.pop() != CLOSERS[text]:
                return None
            if not wanted:
                return index
    return None


def _returned(pieces: Sequence[Piece], opening: int, depth: int) -> str:
    name = pieces[opening - 1]
    if name.kind != "name":
        return ""
    if opening >= 2 and pieces[opening - 2].text in _DOTS:
        member = members_of(type_before(pieces, opening - 2, depth + 1)).get(name.text)
    else:
        member = globals_().get(name.text)
    return member.returns if member is not None and member.parameters is not None else ""


def _of_name(pieces: Sequence[Piece], at: int, depth: int) -> str:
    name = pieces[at].text
    bound = _parameter(pieces, at, depth)
    if bound is not None:
        return bound
    if any(
        piece.text == name and index and pieces[index - 1].text in {"const", "let", "var"}
        for index, piece in enumerate(pieces[:at])
    ):
        return ""
    if name in CONTEXT:
        return CONTEXT[name][0]
    known = globals_().get(name)
    if known is None:
        return ""
    return known.returns if known.parameters is None else f"{name}()"


def _parameter(pieces: Sequence[Piece], at: int, depth: int) -> str | None:
    """Return the type of the parameter of a callback: ``tool_calls.some(call => …`` binds ``call``."""
    name = pieces[at].text
    for index in range(at - 1, max(at - MOST_LOOKED_BACK, 0), -1):
        if pieces[index].text != "=>":
            continue
        start = index - 1
        if pieces[start].text == ")":
            opening = opening_of(pieces, start)
            if opening is None:
                continue
            names = pieces[opening + 1 : start]
            start = opening
        else:
            names = pieces[start : start + 1]
        if name not in {piece.text for piece in names}:
            continue
        called = start >= 3 and pieces[start - 1].text == "(" and pieces[start - 2].text in _CALLBACKS
        if not called or not names or names[0].text != name or pieces[start - 3].text not in _DOTS:
            return ""
        return item_of(type_before(pieces, start - 3, depth + 1))
    return None
