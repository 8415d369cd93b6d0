"""Semantic tokens of a JavaScript assertion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waza_engine.assertions.names import CONTEXT_NAMES
from waza_language_server.embedded.javascript.source import KEYWORDS, Piece, pieces_of
from waza_language_server.embedded.language import Token, TokenKind

_KINDS: dict[str, TokenKind] = {
    "comment": "comment",
    "number": "number",
    "text": "string",
    "template": "string",
    "pattern": "regexp",
}
_SILENT = frozenset("()[]{},.;:")
_NAMES = """
Array Boolean JSON Math Number Object RegExp String isFinite isNaN parseFloat parseInt
"""
_GLOBALS = frozenset(_NAMES.split())


def assertion_tokens(value: str) -> Iterator[Token]:
    """Yield the tokens, up to a string that is not closed."""
    pieces = tuple(pieces_of(value))
    for index, piece in enumerate(pieces):
        if piece.kind in _KINDS:
            yield Token(piece.start, piece.end, _KINDS[piece.kind])
        elif piece.kind == "name":
            yield _of_name(pieces, index)
        elif piece.text not in _SILENT:
            yield Token(piece.start, piece.end, "operator")


def _of_name(pieces: Sequence[Piece], index: int) -> Token:
    piece = pieces[index]
    before = pieces[index - 1].text if index else ""
    called = index + 1 < len(pieces) and pieces[index + 1].text == "("
    if before in {".", "?."}:
        return Token(piece.start, piece.end, "method" if called else "property")
    if piece.text in KEYWORDS:
        return Token(piece.start, piece.end, "keyword")
    if piece.text in CONTEXT_NAMES:
        return Token(piece.start, piece.end, "variable", "defaultLibrary")
    if piece.text in _GLOBALS:
        kind: TokenKind = "function" if called else "namespace"
        return Token(piece.start, piece.end, kind, "defaultLibrary")
    return Token(piece.start, piece.end, "function" if called else "variable")
