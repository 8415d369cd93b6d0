"""Thresholds of graders that every answer reaches, or that none does."""

from __future__ import annotations

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, GraderView
from waza_language_server.project.suite_file import word
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix


def trigger_thresholds(view: GraderView) -> Found:
    """Yield the threshold 0 of a trigger grader: no relevance is below it."""
    node, mode = view.entry.get("config", "threshold"), word(view.entry.get("config", "mode"))
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
