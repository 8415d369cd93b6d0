"""The parts of an assertion in JavaScript that all must hold."""

from __future__ import annotations

from waza_language_server.embedded.brackets import CLOSERS
from waza_language_server.embedded.javascript.source import KEYWORDS, Piece, read

_LOOSER = frozenset({"||", "??", "?", ":", ",", ";", "=>", "..."})
"""Marks that bind less than ``&&``: beside one of them it has other sides than it seems."""
_ASSIGNING = frozenset({"=", "&&=", "||=", "??=", "+=", "-=", "*=", "/=", "%=", "**=", "++", "--"})
_OPERATORS = frozenset({"typeof", "instanceof", "in", "new", "null", "true", "false", "this", "void"})
"""The words of the language that stand in an expression without being a statement or binding less."""


def conjuncts(value: str) -> tuple[str, ...]:
    """Return what stands on both sides of the outermost ``&&``, as assertions of their own; () without one.

    Where a part by itself could be read otherwise nothing is returned: behind a line break, a comment, an
    assignment, or where it would begin a statement, as ``{`` does.
    """
    source = read(value)
    code = source.code
    if source.fault is not None or source.doubtful or len(code) != len(source.pieces):
        return ()
    if any(end in value for end in "\n\r\u2028\u2029"):
        return ()
    bounds: list[int] = []
    depth = 0
    for piece in code:
        if piece.kind == "mark" and piece.text in _ASSIGNING:
            return ()
        depth += _deeper(piece)
        if depth:
            continue
        if piece.text == "&&":
            bounds.append(piece.start)
        elif piece.text in _LOOSER or (piece.text in KEYWORDS and piece.text not in _OPERATORS):
            return ()
    starts = [0, *(bound + 2 for bound in bounds)]
    parts = tuple(value[start:end].strip() for start, end in zip(starts, [*bounds, len(value)], strict=True))
    if not bounds or any(not part or part.startswith("{") for part in parts):
        return ()
    return parts


def _deeper(piece: Piece) -> int:
    """Return by how many brackets what follows a piece is deeper than what is before it."""
    if piece.kind == "template":
        return 1 if piece.text.endswith("${") else 0
    if piece.kind != "mark":
        return 0
    return (piece.text in CLOSERS) - (piece.text in CLOSERS.values())
