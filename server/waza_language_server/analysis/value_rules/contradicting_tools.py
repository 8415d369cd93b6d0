"""Tools that must be called and that are not among the only ones allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Related

PAIRS = (("expect_tools", "allow_only"),)
_EXACT = compiled_later(r"\^([\w.:-]+)\$\Z")
_SAME: Mapping[str, str] = MappingProxyType({"view": "read", "edit": "write", "web_fetch": "fetch"})
"""Equivalent names of a tool, as in `allow_only`."""


def contradicting_tools(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield the required tools that `allow_only` leaves out."""
    for wanted, allowed in PAIRS:
        around = mapping.get(allowed) if wanted in keys and allowed in keys else None
        if around is None or around.target.kind != "sequence":
            continue
        named = [_written(item.target) for item in around.target.items]
        if any(name is None or ":" in name for name in named):
            continue
        names = {_one(name.strip("^$")) for name in named if name is not None}
        listed = mapping.get(wanted)
        for item in listed.target.items if listed is not None else ():
            node = item.target
            name = _written(node)
            match = _EXACT.match(name) if name is not None and node.kind == "mapping" else None
            exact = match[1] if match is not None else name if node.kind == "scalar" else None
            if not exact or ":" in exact or _one(exact) in names:
                continue
            place = node if node.kind == "scalar" else node.get("tool") or node
            message = f"`{wanted}` asks for `{shown(exact)}`, which `{allowed}` does not allow."
            related = (Related(around.span, f"`{allowed}` allows these alone."),)
            yield Problem("contradiction", place.span, message, "error", related=related)


def _written(node: Node) -> str | None:
    tool = node if node.kind == "scalar" else node.get("tool")
    return tool.target.value if tool is not None and tool.target.kind == "scalar" else None


def _one(name: str) -> str:
    folded = name.casefold()
    return _SAME.get(folded, folded)
