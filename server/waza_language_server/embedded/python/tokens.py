"""Semantic tokens of a Python assertion."""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Iterator, Sequence

from waza_engine.assertions.names import CONTEXT_NAMES, FUNCTION_NAMES
from waza_language_server.embedded.language import Token
from waza_language_server.embedded.python.members import RE, members_of
from waza_language_server.embedded.python.python_source import Token as Written
from waza_language_server.embedded.python.python_source import first_tokens

_BRACKETS = frozenset("()[]{},.:;")


def assertion_tokens(value: str) -> Iterator[Token]:
    """Yield the tokens up to the first character that is not valid Python."""
    written = first_tokens(value)
    for index, token in enumerate(written):
        found = _token(written, index)
        if found is not None and token.end > token.start:
            yield found


def _token(written: Sequence[Written], index: int) -> Token | None:
    token = written[index]
    if token.kind == tokenize.NAME:
        return _of_name(written, index)
    if token.kind == tokenize.NUMBER:
        return Token(token.start, token.end, "number")
    if token.kind == tokenize.STRING:
        return Token(token.start, token.end, "regexp" if _is_pattern(written, index) else "string")
    if token.kind == tokenize.OP and token.text not in _BRACKETS:
        return Token(token.start, token.end, "operator")
    return None


def _of_name(written: Sequence[Written], index: int) -> Token:
    token = written[index]
    before = written[index - 1].text if index else ""
    called = index + 1 < len(written) and written[index + 1].text == "("
    if keyword.iskeyword(token.text):
        return Token(token.start, token.end, "keyword")
    if before == ".":
        return Token(token.start, token.end, "method" if called else "property")
    if token.text == "re":
        return Token(token.start, token.end, "namespace", "defaultLibrary")
    if token.text in FUNCTION_NAMES:
        return Token(token.start, token.end, "function", "defaultLibrary")
    if token.text in CONTEXT_NAMES:
        return Token(token.start, token.end, "variable", "defaultLibrary")
    return Token(token.start, token.end, "function" if called else "variable")


def _is_pattern(written: Sequence[Written], index: int) -> bool:
    """Return whether a string is the first argument of a function of ``re``."""
    if index < 4 or written[index - 1].text != "(":
        return False
    function, dot, module = (written[index - back].text for back in (2, 3, 4))
    return module == "re" and dot == "." and function in members_of(RE)
