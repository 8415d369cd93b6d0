"""Editor features for Python assertions: diagnostics, completion, hover."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    Explanation,
    Signature,
    Surroundings,
    Token,
    Word,
)
from waza_language_server.embedded.python.at_cursor import explanation, signature, words
from waza_language_server.embedded.python.findings import KNOWN_NAMES, assertion_findings
from waza_language_server.embedded.python.tokens import assertion_tokens


class PythonAssertions:
    """The default language of assertions."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return the problems that make an assertion fail whatever the agent does."""
        findings, known = assertion_findings(value, KNOWN_NAMES | around.names)
        return Checked(findings, known - KNOWN_NAMES)

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[Word]:
        """Yield keys after a bracket, attributes after a dot, else the names that exist there."""
        return words(value, offset, around)

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Explain the name or the key at an offset."""
        return explanation(value, offset, around)

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return the signature of the function whose arguments are at an offset."""
        return signature(value, offset)

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        return assertion_tokens(value)
