"""Regular expressions: invalid ones, and those that only Python understands.

Upstream compiles patterns with RE2, so the engine asks RE2 first. A pattern that RE2 refuses and Python's
``regex`` takes works here, but not there (reference waza.md §2.20).
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, cast

from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
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
_REASONS = {
    "missing ), unterminated": "this `(` is not closed",
    "unterminated character set": "this `[` is not closed",
    "unbalanced parenthesis": "this `)` closes nothing",
    "nothing to repeat": "there is nothing to repeat before this",
    "multiple repeat": "a repeat follows a repeat",
    "min repeat greater": "the least number of repeats is above the greatest",
    "bad escape (end": "a backslash ends it",
    "bad character range": "this range of characters runs backwards",
    "unknown extension": "there is no such kind of group",
    "unexpected end of pattern": "it ends too early",
    "missing": "something is missing here",
}
_CLASSES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PatternFault:
    """What is wrong with a pattern and between which of its characters; equal offsets mean anywhere."""

    kind: Literal["invalid", "python-only"]
    start: int
    end: int
    why: str
    replacement: str | None = None


class _Re2(Protocol):
    """The part of google-re2 used here; the package has no types."""

    error: type[Exception]

    def compile(self, pattern: str, options: object) -> object: ...


def pattern_problems(text: str, node: Node, severity: Severity = "error") -> Iterator[Problem]:
    """Yield the problem of one pattern, if it has one; ``text`` is the whole document.

    ``severity`` is that of an invalid pattern: a mock server with one is only left out of a run.
    """
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
        yield Problem("invalid-pattern", span, message, severity, fixes)
    else:
        message = f"Only this engine understands {fault.why}; upstream's RE2 refuses the pattern."
        yield Problem("pattern-not-portable", span, message, "hint", fixes)


@lru_cache(maxsize=4096)
def pattern_fault(pattern: str) -> PatternFault | None:
    """Return what is wrong with a pattern, or None when RE2 takes it."""
    re2 = _re2()
    try:
        re2.compile(pattern, _quiet())
    except (re2.error, UnicodeEncodeError, RecursionError):
        pass
    else:
        return None
    return _explain(pattern)


def _re2() -> _Re2:
    return cast("_Re2", importlib.import_module("re2"))


def _quiet() -> object:
    """Return options that keep RE2 from writing its complaints to stderr."""
    options = cast("Any", _re2()).Options()
    options.log_errors = False
    return options


def _explain(pattern: str) -> PatternFault:
    import regex

    replacement = _portable(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
            regex.compile(pattern)
    except re.error as error:
        start, end = _error_range(pattern, error.pos)
        return PatternFault("invalid", start, end, _reason(error.msg), replacement)
    except (regex.error, RecursionError, OverflowError, ValueError):
        return PatternFault("invalid", 0, 0, "neither RE2 nor Python can read it", replacement)
    for written, meaning in _PYTHON_ONLY:
        for match in re.finditer(written, pattern):
            if not _inside_class(pattern, match.start()):
                return PatternFault("python-only", match.start(), match.end(), meaning, replacement)
    return PatternFault("python-only", 0, 0, "this pattern", replacement)


def _reason(message: str) -> str:
    for beginning, reason in _REASONS.items():
        if message.startswith(beginning):
            return reason
    if message.startswith("bad escape") and "end of pattern" not in message:
        return f"`{message.split()[2]}` is no escape"
    return "it cannot be read from here on"


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
