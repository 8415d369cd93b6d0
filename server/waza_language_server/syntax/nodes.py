"""The YAML tree: immutable nodes with spans, shared between versions of a document.

Two layers, as in rust-analyzer. A ``Green`` node (``green.py``) knows its spans relative to the start of the
piece of text it was parsed from. A ``Node`` is a green node at its place in a document: it adds the offset
and the parent. Nodes are created on demand and are cheap.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import MERGE_KEY, Json
from waza_language_server.syntax.aliases import anchored_by, contains_alias, plain_value
from waza_language_server.syntax.green import Green, Kind, Placed, Style, position_of
from waza_language_server.text.span import Span


@frozen()
class Entry:
    """One ``key: value`` of a mapping."""

    key: Node
    value: Node

    @property
    def span(self) -> Span:
        """Return the span from the first character of the key to the last of the value."""
        return Span(self.key.span.start, max(self.key.span.end, self.value.span.end))


@frozen()
class Node:
    """A green node at its place in a document. ``document`` is the root; it resolves aliases."""

    green: Green
    offset: int = 0
    parent: Node | None = None
    step: str | int | None = None
    """The key or index that leads here from the parent; None for the root and for keys."""

    @property
    def kind(self) -> Kind:
        """Return the kind: mapping, sequence, scalar, alias, or broken (text that was not parsed)."""
        return self.green.kind

    @property
    def span(self) -> Span:
        """Return the characters of the node, without trailing whitespace and comments."""
        return Span(self.green.start + self.offset, self.green.end + self.offset)

    @property
    def style(self) -> Style:
        """Return how a scalar is quoted; ``flow`` or ``block`` for collections."""
        return self.green.style

    @property
    def value(self) -> str:
        """Return the decoded string of a scalar, or the name of an alias."""
        return self.green.value

    @property
    def path(self) -> tuple[str | int, ...]:
        """Return the keys and indexes from the root."""
        steps: list[str | int] = []
        node: Node | None = self
        while node is not None:
            if node.step is not None:
                steps.append(node.step)
            node = node.parent
        return tuple(reversed(steps))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the pairs of a mapping in order, duplicates included; empty for every other kind."""
        return tuple(self.each_entry())

    def each_entry(self) -> Iterator[Entry]:
        """Yield the same pairs one by one, so that the caller may stop in between."""
        if self.kind == "mapping":
            for index in range(0, len(self.green.children) - 1, 2):
                yield self._entry(index)

    @property
    def last_entry(self) -> Entry | None:
        """Return the last pair of a mapping; None for every other kind and when there is none."""
        count = len(self.green.children) // 2
        return self._entry(2 * count - 2) if self.kind == "mapping" and count else None

    @property
    def items(self) -> tuple[Node, ...]:
        """Return the items of a sequence in order; empty for every other kind."""
        return tuple(self.each_item())

    def each_item(self) -> Iterator[Node]:
        """Yield the same items one by one."""
        green, offset = self.green, self.offset
        if green.kind == "sequence":
            for index, child in enumerate(green.children):
                yield Node(child.green, offset + child.offset, self, index)

    def entry(self, key: str) -> Entry | None:
        """Return the first entry with this key."""
        index = position_of(self.green, key) if self.kind == "mapping" else None
        return None if index is None else self._entry(index)

    def entry_at(self, offset: int) -> Entry | None:
        """Return the last entry of a mapping that begins at or before an offset."""
        index = (self.children_before(offset + 1) - 1) // 2 * 2
        is_entry = self.kind == "mapping" and 0 <= index < len(self.green.children) - 1
        return self._entry(index) if is_entry else None

    @property
    def holder(self) -> Entry | None:
        """Return the entry whose key or value this node is."""
        entry = self.parent.entry_at(self.span.start) if self.parent is not None else None
        return entry if entry is not None and self.green in (entry.key.green, entry.value.green) else None

    @property
    def key_names(self) -> tuple[str, ...]:
        """Return the keys of a mapping in order, duplicates included; empty for every other kind."""
        if self.green.names is not None:
            return self.green.names
        children = self.green.children if self.kind == "mapping" else ()
        return tuple(children[index].green.value for index in range(0, len(children) - 1, 2))

    def get(self, *keys: str | int) -> Node | None:
        """Follow keys and indexes downwards.

        Aliases are followed to their anchors. None if a step is missing.
        """
        node = self
        for key in keys:
            if node.green.kind == "alias":
                node = node.target
            below = node._item(key) if isinstance(key, int) else node._value(key)
            if below is None:
                return None
            node = below
        return node

    def written(self, key: str) -> Green | None:
        """Return the green value of the first entry with this key, without creating a node."""
        green = self.green
        index = position_of(green, key) if green.kind == "mapping" else None
        return None if index is None else green.children[index + 1].green

    def _value(self, key: str) -> Node | None:
        """Return the value of the first entry with this key, as ``entry`` does, without creating the key."""
        green = self.green
        if green.kind != "mapping":
            return None
        index = position_of(green, key)
        if index is None:
            return None
        placed = green.children[index + 1]
        return Node(placed.green, self.offset + placed.offset, self, key)

    def _item(self, index: int) -> Node | None:
        children = self.green.children
        if self.kind == "sequence" and 0 <= index < len(children):
            return self._child(children[index], index)
        return None

    @property
    def target(self) -> Node:
        """Return the target of an alias; the node itself if it is not an alias or the anchor is unknown."""
        if self.green.kind != "alias":
            return self
        node = self.root
        path = anchored_by(node.green, self.green)
        if path is None:
            return self
        for index in path:
            below = node.nth_child(index)
            if below is None:
                return self
            node = below
        return node

    @property
    def root(self) -> Node:
        """Return the top of the tree this node was reached from."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def walk(self) -> Iterator[Node]:
        """Yield this node and everything below it in source order, keys included."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(list(node.children())))

    def from_offset(self, offset: int) -> Iterator[Node]:
        """Yield this node and those below it that end at or after the offset, in source order."""
        yield self
        for index in range(max(0, self.children_before(offset) - 1), len(self.green.children)):
            below = self.nth_child(index)
            if below is not None and below.span.end >= offset:
                yield from below.from_offset(offset)

    def children(self) -> Iterator[Node]:
        """Yield keys and values, or items, in source order."""
        if self.kind == "mapping":
            for entry in self.entries:
                yield entry.key
                yield entry.value
        else:
            yield from self.items

    def at(self, offset: int) -> Node:
        """Return the deepest node whose span holds the offset (both ends count, the later node wins)."""
        node = self
        while True:
            index = node.children_before(offset + 1) - 1
            below = node.nth_child(index) if index >= 0 else None
            if below is None or below.span.end < offset:
                return node
            node = below

    def children_before(self, offset: int) -> int:
        """Return how many keys and values, or items, begin before the offset, without creating them."""
        return bisect_left(
            self.green.children, offset - self.offset, key=lambda placed: placed.green.start + placed.offset
        )

    def nth_child(self, index: int) -> Node | None:
        """Return the child at an index: keys and values in turn, or items; None if there are not so many."""
        children = self.green.children
        if self.kind != "mapping":
            return self._item(index)
        if index % 2 == 0:
            return self._child(children[index], None) if index + 1 < len(children) else None
        return (
            self._child(children[index], children[index - 1].green.value) if index < len(children) else None
        )

    def to_python(self) -> Json:
        """Return the plain value, scalars resolved as YAML 1.2 core, the first of duplicate keys winning.

        Aliases are followed within ``ALIAS_BUDGET``; broken nodes become None.
        """
        return plain_value(self.green, self.root.green)

    def _entry(self, index: int) -> Entry:
        """Return the pair whose key is the child at an index."""
        children = self.green.children
        key = self._child(children[index], None)
        return Entry(key, self._child(children[index + 1], key.value))

    def _child(self, placed: Placed, step: str | int | None) -> Node:
        return Node(placed.green, self.offset + placed.offset, self, step)


Value = TypeVar("Value")


class ItemMemo(Generic[Value]):
    """The results of one function, by item."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Green, tuple[Value]] = WeakKeyDictionary()

    def of(self, items: Node, make: Callable[[Node], Value], doubtful: Collection[int] = ()) -> list[Value]:
        """Return the result of ``make`` for each item of a sequence, or of the target of an alias.

        It may depend only on the green node of its item. For an item with an alias, or at a ``doubtful``
        index, it is computed again each time.
        """
        listed = items.target
        if listed.green.kind != "sequence":
            return []
        values: list[Value] = []
        for index, placed in enumerate(listed.green.children):
            green = placed.green
            known = self._known.get(green)
            if known is None or (doubtful and index in doubtful):
                checkpoint()
                known = (make(Node(green, listed.offset + placed.offset, listed, index)),)
                if index not in doubtful and not contains_alias(green):
                    self._known[green] = known
            values.append(known[0])
        return values


def listed_in(node: Node | None) -> Iterator[Node]:
    """Yield the items of a list, aliases followed; none for anything else."""
    return (item.target for item in node.target.each_item()) if node is not None else iter(())


_MOST_MERGED = 100
"""The most mappings to search for one key, because one may be merged into itself."""


def value_at(node: Node | None, key: str) -> Node | None:
    """Return the value of a mapping's key, also from its merge keys: the first one wins."""
    found = None if node is None else node.get(key)
    if node is None or found is not None or node.get(MERGE_KEY) is None:
        return found
    holders = [node]
    for _ in range(_MOST_MERGED):
        if not holders:
            return None
        holder = holders.pop(0)
        if (found := holder.get(key)) is not None:
            return found
        if (merged := holder.get(MERGE_KEY)) is not None:
            holders[:0] = merged.target.items or (merged,)
    return None
