"""Assertions in JavaScript: highlighted here and run by the engine, but not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from waza_engine.assertions.names import CONTEXT_NAMES
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import (
    Language,
    Token,
    TokenKind,
)


class JavaScriptAssertions(Language):
    """The language of assertions of a grader with ``language: javascript``; Node.js runs them."""

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        pieces = tuple(pieces_of(value))
        for index, piece in enumerate(pieces):
            if piece.kind in _KINDS:
                yield Token(piece.start, piece.end, _KINDS[piece.kind])
            elif piece.kind == "name":
                yield _of_name(pieces, index)
            elif piece.text not in _SILENT:
                yield Token(piece.start, piece.end, "operator")


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


PieceKind = Literal["name", "number", "text", "template", "pattern", "comment", "mark"]
_WORDS = """
async await break case catch class const continue debugger default delete do else export extends false
finally for function if import in instanceof let new null of return static super switch this throw true
try typeof var void while with yield
"""
KEYWORDS = frozenset(_WORDS.split())
_WORDS_BEFORE_PATTERN = """
return typeof instanceof in of new delete void throw case do else
"""
_BEFORE_PATTERN = frozenset(_WORDS_BEFORE_PATTERN.split())
_NEXT = compiled_later(
    r"""(?P<blank>\s+)
    |(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?\*/)
    |(?P<number>(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)n?)
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<text>"(?:[^"\\\n\r]|\\(?:\r\n|.))*"|'(?:[^'\\\n\r]|\\(?:\r\n|.))*')
    |(?P<mark>=>|\?\?=?|\?\.(?!\d)|\.\.\.|[=!]==?|<<=?|>>>?=?|[<>]=?|\*\*=?|&&=?|\|\|=?|\+\+|--|[-+*%&|^]=?|.)""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = compiled_later(r"/(?![*/])(?:[^\\/\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[A-Za-z]*")
_TEMPLATE = compiled_later(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)


@frozen()
class Piece:
    """A word, a string, an operator; ``kind`` "template" is a part of a template literal."""

    kind: PieceKind
    start: int
    end: int
    text: str


def pieces_of(text: str) -> Iterator[Piece]:
    """Yield the tokens of JavaScript source, up to a string that is not closed."""
    opened: list[str] = []
    last: Piece | None = None
    position = 0
    while position < len(text):
        if opened and opened[-1] == "`":
            piece = _template_part(text, position, opened)
        else:
            piece = _next_piece(text, position, last)
            if piece is None:
                position = _NEXT.match(text, position).end()  # pyright: ignore[reportOptionalMemberAccess]
                continue
            if piece.text in {'"', "'"}:
                return
            if piece.text in {"`", "{"}:
                opened.append(piece.text)
            elif piece.text == "}" and opened:
                opened.pop()
        yield piece
        last = piece if piece.kind != "comment" else last
        position = piece.end


def _next_piece(text: str, position: int, last: Piece | None) -> Piece | None:
    """Return the piece at a position outside of templates; None for whitespace."""
    found = _PATTERN.match(text, position) if _may_be_pattern(last) else None
    if found is not None:
        return Piece("pattern", position, found.end(), found[0])
    found = _NEXT.match(text, position)
    assert found is not None
    match found.lastgroup:
        case "comment" | "number" | "name" | "text" as kind:
            return Piece(kind, position, found.end(), found[0])
        case "mark":
            return Piece("template" if found[0] == "`" else "mark", position, found.end(), found[0])
        case _:
            return None


def _template_part(text: str, position: int, opened: list[str]) -> Piece:
    """Return the part of a template up to its end or to the next ``${``."""
    found = _TEMPLATE.match(text, position)
    end = found.end() if found is not None else position
    if text.startswith("`", end):
        opened.pop()
        end += 1
    elif text.startswith("${", end):
        opened.append("{")
        end += 2
    else:
        end = len(text)
    return Piece("template", position, end, text[position:end])


def _may_be_pattern(last: Piece | None) -> bool:
    """Return whether a slash after a piece begins a pattern; after a value it divides."""
    if last is None:
        return True
    if last.kind == "name":
        return last.text in _BEFORE_PATTERN
    return last.kind == "mark" and last.text not in {")", "]", "}", "++", "--"}
