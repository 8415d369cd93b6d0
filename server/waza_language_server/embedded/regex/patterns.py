"""Editor features for patterns: diagnostics, explanations, highlighting."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import (
    NOWHERE,
    Checked,
    Explanation,
    Signature,
    Surroundings,
    Token,
    TokenPart,
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
        return pattern_tokens(value)


_CLASS_NAMES = frozenset("dDwWsS")
_ANCHORS = frozenset("bBAzZG")
# Possessive throughout: no character is scanned twice.
_PART = compiled_later(
    r"""(?P<literal>\\Q(?:(?!\\E).)*+(?:\\E)?)
    |(?P<property>\\[pP](?:\{\^?[\w=-]*+\}|[A-Za-z]))
    |(?P<escape>\\(?:x\{[0-9A-Fa-f]*+\}|x[0-9A-Fa-f]{0,2}|u[0-9A-Fa-f]{0,4}|[0-7]{1,3}|.)?)
    |(?P<class>\[\^?\]?(?:\[:\^?[a-z]*+:\]|\\.|[^\]\\])*+\]?)
    |(?P<group>\((?:\?(?:P?<[=!]|P?<\w*+>?|P=\w*+|\#[^)]*+|[imsUaLux-]*+:?|[=!:>|]|\([\w]*+\)?))?+|\))
    |(?P<quantifier>(?:[*+?]|\{[0-9]*+(?:,[0-9]*+)?\})[?+]?)
    |(?P<anchor>[\^$])
    |(?P<alternation>\|)
    |(?P<any>\.)
    |(?P<text>[^\\\[\](){}*+?|^$.]++|.)""",
    re.VERBOSE | re.DOTALL,
)
_PARTS: dict[str, TokenPart] = {
    "group": "group",
    "quantifier": "quantifier",
    "anchor": "anchor",
    "alternation": "alternation",
    "class": "class",
    "property": "class",
    "any": "class",
    "literal": "",
    "text": "",
}


def pattern_tokens(value: str) -> Iterator[Token]:
    """Yield the parts of a pattern; they cover it."""
    for match in _PART.finditer(value):
        kind = match.lastgroup or "text"
        if kind == "escape":
            letter = match[0][1:2]
            part: TokenPart = (
                "class" if letter in _CLASS_NAMES else "anchor" if letter in _ANCHORS else "escape"
            )
            if not letter:
                part = "escape"
        else:
            part = _PARTS[kind]
        yield Token(match.start(), match.end(), "regexp", part)
