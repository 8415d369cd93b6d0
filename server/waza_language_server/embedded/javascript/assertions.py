"""Assertions in JavaScript: highlighted here and run by the engine, but not checked."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.embedded.javascript.tokens import assertion_tokens
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    Explanation,
    Signature,
    Surroundings,
    Token,
    Word,
)


class JavaScriptAssertions:
    """The language of assertions of a grader with ``language: javascript``; Node.js runs them."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return no findings: only Node.js can tell whether an assertion works."""
        return Checked()

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[Word]:
        """Yield nothing."""
        return iter(())

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Return None."""
        return None

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return None."""
        return None

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        return assertion_tokens(value)
