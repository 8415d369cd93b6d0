"""Regular expressions: invalid ones, and those that only Python understands.

Upstream compiles patterns with RE2, so the engine asks RE2 first. A pattern that RE2 refuses and Python's
``regex`` takes works here, but not there (reference waza.md §2.20).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, cast

from waza_language_server.analysis.problem import Edit, Fix, Problem
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.scalar_map import ScalarMap

_PYTHON_ONLY: tuple[tuple[str, str], ...] = (
    (r"\(\?<?[=!]", "look-around"),
    (r"\\[1-9]|\(\?P=", "a back-reference"),
    (r"\(\?>|[*+?}]\+", "an atomic group or possessive repeat"),
    (r"\(\?\(", "a conditional"),
    (r"\(\?#", "a comment group"),
    (r"\\Z", r"`\Z` (RE2 writes `\z`)"),
    (r"\\u|\\N", "a Unicode escape"),
)
_CLASSES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PatternFault:
    """What is wrong with a pattern; ``start``/``end`` are character offsets into it, the whole when unknown."""

    kind: Literal["invalid", "python-only"]
    start: int
    end: int
    why: str
    replacement: str | None = None


class _Re2(Protocol):
    """The part of google-re2 used here."""

    def compile(self, pattern: str, options: object) -> object: ...


def pattern_problems(text: str, node: Node) -> Iterator[Problem]:
    """Yield the problem of one pattern, if it has one; ``text`` is the whole document."""
    if node.kind != "scalar":
        return
    fault = pattern_fault(node.value)
    if fault is None:
        return
    scalar = ScalarMap.of(text, node)
    span = scalar.source_span(fault.start, fault.end) if fault.end > fault.start else node.span
    fixes: tuple[Fix, ...] = ()
    if fault.replacement is not None:
        fixes = (
            Fix(f"Write `{fault.replacement}`", (Edit(node.span, scalar.write(fault.replacement)),), True),
        )
    if fault.kind == "invalid":
        message = f"This regular expression is invalid: {fault.why}."
        yield Problem("invalid-pattern", span, message, "error", fixes)
    else:
        message = f"Only this engine understands {fault.why}; upstream's RE2 refuses the pattern."
        yield Problem("pattern-not-portable", span, message, "hint", fixes)


@lru_cache(maxsize=4096)
def pattern_fault(pattern: str) -> PatternFault | None:
    """Return what is wrong with a pattern, or None when RE2 takes it."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        cast("_Re2", re2).compile(pattern, options)
    except (re2.error, UnicodeEncodeError, RecursionError):
        pass
    else:
        return None
    return _explain(pattern)


def _explain(pattern: str) -> PatternFault:
    import regex

    replacement = _portable(pattern)
    try:
        regex.compile(pattern)
    except regex.error as error:
        start, end = _error_range(pattern, error.pos)
        return PatternFault("invalid", start, end, str(error.msg), replacement)
    except (RecursionError, OverflowError, ValueError):
        return PatternFault("invalid", 0, 0, "it is too large", replacement)
    for written, meaning in _PYTHON_ONLY:
        for match in re.finditer(written, pattern):
            if not _inside_class(pattern, match.start()):
                return PatternFault("python-only", match.start(), match.end(), meaning, replacement)
    return PatternFault("python-only", 0, 0, "this pattern", replacement)


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


def _inside_class(pattern: str, offset: int) -> bool:
    return any(
        match.start() < offset < match.end()
        for match in _CLASSES.finditer(pattern)
        if match.group()[0] == "["
    )
