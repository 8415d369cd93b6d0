"""Exact names of tools that no tool can have: a command line in place of a name.

Names are compared exactly, so ``rm -rf`` in ``forbidden_tools`` forbids nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import GraderView
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix

_SIGNS_OF_PATTERN = compiled_later(r"\A\^|\$\Z|\.[*+]|\w\|\w")
"""Characters of patterns that no tool name contains; a `*` alone may be a wildcard."""
_BARE = compiled_later(r"[A-Za-z_][\w-]{0,40}")


def tool_names(view: GraderView) -> Iterator[Problem]:
    """Yield the hint for a tool name with a space in it, or with characters of a pattern."""
    for node, shape in view.located:
        if shape.kind == "tool.name":
            yield from _hint(node)


def unanchored_patterns(view: GraderView) -> Iterator[Problem]:
    """Yield the hint for a rejected tool that is a bare name: as a pattern it rejects longer names, too."""
    entries = view.entry.get("config", "reject_tools")
    for item in entries.target.items if entries is not None else ():
        node = item.get("tool") if item.target.kind == "mapping" else None
        if node is None or node.target.kind != "scalar" or not _BARE.fullmatch(node.target.value):
            continue
        name = node.target.value
        message = (
            f"This pattern rejects every tool whose name contains `{name}`; "
            f"write `^{name}$` to reject only this tool."
        )
        fix = Fix(f"Write `^{name}$`", (Edit(node.target.span, f"'^{name}$'"),))
        yield Problem("unanchored-tool", node.target.span, message, "hint", (fix,))


def _hint(node: Node) -> Iterator[Problem]:
    name = node.value.strip() if node.kind == "scalar" else ""
    if name != node.value and node.kind == "scalar" and _BARE.fullmatch(name):
        message = f"No tool is called `{node.value}`: names are compared including whitespace."
        fix = Fix("Delete the blanks", (Edit(node.span, name),))
        yield Problem("blank-in-tool-name", node.span, message, "hint", (fix,))
    elif _SIGNS_OF_PATTERN.search(name):
        message = f"`{name}` is compared as a whole here, not as a pattern, so no tool has this name."
        bare = name.removeprefix("^").removesuffix("$")
        fixes = (Fix(f"Change to `{bare}`", (Edit(node.span, bare),)),) if _BARE.fullmatch(bare) else ()
        yield Problem("blank-in-tool-name", node.span, message, "hint", fixes)
    elif any(character.isspace() for character in name):
        shown = name if len(name) <= 40 else f"{name[:39]}…"
        message = (
            f"No tool is called `{shown}`, and names are compared as a whole; "
            "`command_pattern` of a `tool_constraint` grader looks into commands."
        )
        yield Problem("blank-in-tool-name", node.span, message, "hint")
