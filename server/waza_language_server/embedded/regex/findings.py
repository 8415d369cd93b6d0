"""Regular expressions: invalid ones, and those that only Python understands.

Upstream compiles patterns with RE2, so the engine asks RE2 first. A pattern that RE2 refuses and Python
takes works here, but not there.

Architecture invariant: RE2 alone compiles what a document says; what it refuses is only parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.spec.pattern_syntax import PatternSyntaxError, dialect_of
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.regex.slowness import is_catastrophic

_PYTHON_ONLY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\(\?<?[=!]"), "look-around"),
    (re.compile(r"\\[1-9]|\(\?P="), "a back-reference"),
    (re.compile(r"\(\?>|[*+?}]\+"), "an atomic group or possessive repeat"),
    (re.compile(r"\(\?\("), "a conditional"),
    (re.compile(r"\(\?#"), "a comment group"),
    (re.compile(r"\\Z"), r"`\Z` (RE2 writes `\z`)"),
    (re.compile(r"\\u|\\N"), "a Unicode escape"),
    (
        re.compile(r"\{\d*,?(?:1\d{3}(?<!1000)|[2-9]\d{3}|\d{5,})(?:,\d*)?\}"),
        "a repeat of more than 1,000 times",
    ),
)
_KEPT_CHARACTERS = 1_000
# Possessive: a bracket that is not closed must not be looked at again from the next one.
_CLASSES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]?", re.DOTALL)


@frozen()
class PatternFault:
    """What is wrong with a pattern and between which of its characters; equal offsets mean anywhere."""

    kind: Literal["invalid", "python-only"]
    start: int
    end: int
    why: str
    replacement: str | None = None


def pattern_findings(pattern: str) -> Sequence[Finding]:
    """Return what is wrong with a pattern: that it is invalid, or not portable and perhaps slow, too."""
    fault = pattern_fault(pattern)
    if fault is None:
        return ()
    new = fault.replacement
    rewrites = (Rewrite(f"Write `{new}`", (new,), preferred=True),) if new is not None else ()
    if fault.kind == "invalid":
        message = f"This regular expression is invalid: {fault.why}."
        return (Finding("invalid-pattern", fault.start, fault.end, message, rewrites),)
    message = f"Only this engine understands {fault.why}; upstream's RE2 refuses the pattern."
    portable = Finding("pattern-not-portable", fault.start, fault.end, message, rewrites)
    if not _is_slow(pattern):
        return (portable,)
    slow = (
        "This pattern takes time that doubles with each character of an answer that it refuses; "
        "repeat only once, as in `a+` for `(a+)+`."
    )
    return (portable, Finding("slow-pattern", 0, 0, slow))


@lru_cache(maxsize=1024)
def _is_slow(pattern: str) -> bool:
    return len(pattern) <= _KEPT_CHARACTERS and is_catastrophic(pattern)


def pattern_fault(pattern: str) -> PatternFault | None:
    """Return what is wrong with a pattern, or None when RE2 takes it."""
    return _kept_fault(pattern) if len(pattern) <= _KEPT_CHARACTERS else _fault(pattern)


@lru_cache(maxsize=4096)
def _kept_fault(pattern: str) -> PatternFault | None:
    return _fault(pattern)


def _fault(pattern: str) -> PatternFault | None:
    try:
        dialect = dialect_of(pattern)
    except PatternSyntaxError as error:
        start, end = _error_range(pattern, error.position)
        return PatternFault("invalid", start, end, str(error), _portable(pattern))
    if dialect != "python":
        return None
    replacement = _portable(pattern)
    outside = _CLASSES.sub(lambda found: _blank(found.group()), pattern)
    for written, meaning in _PYTHON_ONLY:
        match = written.search(outside)
        if match is not None:
            return PatternFault("python-only", match.start(), match.end(), meaning, replacement)
    return PatternFault("python-only", 0, 0, "this pattern", replacement)


def _blank(token: str) -> str:
    return " " * len(token) if token.startswith("[") else token


def _portable(pattern: str) -> str | None:
    r"""Return the same pattern for RE2 where that is a matter of spelling: ``\Z`` at the end."""
    if not pattern.endswith(r"\Z") or pattern.endswith(r"\\Z"):
        return None
    candidate = pattern[:-2] + r"\z"
    return candidate if pattern_fault(candidate) is None else None


def _error_range(pattern: str, position: int | None) -> tuple[int, int]:
    if position is None or not pattern:
        return 0, 0
    start = min(position, len(pattern) - 1)
    return start, start + 1
