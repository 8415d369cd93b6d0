"""The syntax of assertions: parsed by Python, and then checked here, never compiled.

CPython 3.12 and 3.13 crash while they compile some twenty nested comprehensions, and what is compiled can be
run. Light: the language server imports it too.
"""

from __future__ import annotations

import ast
import re

from waza_engine.assertions.scopes import RefusedSyntaxError, Scope, scopes_of
from waza_engine.later_patterns import compiled_later

LONGEST = 100_000
"""Characters of an assertion."""
MOST_NESTED = 100
"""Brackets within brackets; Python's parser takes 200."""
_BRACKETS = compiled_later(
    r"""'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\#[^\n]*|[()\[\]{}]""",
    re.DOTALL,
)


def parse_expression(text: str) -> ast.Expression:
    """Return the syntax tree of an assertion, unchecked, without whitespace before it.

    Raises ``SyntaxError``, ``ValueError`` for characters that Python rejects, and ``RecursionError`` when it
    is nested too deeply.
    """
    source = text.lstrip(" \t")
    check_size(source)
    try:
        return ast.parse(source, "<assertion>", "eval")
    except MemoryError:
        # The parser reports this when its own stack is full.
        raise RecursionError("nested too deeply") from None


def check_size(source: str) -> None:
    """Raise ``SyntaxError`` when a string is too long or nested too deeply for the parser."""
    if len(source) > LONGEST:
        message = f"the assertion is longer than {LONGEST:,} characters"
        raise RefusedSyntaxError(message, ("<assertion>", 1, 1, None))
    if sum(map(source.count, "([{")) <= MOST_NESTED:
        return
    depth = 0
    for found in _BRACKETS.finditer(source):
        if found[0] in "([{":
            depth += 1
            if depth > MOST_NESTED:
                line, column = source.count("\n", 0, found.start()), source.rfind("\n", 0, found.start())
                position = ("<assertion>", line + 1, found.start() - column, None)
                raise SyntaxError("too many nested parentheses", position)
        elif found[0] in ")]}":
            depth -= 1


def check_expression(tree: ast.Expression) -> dict[ast.AST, Scope]:
    """Return the scopes of an expression by their nodes.

    Raises ``SyntaxError`` for what Python's compiler rejects, and for what assertions do not have.
    """
    return scopes_of(tree)
