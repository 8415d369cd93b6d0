"""A tree as plain data, to compare trees with."""

from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree

Outline = list[tuple[object, ...]]


def outline(tree: Tree) -> Outline:
    """Return every node of a tree in source order: way, kind, style, span, value, tag and anchor."""
    return list(map(_shown, tree.root.walk())) if tree.root is not None else []


def _shown(node: Node) -> tuple[object, ...]:
    return (
        node.path,
        node.kind,
        node.style,
        node.span.start,
        node.span.end,
        node.value,
        node.green.tag,
        node.green.anchor,
    )
