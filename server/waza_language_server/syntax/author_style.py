"""The author's formatting of a file: line breaks, indentation, the column of a list's dashes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from waza_language_server.syntax.frames import column_of, line_start_of

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.syntax.tree import Tree


def line_break(text: str) -> str:
    """Return the line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def indent_step(tree: Tree) -> int:
    """Return the indentation of a nested mapping in the file; 2 if it has none."""
    for node in _some_nodes(tree):
        for entry in node.entries:
            below = entry.value
            if below.kind == "mapping" and below.style == "block":
                start = below.span.start
                step = column_of(tree.text, start) - column_of(tree.text, entry.key.span.start)
                # A tab is not valid indentation, though the file is parsed as if it were.
                if step > 0 and "\t" not in tree.text[line_start_of(tree.text, start) : start]:
                    return step
    return 2


def _some_nodes(tree: Tree) -> Iterable[Node]:
    """Yield the mappings near the top, enough to see the style of a file."""
    level = [tree.root] if tree.root is not None else []
    for _ in range(4):
        yield from level
        level = [
            child for node in level[:20] for child in (*(e.value for e in node.entries), *node.items[:5])
        ]
