"""Exact names of tools that no tool can have: a command line in place of a name.

Names are compared as a whole, so ``rm -rf`` in ``forbidden_tools`` forbids nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import GraderView
from waza_language_server.syntax.nodes import Node


def tool_names(view: GraderView) -> Iterator[Problem]:
    """Yield the hint for a tool name with a blank in it."""
    for node, shape in view.located:
        if shape.kind == "tool.name":
            yield from _hint(node)


def _hint(node: Node) -> Iterator[Problem]:
    name = node.value.strip() if node.kind == "scalar" else ""
    if any(character.isspace() for character in name):
        shown = name if len(name) <= 40 else f"{name[:39]}…"
        message = (
            f"No tool is called `{shown}`, and names are compared as a whole; "
            "`command_pattern` of a `tool_constraint` grader looks into commands."
        )
        yield Problem("blank-in-tool-name", node.span, message, "hint")
