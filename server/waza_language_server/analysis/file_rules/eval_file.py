"""What only an eval file as a whole can show: rows that run backwards, mock servers of one name.

Both stop a run while the file is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix, Related


def rows(view: FileView) -> Iterator[Problem]:
    """Yield the ``range`` whose first row is behind its last."""
    given = view.tree.root.get("range") if view.kind == "eval" and view.tree.root is not None else None
    nodes = [item.target for item in given.target.items] if given is not None else []
    if len(nodes) != 2:
        return
    first, last = (resolve_scalar(node.value) if node.kind == "scalar" else None for node in nodes)
    if isinstance(first, int) and isinstance(last, int) and first > last > 0:
        message = f"The first row of `range` ({first}) must not be behind the last ({last})."
        swap = (Edit(nodes[0].span, nodes[1].value), Edit(nodes[1].span, nodes[0].value))
        yield Problem("bounds-reversed", nodes[0].span, message, "error", (Fix("Swap the two", swap),))


def mock_servers(view: FileView) -> Iterator[Problem]:
    """Yield every mock server whose name an earlier one has; blanks around a name do not count."""
    mocks = view.tree.root.get("mcp_mocks") if view.kind == "eval" and view.tree.root is not None else None
    first: dict[str, Node] = {}
    for mock in mocks.target.items if mocks is not None else ():
        node = mock.get("name")
        if node is None or node.target.kind != "scalar" or not node.target.value.strip():
            continue
        name = node.target.value.strip()
        earlier = first.setdefault(name, node)
        if earlier is not node:
            message = f"Another mock server is called `{name}` too; every server needs a name of its own."
            related = (Related(earlier.span, f"The other `{name}` is here."),)
            yield Problem("duplicate-mock-name", node.span, message, "error", related=related)
