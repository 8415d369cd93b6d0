"""Numbers in the steps of mocks that are written with a point, which upstream and a run reject."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix

_NUMBERS = ("delay_ms", "exit_code")


def mock_steps(view: FileView) -> Found:
    """Yield whole numbers of steps that are written as `1.0`, which a schema accepts like `1`."""
    root = view.tree.root
    if root is None or view.kind not in {"eval", "task"}:
        return
    for mock in _items(root.get("command_mocks")):
        yield None
        yield from _of_responses(mock.get("responses"))
    for mock in _items(root.get("mcp_mocks") if view.kind == "eval" else None):
        yield None
        tools = mock.get("tools")
        for entry in tools.target.entries if tools is not None else ():
            yield from _of_responses(entry.value.target.get("responses"))


def _of_responses(responses: Node | None) -> Iterator[Problem]:
    for response in _items(responses):
        for step in _items(response.get("sequence")):
            for key in _NUMBERS:
                node = step.get(key)
                node = node.target if node is not None else None
                if node is None or node.kind != "scalar":
                    continue
                value = resolve_scalar(node.value, plain=node.style == "plain", tag=node.green.tag)
                if isinstance(value, float) and value.is_integer():
                    fix = Fix(f"Change to `{value:.0f}`", (Edit(node.span, f"{value:.0f}"),), preferred=True)
                    message = f"`{key}` of a step must be a whole number without a point; a run stops here."
                    yield Problem("wrong-type", node.span, message, "error", (fix,))


def _items(node: Node | None) -> Iterator[Node]:
    return (item.target for item in node.target.each_item()) if node is not None else iter(())
