"""Lookup of the shape at a place in a document: top down, grader entries by their ``type``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node, value_at
from waza_language_server.text.span import Span

_FEW_CHILDREN = 64


def shape_at(
    document_kind: SchemaName, path: Sequence[str | int], root: Node | None, catalog: Catalog
) -> Shape | None:
    """Return the shape at a path of keys and indexes, or None if unknown.

    ``root`` supplies the values on the way (a grader's type, a list or a mapping); the path may continue
    beyond what is written.
    """
    node = root.target if root is not None else None
    catalog = catalog.of(document_kind)
    shape: Shape | None = _at_node(catalog.document(document_kind), node, catalog)
    for step in path:
        if shape is None:
            return None
        found = node.get(step) if node is not None else None
        node = found.target if found is not None else None
        shape = shape_below(shape, step)
        if shape is not None:
            shape = _at_node(shape, node, catalog)
    return shape


def shape_of(document_kind: SchemaName, node: Node, catalog: Catalog) -> Shape | None:
    """Return the shape of a node of a document, or None if unknown.

    It follows nodes, not keys: each of two duplicate keys has its own value.
    """
    catalog = catalog.of(document_kind)
    around: list[Node] = []
    above: Node | None = node
    while above is not None:
        around.append(above)
        above = above.parent
    shape: Shape | None = _at_node(catalog.document(document_kind), around.pop(), catalog)
    while around and shape is not None:
        each = around.pop()
        shape = shape_below(shape, each.step) if each.step is not None else None
        if shape is not None:
            shape = _at_node(shape, each.target, catalog)
    return shape


def shape_below(shape: Shape, step: str | int) -> Shape | None:
    """Return the shape one key or index further down."""
    if isinstance(step, int):
        return shape.branch("sequence").items
    if shape.branches:
        shape = shape.branch("mapping", frozenset({step}))
    return shape.below.get(step, shape.additional)


def grader_shape(entry: Node | None, catalog: Catalog) -> Shape:
    """Return the shape of a grader entry by its ``type``, or the keys of every grader without a known one.

    One with ``ref`` has the type and the options of a package.
    """
    if not catalog.of_vally and entry is not None and entry.target.written("ref") is not None:
        return catalog.packaged_grader_root.top
    if entry is not None and (written := grader_type(entry)) is not None:
        shape = catalog.grader(written)
        if shape is not None:
            return shape
    return catalog.any_grader


def grader_type(entry: Node) -> str | None:
    """Return the type of a grader entry as written; None if it is missing or not a scalar."""
    written = entry.written("type")
    if written is None or written.kind == "alias":
        node = type_node(entry)
        written = None if node is None else node.green
    return written.value if written is not None and written.kind == "scalar" else None


def type_node(entry: Node) -> Node | None:
    """Return the node of an entry's type, also one that a merge key (``<<``) brings in."""
    node = value_at(entry, "type")
    return node.target if node is not None else None


def located_below(node: Node, shape: Shape, catalog: Catalog) -> Iterator[tuple[Node, Shape]]:
    """Yield a node of a known shape and every value below it with its shape, in source order.

    Grader entries have the shape of their type. Values without a schema are left out, and so is everything
    below them. Aliases are not followed: their targets are yielded where they are written.
    """
    known = _at_node(shape, node, catalog) if shape.depends_on_value else shape
    yield node, known
    if node.green.children:
        for each, intended in below(node, known):
            yield from located_below(each, intended, catalog)


def graders_in(root: Node, document_kind: SchemaName, catalog: Catalog) -> Iterator[Node]:
    """Yield every grader entry of a document that is a mapping, in source order."""
    yield from graders_below(root, catalog.document(document_kind))


def grader_values(root: Node, document_kind: SchemaName, catalog: Catalog) -> Iterator[tuple[Node, Shape]]:
    """Yield the values of a document's keys that may hold grader entries, with their shapes."""
    top = catalog.document(document_kind)
    yield from _towards_graders(root, top.branch(root.kind, _keys(root, top)))


def graders_below(node: Node, shape: Shape) -> Iterator[Node]:
    """Return every grader entry that is a mapping in a value of a known shape, itself included."""
    if shape.kind == "grader" and not shape.branches:
        # The usual case: an item of a list of graders.
        return iter((node,) if node.green.kind == "mapping" else ())
    return _graders_below(node, shape)


def _graders_below(node: Node, shape: Shape) -> Iterator[Node]:
    shape = shape.branch(node.kind, _keys(node, shape))
    if shape.kind != "grader":
        for each, intended in _towards_graders(node, shape):
            yield from _graders_below(each, intended)
    elif node.kind == "mapping":
        yield node


def outside_graders(root: Node, top: Shape) -> Iterator[tuple[Node, Shape]]:
    """Yield every value of a document with its shape, from the top down to the grader entries."""
    return ((node, shape) for node, shape in around_grader_lists(root, top) if shape.kind != "grader")


def around_grader_lists(root: Node, top: Shape) -> Iterator[tuple[Node, Shape]]:
    """Yield the same, and the grader entries that are not in a list of graders."""
    shape = top.branch(root.kind, _keys(root, top))
    yield root, shape
    if shape.kind != "grader" and not is_grader_list(root, shape):
        for each, intended in below(root, shape):
            yield from around_grader_lists(each, intended)


def is_grader_list(node: Node, shape: Shape) -> bool:
    """Return whether a value is a list whose items are graders."""
    return node.kind == "sequence" and shape.items is not None and shape.items.kind == "grader"


def values_and_graders(root: Node, top: Shape, span: Span | None) -> Iterator[tuple[Node, Shape | None]]:
    """Yield every value of a document with its shape, and None with every grader entry that is a mapping.

    In source order, without values below a grader entry. With a span, only values that touch or contain it;
    others are not visited.
    """
    shape = top.branch(root.kind, _keys(root, top))
    if shape.kind != "grader":
        yield root, shape
        for each, intended in below(root, shape) if span is None else _below_touching(root, shape, span):
            yield from values_and_graders(each, intended, span)
    elif root.kind == "mapping":
        yield root, None


def _below_touching(node: Node, shape: Shape, span: Span) -> Iterator[tuple[Node, Shape]]:
    first, stop = max(0, node.children_before(span.start) - 1), node.children_before(span.end + 1)
    if node.kind == "mapping":
        for index in range(first - first % 2, stop + stop % 2, 2):
            key, value = node.nth_child(index), node.nth_child(index + 1)
            known = shape_below(shape, key.value) if key is not None else None
            if known is not None and value is not None:
                yield value, known
    elif node.kind == "sequence" and (items := shape.items) is not None:
        for index in range(first, stop):
            if (item := node.nth_child(index)) is not None:
                yield item, items


def _towards_graders(node: Node, shape: Shape) -> Iterator[tuple[Node, Shape]]:
    """Yield the children of a node that may contain graders."""
    known = shape.grader_keys if node.kind == "mapping" else None
    if known is None:
        yield from below(node, shape)
        return
    for index, child in enumerate(node.green.children):
        if not index % 2 and child.green.value in known and (value := node.nth_child(index + 1)) is not None:
            yield value, known[child.green.value]


def below(node: Node, shape: Shape) -> Iterator[tuple[Node, Shape]]:
    """Return the children of a node that have a schema, with their shapes."""
    kind, children = node.green.kind, node.green.children
    if kind == "mapping":
        # Skip entries without a schema; creating nodes for thousands of them is slow.
        found = _values(node, shape)
    elif kind == "sequence" and (items := shape.items) is not None:
        found = ((item, items) for item in node.each_item())
    else:
        return iter(())
    # Storing a few of them in a list is faster than resuming the generator for each.
    return iter([*found]) if len(children) <= _FEW_CHILDREN else found


def _values(node: Node, shape: Shape) -> Iterator[tuple[Node, Shape]]:
    offset, children = node.offset, node.green.children
    shapes, other = shape.below, shape.additional
    for index in range(0, len(children) - 1, 2):
        key = children[index].green.value
        known = shape_below(shape, key) if shape.branches else shapes.get(key, other)
        if known is not None:
            value = children[index + 1]
            yield Node(value.green, offset + value.offset, node, key), known


def _keys(node: Node, shape: Shape) -> frozenset[str]:
    return frozenset(entry.key.value for entry in node.each_entry()) if shape.branches else frozenset()


def _at_node(shape: Shape, node: Node | None, catalog: Catalog) -> Shape:
    if node is not None and shape.branches:
        shape = shape.branch(node.kind, _keys(node, shape))
    if shape.kind == "grader" and (node is None or node.kind != "scalar"):
        return grader_shape(node, catalog)
    return shape
