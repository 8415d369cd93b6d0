"""Assertions in JavaScript: highlighted here and run by the engine, but not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.assertions.names import CONTEXT_NAMES
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import Language, Token, TokenKind


class JavaScriptAssertions(Language):
    """The language of assertions of a grader with ``language: javascript``; Node.js runs them."""

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight, up to a string that is not closed."""
        before, position = "", 0
        while position < len(value):
            pattern = _PATTERN.match(value, position) if _may_precede_pattern(before) else None
            found = pattern or _TOKEN.match(value, position)
            if found is None or found.lastgroup == "open":
                return
            kind, position = found.lastgroup, found.end()
            if kind == "name":
                yield _of_name(found, before)
            elif kind in _KINDS:
                yield Token(*found.span(), _KINDS[kind])
            if kind not in {"space", "comment"}:
                before = found[0]


_KINDS: dict[str, TokenKind] = {
    "comment": "comment",
    "number": "number",
    "string": "string",
    "pattern": "regexp",
    "operator": "operator",
}
_NAMES = "Array Boolean JSON Math Number Object RegExp String isFinite isNaN parseFloat parseInt"
_GLOBALS = frozenset(_NAMES.split())
_WORDS = """
async await break case catch class const continue debugger default delete do else export extends false
finally for function if import in instanceof let new null of return static super switch this throw true
try typeof var void while with yield
"""
_KEYWORDS = frozenset(_WORDS.split())
_VALUES = frozenset({"false", "null", "super", "this", "true"})
"""The keywords after which a slash divides."""
# Quantifiers are possessive: a string that is not closed is scanned once.
_TOKEN = compiled_later(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?\*/)
    |(?P<number>(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)n?)
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<string>"(?:[^"\\\n\r]|\\.)*+"|'(?:[^'\\\n\r]|\\.)*+'|`(?:[^`\\]|\\.)*+`)
    |(?P<open>["'`])
    |(?P<operator>=>|\?\?=?|\?\.(?!\d)|\.{3}|[=!]==?|<<=?|>>>?=?|\*\*=?|&&=?|\|\|=?|\+\+|--|[-+*/%&|^<>]=?)
    |(?P<mark>[()\[\]{},.;:])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = compiled_later(
    r"(?P<pattern>/(?![*/])(?:[^\\/\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[A-Za-z]*)"
)
_CALL = compiled_later(r"\s*\(")


def _of_name(found: re.Match[str], before: str) -> Token:
    name, is_called = found[0], _CALL.match(found.string, found.end()) is not None
    if before in {".", "?."}:
        return Token(*found.span(), "method" if is_called else "property")
    if name in _KEYWORDS:
        return Token(*found.span(), "keyword")
    if name in CONTEXT_NAMES:
        return Token(*found.span(), "variable", "defaultLibrary")
    if name in _GLOBALS:
        return Token(*found.span(), "function" if is_called else "namespace", "defaultLibrary")
    return Token(*found.span(), "function" if is_called else "variable")


def _may_precede_pattern(before: str) -> bool:
    """Return whether a slash after a token begins a pattern; after a value it divides."""
    if before in _KEYWORDS:
        return before not in _VALUES
    return not before[-1:].isalnum() and before[-1:] not in set("_$)]}\"'`") and before not in {"++", "--"}
