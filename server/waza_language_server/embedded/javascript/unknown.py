"""Names and methods that no JavaScript has, and assertions that end too early or are always the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waza_language_server.embedded.javascript.inference import type_before
from waza_language_server.embedded.javascript.members import CONTEXT, globals_, members_of
from waza_language_server.embedded.javascript.source import KEYWORDS, Piece
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.spelling import nearest, slip_of

_WORLD = """
Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date
Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError
SuppressedError globalThis JSON Math Intl Temporal ArrayBuffer Uint8Array Int8Array Uint16Array
Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray BigUint64Array
BigInt64Array DataView Map BigInt Set WeakMap WeakSet Proxy Reflect FinalizationRegistry WeakRef Iterator
AsyncIterator DisposableStack AsyncDisposableStack decodeURI decodeURIComponent encodeURI
encodeURIComponent escape unescape eval isFinite isNaN console SharedArrayBuffer Atomics WebAssembly True
False constructor toString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString
arguments
"""
_GLOBALS = frozenset(_WORLD.split())
"""What a context has beside that of the engine, in Node.js of today and soon."""
_METHODS = """
constructor anchor big blink bold fixed fontcolor fontsize isWellFormed italics link localeCompare small
strike sub substr sup toString toWellFormed trimLeft trimRight toLocaleLowerCase toLocaleUpperCase
valueOf codePointAt matchAll copyWithin fill lastIndexOf push reverse shift unshift sort splice keys
entries values reduceRight toLocaleString toReversed toSorted toSpliced with hasOwnProperty isPrototypeOf
propertyIsEnumerable findLastIndex flat flatMap
"""
_RARELY_ASKED = frozenset(_METHODS.split())
"""Methods of texts and lists that are there, too."""
_CONTEXTUAL = frozenset({"of", "get", "set", "as", "from", "target", "meta", "accessor", "using"})
"""Words that mean something in some places and are names elsewhere."""
_OPERATORS = "&& || == === != !== < > <= >= + - * / % ** ?? ? . ?. => = ! , & | ^ ~ in instanceof typeof new"
_UNFINISHED = frozenset(_OPERATORS.split())
"""What an expression cannot end with."""
_OF_PYTHON = {
    "lower": "toLowerCase",
    "upper": "toUpperCase",
    "strip": "trim",
    "lstrip": "trimStart",
    "rstrip": "trimEnd",
    "startswith": "startsWith",
    "endswith": "endsWith",
    "append": "push",
}
_ALWAYS = {"true": "true", "True": "true", "false": "false", "False": "false", "null": "false"}


def ends_too_early(code: Sequence[Piece]) -> Iterator[Finding]:
    """Yield the operator behind which something is missing, and the comment of another language."""
    last = code[-1]
    if last.kind in {"mark", "name"} and last.text in _UNFINISHED:
        message = f"This assertion is no JavaScript: it ends too early, behind `{last.text}`."
        yield Finding("assertion-syntax", last.start, last.end, message)


def comments_of_python(value: str, code: Sequence[Piece]) -> Iterator[Finding]:
    """Yield a ``#`` that is to begin a comment."""
    if any(piece.text == "class" for piece in code):
        # There it begins a private name.
        return
    for piece in code:
        if piece.kind == "mark" and piece.text == "#":
            changed = f"{value[: piece.start]}//{value[piece.end :]}"
            rewrites = (Rewrite("Write `//`", (changed,), preferred=True),)
            message = "`#` begins no comment in JavaScript, which writes `//`."
            yield Finding("assertion-syntax", piece.start, piece.end, message, rewrites)


def always_the_same(code: Sequence[Piece]) -> Iterator[Finding]:
    """Yield an assertion that is one literal."""
    if len(code) != 1:
        return
    (piece,) = code
    is_text = piece.kind == "text" and len(piece.text) > 2
    truth = _ALWAYS.get(piece.text) if piece.kind == "name" else "true" if is_text else None
    if truth is not None:
        message = f"`{piece.text[:40]}` is always {truth}, whatever the agent does."
        yield Finding("assertion-constant", piece.start, piece.end, message)


def unknown_names(
    value: str, code: Sequence[Piece], own: frozenset[str], is_property: Sequence[bool]
) -> Iterator[Finding]:
    """Yield the names that nothing declares, and methods that a text or a list has not."""
    if any(piece.text in {"try", "with", "eval"} for piece in code):
        # What fails there is perhaps caught, and what a name is cannot be told.
        return
    for index, piece in enumerate(code):
        if piece.kind != "name" or piece.text in KEYWORDS:
            continue
        if is_property[index]:
            yield from _method(value, code, index)
        elif piece.text not in own and not _exists(code, index):
            known = (*CONTEXT, *globals_(), *own)
            meant = nearest(piece.text, known)
            advice = f"; did you mean `{meant}`?" if meant else f", which know {', '.join(CONTEXT)}."
            message = f"`{piece.text[:40]}` does not exist in assertions{advice}"
            rewrites = _written(value, piece, meant, preferred=slip_of(piece.text, CONTEXT) == meant)
            yield Finding("assertion-unknown-name", piece.start, piece.end, message, rewrites)


def _exists(code: Sequence[Piece], index: int) -> bool:
    name = code[index].text
    if name in _GLOBALS or name in CONTEXT or name in _CONTEXTUAL:
        return True
    before = code[index - 1].text if index else ""
    after = code[index + 1].text if index + 1 < len(code) else ""
    if after == "(" and before in {"{", "}", ",", "get", "set", "async", "static", "*", ";"}:
        # A method of an object or a class may be defined here.
        return True
    # Of what does not exist the type can be asked; a label is no value.
    return before in {"typeof", "break", "continue"} or (after == ":" and before in {"", ";", "{", "}"})


def _method(value: str, code: Sequence[Piece], index: int) -> Iterator[Finding]:
    piece = code[index]
    called = code[index + 1 : index + 2] and code[index + 1].text == "("
    if not called or index < 2 or code[index - 1].text != ".":
        return
    kind = type_before(code, index - 1)
    known = [*members_of(kind)] if kind == "string" or kind.endswith("[]") else []
    if not known or piece.text in known:
        return
    python = _OF_PYTHON.get(piece.text)
    if python is not None and python in known:
        message = (
            f"`{piece.text}` is Python; assertions of this grader are JavaScript, which writes `{python}`."
        )
        rewrites = _written(value, piece, python, preferred=True)
        yield Finding("assertion-python", piece.start, piece.end, message, rewrites)
    elif piece.text not in _RARELY_ASKED and (meant := slip_of(piece.text, known)) is not None:
        title = "text" if kind == "string" else "a list"
        message = f"This is {title}, which has no `{piece.text}`; did you mean `{meant}`?"
        rewrites = _written(value, piece, meant)
        yield Finding("assertion-attribute", piece.start, piece.end, message, rewrites)


def _written(value: str, piece: Piece, new: str | None, *, preferred: bool = False) -> tuple[Rewrite, ...]:
    if new is None:
        return ()
    changed = f"{value[: piece.start]}{new}{value[piece.end :]}"
    return (Rewrite(f"Change to `{new}`", (changed,), preferred=preferred),)
