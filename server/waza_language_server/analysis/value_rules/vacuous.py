"""Checks that always pass, or never can."""

from __future__ import annotations

from functools import lru_cache

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.pattern_syntax import is_found
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, GraderView
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix

_WANTED_PATTERNS = frozenset({"regex_match", "must_match"})
_WANTED_TEXTS = frozenset({"contains", "contains_cs", "must_contain", "keywords"})
_LONGEST_PATTERN = 200
# Nothing, one letter, empty lines, other scripts and control characters, a long text.
_ANSWERS = ("", "x", "\n\nZ-9 .\n", "\u00e9\u6f22\U0001f642\t\x00\x7f", "Some words, 12.\n" * 2_000)


def vacuous_checks(view: GraderView) -> Found:
    """Yield the required patterns and strings of a grader that occur in every answer."""
    for node, shape in view.located:
        # Only few values need their path.
        if node.kind != "scalar" or (node.value and shape.kind != "regex"):
            continue
        checkpoint()
        keys = [step for step in node.path if isinstance(step, str)]
        key = keys[-1] if keys else ""
        if shape.kind == "regex" and key in _WANTED_PATTERNS and matches_everything(node.value):
            message = "This pattern matches every answer, also an empty one, so the check cannot fail."
            yield Problem("weak-grader", node.span, message, "information")
        elif not node.value and key in _WANTED_TEXTS and len(node.span):
            message = "The empty string is in every answer, so the check cannot fail."
            yield Problem("weak-grader", node.span, message, "information")


@lru_cache(maxsize=4096)
def matches_everything(pattern: str) -> bool:
    """Return whether a pattern matches each of some answers that have nothing in common."""
    return len(pattern) <= _LONGEST_PATTERN and all(is_found(pattern, answer) for answer in _ANSWERS)


def trigger_thresholds(view: GraderView) -> Found:
    """Yield the threshold 0 of a trigger grader: no relevance is below it."""
    node, mode = view.entry.get("config", "threshold"), scalar_text(view.entry.get("config", "mode"))
    if node is None or number_of(node) != 0:
        return
    if mode == "negative":
        message = "The relevance of a prompt is never below 0, so this grader fails in every trial."
        fixes = (Fix("Change to 0.6, the usual threshold", (Edit(node.target.span, "0.6"),)),)
        yield Problem("threshold-out-of-reach", node.target.span, message, "error", fixes)
    elif mode == "positive":
        message = "The relevance of a prompt is never below 0, so the check cannot fail."
        yield Problem("weak-grader", node.target.span, message, "information")


def number_of(node: Node) -> float | None:
    """Return the value of a scalar that is a number, None for anything else."""
    value = node.target.to_python()
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
