"""What is wrong with an assertion in JavaScript: what is not closed, and words of Python.

Only what fails on every answer is told; an assertion may declare names of its own, and whatever is declared
anywhere in it, or in an earlier one, is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from waza_language_server.embedded.javascript.inference import opening_of, type_before
from waza_language_server.embedded.javascript.source import KEYWORDS, Piece, Source, read
from waza_language_server.embedded.javascript.unknown import (
    always_the_same,
    comments_of_python,
    ends_too_early,
    unknown_names,
)
from waza_language_server.embedded.language import Finding, Rewrite

_DECLARING = frozenset({"const", "let", "var", "function", "class"})
_OPERATORS = {"and": "&&", "or": "||", "not": "!"}
_PYTHON = {
    "len": "`.length`",
    "any": "`.some(…)`",
    "all": "`.every(…)`",
    "None": "`null`",
    "str": "`String(…)`",
    "int": "`parseInt(…)`",
    "float": "`Number(…)`",
    "re": "a pattern such as `/word/i.test(output)`",
}
"""Names of Python that no JavaScript has, and what is written instead."""


def declared_in(value: str) -> frozenset[str]:
    """Return the names that later assertions of the grader know as well."""
    code = read(value).code
    return frozenset(
        piece.text for before, piece in pairwise(code) if before.text in _DECLARING and piece.kind == "name"
    )


def assertion_findings(value: str, known: frozenset[str]) -> Iterator[Finding]:
    """Yield what is wrong with an assertion: at most one thing; ``known`` were declared before it."""
    source = read(value)
    code = source.code
    if not code and source.fault is None:
        message = "This assertion is empty; write an expression such as `output.length > 0`."
        yield Finding("assertion-syntax", 0, len(value), message)
        return
    if source.doubtful:
        return
    if source.fault is not None:
        fault = source.fault
        message = f"This assertion is no JavaScript: {fault.why}."
        yield Finding("assertion-syntax", fault.start, fault.end, message)
        return
    found = [*comments_of_python(value, code), *_python_words(value, source, known), *ends_too_early(code)]
    if not found:
        own = known | {piece.text for index, piece in enumerate(code) if _declares(code, index)}
        properties = [_is_property(code, index) for index in range(len(code))]
        found = [*unknown_names(value, code, own, properties), *always_the_same(code)]
    yield from found[:1]


def _python_words(value: str, source: Source, known: frozenset[str]) -> Iterator[Finding]:
    code = source.code
    own = {piece.text for index, piece in enumerate(code) if _declares(code, index)} | known
    for index, piece in enumerate(code):
        if piece.kind != "name" or piece.text in own or _is_property(code, index):
            continue
        if piece.text in _OPERATORS and _is_operator(code, index):
            new = _OPERATORS[piece.text]
            end = piece.end + (piece.text == "not" and value[piece.end : piece.end + 1] == " ")
            yield _finding(value, piece, f"`{new}`", (piece.start, end, new))
        elif piece.text == "None":
            yield _finding(value, piece, "`null`", (piece.start, piece.end, "null"))
        elif piece.text == "in" and index and type_before(code, index) == "string":
            yield from _inside_text(value, code, index)
        elif piece.text in _PYTHON and code[index + 1 : index + 2] and code[index + 1].text in {"(", "."}:
            yield _finding(value, piece, _PYTHON[piece.text], _length(value, code, index))


def _declares(code: Sequence[Piece], index: int) -> bool:
    """Whether a name is perhaps bound here: by a declaration, as a parameter, as the target of ``=``."""
    before = code[index - 1].text if index else ""
    after = code[index + 1].text if index + 1 < len(code) else ""
    if before in _DECLARING or after in {"=>", "=", "of", "in"} or before in {"...", "catch"}:
        return after != "in" or before in _DECLARING
    # Somewhere in the parentheses of a function, or in a pattern that is taken apart.
    return before in {"(", ",", "{", "["} and any(
        piece.text in {"=>", "function", "catch", "const", "let", "var"} for piece in code
    )


def _is_property(code: Sequence[Piece], index: int) -> bool:
    before = code[index - 1].text if index else ""
    after = code[index + 1].text if index + 1 < len(code) else ""
    return before in {".", "?."} or (after == ":" and before in {"{", ","})


def _is_operator(code: Sequence[Piece], index: int) -> bool:
    """Whether a word stands between two values, or before one, where JavaScript has no name."""
    if index + 1 >= len(code):
        return False
    after = code[index + 1]
    return after.kind in {"text", "template", "number"} or (
        after.kind == "name" and after.text not in {"in", "instanceof", "of"}
    )


def _inside_text(value: str, code: Sequence[Piece], index: int) -> Iterator[Finding]:
    """``'x' in output`` asks a text for a property, which is an error."""
    if index + 1 >= len(code) or code[index - 1].kind != "text":
        return
    end = index + 2
    if type_before(code, end) != "string" or (end < len(code) and code[end].text in {".", "?.", "[", "("}):
        return
    left, right = code[index - 1], code[index + 1]
    if index >= 2 and (code[index - 2].kind != "mark" or code[index - 2].text in {"+", ")", "]"}):
        return
    new = f"{right.text}.includes({left.text})"
    negated = index >= 2 and code[index - 2].text == "!"
    if negated:
        return
    yield _finding(value, code[index], f"`{new}`", (left.start, right.end, new))


def _length(value: str, code: Sequence[Piece], index: int) -> tuple[int, int, str] | None:
    """Return ``len(x)`` as ``x.length`` where ``x`` is a name with properties."""
    if code[index].text != "len":
        return None
    for closing in range(index + 2, min(index + 12, len(code))):
        if code[closing].text == ")" and opening_of(code, closing) == index + 1:
            inside = code[index + 2 : closing]
            if inside and all(piece.kind == "name" or piece.text == "." for piece in inside):
                if inside[0].text in KEYWORDS:
                    return None
                written = value[inside[0].start : inside[-1].end]
                return code[index].start, code[closing].end, f"{written}.length"
    return None


def _finding(value: str, piece: Piece, instead: str, rewrite: tuple[int, int, str] | None) -> Finding:
    rewrites: tuple[Rewrite, ...] = ()
    if rewrite is not None:
        start, end, new = rewrite
        rewrites = (Rewrite(f"Write `{new}`", (value[:start] + new + value[end:],)),)
    message = f"`{piece.text}` is Python; assertions of this grader are JavaScript, which writes {instead}."
    return Finding("assertion-python", piece.start, piece.end, message, rewrites)
