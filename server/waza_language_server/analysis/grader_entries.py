"""All grader entries of a file. Results per entry are cached in lists across edits of the other entries.

A keystroke in one of thousands of entries costs as much as checking that one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, Generic, TypeVar, overload
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.frozen import frozen
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import grader_places, grader_type, graders_below, graders_in
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.kept_items import Exchanged, KeptItems
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree

Value = TypeVar("Value")
_Asked = tuple[Callable[[Node], object], Shape]
"""The function to compute, and the shape of the items of the list.

The shape decides which entries an item contains, and an edit can move items from one list into another.
"""

_MOST_ADAPTED = 64
"""The most changed counts that are stored on top of earlier ones; beyond it all are merged."""

_kept: WeakKeyDictionary[Catalog, dict[_Asked, KeptItems[tuple[Any, ...]]]] = WeakKeyDictionary()
_kept_where: WeakKeyDictionary[Catalog, dict[_Asked, KeptItems[bool]]] = WeakKeyDictionary()
_others: KeptItems[bool] = KeptItems(bool)
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
        counts: list[Counts[Value]] = []
        for node, shape, items in self.places:
            if items is None:
                counts.append(_count([collect(map(ask, graders_below(node, shape)))]))
            else:
                kept = known.get((ask, items)) or known.setdefault((ask, items), KeptItems())
                said = kept.asked(node, partial(_said, ask, items))
                counts.append(said.derived(_count, _counted_again))
        said_somewhere = [count for count in counts if count.total]
        if len(said_somewhere) == 1:
            return said_somewhere[0]
        together = Counter[Value]()
        for count in said_somewhere:
            together.update(count.by_value)
        return Counts(dict(together), together.total())

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
            kept = known.get((has, items)) or known.setdefault((has, items), KeptItems(bool))
            places = kept.asked(node, partial(_any, has, items))
            for index in places.marked:
                item = node.get(index)
                found += filter(has, graders_below(item, items)) if item is not None else ()
                checkpoint()
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
        places = grader_places(root, self._kind, self._catalog) if root is not None else ()
        return [
            (node, shape, shape.branch("sequence").items if node.kind == "sequence" else None)
            for node, shape in places
        ]

    @cached_property
    def _nodes(self) -> list[Node]:
        root = self._tree.root
        return [] if root is None else list(graders_in(root, self._kind, self._catalog))


def holds_others(items: Node) -> bool:
    """Return whether any item of a list of graders is not a grader entry."""
    return bool(_others.asked(items, _is_other).marked)


def _is_other(item: Node) -> bool:
    return item.green.kind != "mapping"


def _said(ask: Callable[[Node], Value], shape: Shape, item: Node) -> tuple[Value, ...]:
    return tuple(map(ask, graders_below(item, shape)))


def _any(has: Callable[[Node], bool], shape: Shape, item: Node) -> bool:
    return any(map(has, graders_below(item, shape)))


def _count(said: Iterable[Iterable[Any]]) -> Counts[Any]:
    counted = Counter[Any](chain.from_iterable(said))
    return Counts(dict(counted), counted.total())


def _counted_again(before: Counts[Any], exchanged: Exchanged[tuple[Any, ...]]) -> Counts[Any]:
    more = Counter[Any](chain.from_iterable(exchanged.new))
    more.subtract(Counter(chain.from_iterable(exchanged.old)))
    return Counts(_Adapted[Any].of(before.by_value, more), before.total + more.total())


class _Adapted(Mapping[Value, int]):
    """Earlier counts with a few changed ones, which share all the rest."""

    __slots__ = ("_before", "_length", "_other")

    def __init__(self, before: Mapping[Value, int], other: dict[Value, int]) -> None:
        """Use ``other`` for the counts that differ from those before; 0 means that the value is gone."""
        self._before = before
        self._other = other
        gone = sum(not count and value in before for value, count in other.items())
        new = sum(value not in before for value, count in other.items() if count)
        self._length = len(before) + new - gone

    @staticmethod
    def of(before: Mapping[Value, int], more: Mapping[Value, int]) -> Mapping[Value, int]:
        """Return counts that are ``more`` higher than before; ``more`` may be negative."""
        other = {value: before.get(value, 0) + by for value, by in more.items() if by}
        if isinstance(before, _Adapted):
            before, other = before._before, before._other | other
        if len(other) < _MOST_ADAPTED:
            return _Adapted(before, other)
        # A plain dict is copied as a block of memory.
        found = dict(before)
        for value, count in other.items():
            if count:
                found[value] = count
            else:
                found.pop(value, None)
        return found

    def __getitem__(self, value: Value) -> int:
        count = self._other.get(value)
        if count is None:
            return self._before[value]
        if not count:
            raise KeyError(value)
        return count

    def __iter__(self) -> Iterator[Value]:
        yield from (value for value in self._before if value not in self._other)
        yield from (value for value, count in self._other.items() if count)

    def __len__(self) -> int:
        return self._length
