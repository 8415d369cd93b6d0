"""All grader entries of a file. Results per entry are cached across edits of the other entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, Generic, TypeVar, overload
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import collect
from waza_engine.frozen import frozen
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import grader_type, grader_values, graders_below, graders_in
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import ItemMemo, Node
from waza_language_server.syntax.tree import Tree

Value = TypeVar("Value")
_Asked = tuple[Callable[[Node], object], Shape]
"""The function to compute, and the shape of the items of the list.

The shape decides which entries an item contains, and an edit can move items from one list into another.
"""

_kept: WeakKeyDictionary[Catalog, dict[_Asked, ItemMemo[tuple[Any, ...]]]] = WeakKeyDictionary()
_kept_where: WeakKeyDictionary[Catalog, dict[_Asked, ItemMemo[bool]]] = WeakKeyDictionary()
_others: ItemMemo[bool] = ItemMemo()
"""The items of lists of graders that are not grader entries."""


@frozen()
class Counts(Generic[Value]):
    """How often each value occurs in entries, in no order, and in how many entries there is one."""

    by_value: Mapping[Value, int]
    total: int


class GraderEntries(Sequence[Node]):
    """The entries in source order; nodes for all of them are created on demand."""

    def __init__(self, tree: Tree, kind: SchemaName, catalog: Catalog) -> None:
        self._tree = tree
        self._kind: SchemaName = kind
        self._catalog = catalog

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        return self._nodes[index]

    def __len__(self) -> int:
        return len(self._nodes)

    def counted(self, ask: Callable[[Node], Value]) -> Counts[Value]:
        """Return how often each result of a function occurs.

        The function must depend on the entry alone.
        """
        known = _kept.setdefault(self._catalog, {})
        counted = Counter[Value]()
        for node, shape, items in self.places:
            if items is None:
                counted.update(collect(map(ask, graders_below(node, shape))))
            else:
                kept = known.get((ask, items)) or known.setdefault((ask, items), ItemMemo())
                counted.update(chain.from_iterable(kept.of(node, partial(_said, ask, items))))
        return Counts(counted, counted.total())

    def of_types(self, types: Collection[str]) -> list[Node]:
        """Return the entries of some types."""
        if self._has_none(types):
            return []
        return [entry for entry in self if grader_type(entry) in types]

    def where(self, has: Callable[[Node], bool], types: Collection[str] = ()) -> list[Node]:
        """Return the entries for which ``has`` is true; it must depend on the entry alone.

        If given, ``types`` are the only types for which it can be true: nothing is checked without such
        entries.
        """
        if types and self._has_none(types):
            return []
        known = _kept_where.setdefault(self._catalog, {})
        found: list[Node] = []
        for node, shape, items in self.places:
            if items is None:
                found += filter(has, collect(graders_below(node, shape)))
                continue
            kept = known.get((has, items)) or known.setdefault((has, items), ItemMemo())
            for index, value in enumerate(kept.of(node, partial(_any, has, items))):
                item = node.get(index) if value else None
                found += filter(has, graders_below(item, items)) if item is not None else ()
        return found

    def _has_none(self, types: Collection[str]) -> bool:
        written = self.counted(grader_type)
        return written.by_value.keys().isdisjoint(types)

    @cached_property
    def places(self) -> Sequence[tuple[Node, Shape, Shape | None]]:
        """Return the values of the file's keys that hold entries, with their shapes.

        For a list also the shape of its items, else None.
        """
        root = self._tree.root
        places = grader_values(root, self._kind, self._catalog) if root is not None else ()
        return [
            (node, shape, shape.branch("sequence").items if node.kind == "sequence" else None)
            for node, shape in places
        ]

    @cached_property
    def _nodes(self) -> list[Node]:
        root = self._tree.root
        return [] if root is None else list(graders_in(root, self._kind, self._catalog))


def has_other_items(items: Node) -> bool:
    """Return whether any item of a list of graders is not a grader entry."""
    return any(_others.of(items, _is_other))


def _is_other(item: Node) -> bool:
    return item.green.kind != "mapping"


def _said(ask: Callable[[Node], Value], shape: Shape, item: Node) -> tuple[Value, ...]:
    return tuple(map(ask, graders_below(item, shape)))


def _any(has: Callable[[Node], bool], shape: Shape, item: Node) -> bool:
    return any(map(has, graders_below(item, shape)))
