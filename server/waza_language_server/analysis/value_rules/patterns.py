"""Regular expressions: invalid ones, and those that only Python understands.

Upstream compiles patterns with RE2, so the engine asks RE2 first. A pattern that RE2 refuses and Python
takes works here, but not there (reference waza.md §2.20).

Architecture invariant: RE2 alone compiles what a document says; what it refuses is only parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from waza_engine.spec.pattern_syntax import PatternSyntaxError, dialect_of
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import FileView, Found, GraderView
from waza_language_server.schema.locate import outside_graders
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.scalar_map import ScalarMap

_PYTHON_ONLY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\(\?<?[=!]"), "look-around"),
    (re.compile(r"\\[1-9]|\(\?P="), "a back-reference"),
    (re.compile(r"\(\?>|[*+?}]\+"), "an atomic group or possessive repeat"),
    (re.compile(r"\(\?\("), "a conditional"),
    (re.compile(r"\(\?#"), "a comment group"),
    (re.compile(r"\\Z"), r"`\Z` (RE2 writes `\z`)"),
    (re.compile(r"\\u|\\N"), "a Unicode escape"),
)
_KEPT_CHARACTERS = 1_000
# Possessive: a bracket that is not closed must not be looked at again from the next one.
_CLASSES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PatternFault:
    """What is wrong with a pattern and between which of its characters; equal offsets mean anywhere."""

    kind: Literal["invalid", "python-only"]
    start: int
    end: int
    why: str
    replacement: str | None = None


def patterns_of_file(view: FileView) -> Found:
    """Yield the problems of the patterns that stand in no grader.

    An invalid one is a warning: a mock server with one is only left out of a run.
    """
    if view.tree.root is not None:
        for node, shape in outside_graders(view.tree.root, view.catalog.document(view.kind)):
            yield None
            if shape.kind == "regex":
                yield from _problems(view.tree.text, node, "warning")


def patterns_of_grader(view: GraderView) -> Found:
    """Yield the problems of the patterns of a grader."""
    for node, shape in view.located:
        yield None
        if shape.kind == "regex":
            yield from _problems(view.file.tree.text, node, "error")


def pattern_fault(pattern: str) -> PatternFault | None:
    """Return what is wrong with a pattern, or None when RE2 takes it."""
    return _kept_fault(pattern) if len(pattern) <= _KEPT_CHARACTERS else _fault(pattern)


def _problems(text: str, node: Node, severity: Severity) -> Iterator[Problem]:
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
