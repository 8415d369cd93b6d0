"""Editor features for patterns: diagnostics, explanations, highlighting."""

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
from waza_language_server.embedded.regex.findings import pattern_findings


class Patterns:
    """Regular expressions, which run on RE2 if it accepts them, else on Python."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return the problems of a pattern that is invalid, or that upstream cannot compile."""
        return Checked(tuple(pattern_findings(value)))

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[Word]:
        """Yield nothing: the agent's answer is not known."""
        return iter(())

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Explain the entire pattern, at any offset in it."""
        from waza_language_server.embedded.regex.explanation import explained

        text = explained(value, any_case=around.any_case)
        return Explanation(0, len(value), text) if text is not None else None

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return None: patterns have no calls."""
        return None

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        from waza_language_server.embedded.regex.tokens import pattern_tokens

        return pattern_tokens(value)
