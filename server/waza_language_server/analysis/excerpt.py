"""Excerpts: the parts of a document that must be checked again after edits.

Items of long lists and unknown keys of long mappings are left out of both versions, before and after the
edits, if the edits do not touch them. A node from which nothing was left out keeps its green node.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.analysis.changed_places import Changes
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_below
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.green import Green, Placed
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span

_COMPARED = frozenset({"checkpoints", "mcp_mocks"})
"""Lists of a file whose items are compared with each other."""
SHORT_LIST = 8
"""Lists up to this length are not cut: some rules count their items."""
SHORT_MAPPING = 16
"""Mappings with up to this many entries are not cut."""

Told = Mapping[int, str]
"""The reports about unknown keys before the edits, without the names, by the offsets of the keys."""


@frozen()
class Excerpt:
    """The roots of a document before and after edits, without the parts that the edits cannot affect.

    All offsets are those of the document. ``whole_items`` is ``after`` with the items that are compared with
    each other, and every item in it is complete. ``only_graders`` means that only entries of lists of graders
    differ.
    """

    before: Node
    after: Node
    whole_items: Node
    only_graders: bool

    def covers(self, spans: Sequence[Span]) -> bool:
        """Return whether problems that were reported at these spans are checked again after the edits."""
        judged: list[Span] = []
        for place in self._judged():
            if place is None:
                checkpoint()
            else:
                judged.append(place)
        judged.sort()
        starts = [place.start for place in judged]
        for span in spans:
            index = bisect_right(starts, span.start)
            if not index or judged[index - 1].end < span.end:
                return False
        return True

    def _judged(self) -> Iterator[Span | None]:
        """Yield the spans before the edits that are checked again, which do not overlap; None at times."""
        if not self.only_graders:
            yield Span(0, self.before.span.start - 1)
        for entry in self.before.each_entry():
            yield None
            if not self.only_graders:
                yield entry.key.span
            value, now = entry.value, self.after.get(entry.key.value)
            if now is None or value.kind != "sequence" or now.kind != "sequence":
                if now is None or now.green is not value.green:
                    yield value.span
                continue
            left = {item.green for item in now.green.children}
            yield from (item.span for item in value.each_item() if item.green not in left)


@dataclass(frozen=True)
class Excerpts:
    """Creates the excerpts of one document for different edits."""

    before: Tree
    kind: SchemaName
    catalog: Catalog
    told: Told
    _untouched: dict[tuple[Green, int], Green] = field(default_factory=dict[tuple[Green, int], Green])
    """The untouched rest of values that no edit touches, by the value and its place."""

    def of(self, after: Tree, changes: Changes) -> Excerpt | None:
        """Return, the parts that the edits affect; None if the trees are not two mappings.

        Neither tree may have anchors, and both must have the same faults.
        """
        old, new = self.before.root, after.root
        if old is None or new is None or old.kind != "mapping" or new.kind != "mapping":
            return None
        top = self.catalog.document(self.kind)
        root = _Version(old.green, old.offset), _Version(new.green, new.offset)
        before, cut = _Cutting(changes, self.told, self._untouched).mapping(*root, top)
        checkpoint()
        whole_items = _Cutting(changes, {}, {}, into_items=False).mapping(*root, top)[1]
        checkpoint()
        only_graders = _only_graders(old.green, new.green, top)
        return Excerpt(
            Node(before, old.offset), Node(cut, new.offset), Node(whole_items, new.offset), only_graders
        )


@frozen()
class _Version:
    """A value before or after the edits, and the number to add to its offsets."""

    green: Green
    at: int

    def child(self, index: int) -> _Version:
        placed = self.green.children[index]
        return _Version(placed.green, self.at + placed.offset)

    def with_children(self, kept: Sequence[Placed]) -> Green:
        green = self.green
        same = len(kept) == len(green.children) and all(map(_stands, kept, green.children))
        return green if same else replace(green, children=tuple(kept), names=None, aliased=None)


Both = tuple[Green, Green]


@frozen()
class _Cutting:
    """Leaves the same parts out of two versions of a value."""

    changes: Changes
    told: Told
    untouched: dict[tuple[Green, int], Green]
    into_items: bool = True
    """True if parts below the items of the file's lists are cut as well."""

    def mapping(self, old: _Version, new: _Version, shape: Shape | None) -> Both:
        """Cut two mappings; ``shape`` is that of both, None inside of graders."""
        cut_before = list(old.green.children)
        cut_after = list(new.green.children)
        places = {cut_before[at].green.value: at + 1 for at in range(0, len(cut_before) - 1, 2)}
        for at in range(1, len(cut_after), 2):
            if not cut_after[at].green.children:
                continue
            name = cut_after[at - 1].green.value
            was = places.get(name)
            if was is not None and cut_before[was].green.children:
                below = shape_below(shape, name) if shape is not None else None
                greens = self._entry(name, old.child(was), new.child(at), below)
                cut_before[was] = _with_green(cut_before[was], greens[0])
                cut_after[at] = _with_green(cut_after[at], greens[1])
        if self.told and len(cut_after) > 2 * SHORT_MAPPING:
            stray = self._stray_keys(new)
            cut_after = [child for at, child in enumerate(cut_after) if at - at % 2 not in stray]
            gone = set(stray.values())
            starts = [old.at + child.offset + child.green.start for child in cut_before[::2]]
            cut_before = [child for at, child in enumerate(cut_before) if starts[at // 2] not in gone]
        return old.with_children(cut_before), new.with_children(cut_after)

    def _stray_keys(self, new: _Version) -> dict[int, int]:
        """Return the unknown keys to leave out: their positions after, their offsets before the edits.

        One of several keys with the same report stays: it may be a misspelling of a missing key.
        """
        stray: dict[int, int] = {}
        kept: set[str] = set()
        children = new.green.children
        for at in range(0, len(children) - 1, 2):
            key, value = children[at], children[at + 1]
            start = new.at + key.offset + key.green.start
            moved = self.changes.moved(start, new.at + value.offset + value.green.end)
            if moved is None or (told := self.told.get(start - moved)) is None:
                continue
            if told in kept:
                stray[at] = start - moved
            kept.add(told)
        return stray

    def _entry(self, name: str, old: _Version, new: _Version, shape: Shape | None) -> Both:
        if not self.into_items and (name in _COMPARED or old.green.kind != "sequence"):
            return old.green, new.green
        return self._value(old, new, shape)

    def _value(self, old: _Version, new: _Version, shape: Shape | None) -> Both:
        if old.green is new.green:
            place = old.green, old.at
            if place not in self.untouched:
                self.untouched[place] = self._cut(old, new, shape)[0]
            return self.untouched[place], self.untouched[place]
        return self._cut(old, new, shape)

    def _cut(self, old: _Version, new: _Version, shape: Shape | None) -> Both:
        if old.green.kind == new.green.kind == "mapping":
            return self.mapping(old, new, shape)
        if old.green.kind == new.green.kind == "sequence" and shape is not None:
            return self._list(old, new, shape.branch("sequence").items)
        return old.green, new.green

    def _list(self, old: _Version, new: _Version, items: Shape | None) -> Both:
        """Leave out the items that both share; the first stays, so that no list seems empty."""
        before, after = old.green.children, new.green.children
        short = max(len(before), len(after)) <= SHORT_LIST
        if len(before) != len(after):
            return (old.green, new.green) if short else self._without_ends(old, new)
        below = None if items is not None and items.kind == "grader" else items
        old_items: list[Placed] = []
        new_items: list[Placed] = []
        for at, (was, now) in enumerate(zip(before, after, strict=True)):
            if at and not short and self._is_same(old, was, new, now):
                continue
            greens = was.green, now.green
            if self.into_items:
                greens = self._value(old.child(at), new.child(at), below)
            old_items.append(_with_green(was, greens[0]))
            new_items.append(_with_green(now, greens[1]))
        return old.with_children(old_items), new.with_children(new_items)

    def _without_ends(self, old: _Version, new: _Version) -> Both:
        """Cut two lists of different lengths."""
        before, after = old.green.children, new.green.children
        shortest = min(len(before), len(after))
        first = 0
        while first < shortest and self._is_same(old, before[first], new, after[first]):
            first += 1
        last = 0
        while last < shortest - first and self._is_same(old, before[-1 - last], new, after[-1 - last]):
            last += 1
        first = max(first, 1)
        return (
            old.with_children((*before[:1], *before[first : len(before) - last])),
            new.with_children((*after[:1], *after[first : len(after) - last])),
        )

    def _is_same(self, old: _Version, was: Placed, new: _Version, now: Placed) -> bool:
        """Return whether an item is the same in both versions: shared, or parsed from the same characters."""
        if was.green is now.green:
            return True
        start, end = new.at + now.offset + now.green.start, new.at + now.offset + now.green.end
        moved = self.changes.moved(start, end)
        return (
            moved is not None
            and was.green.kind == now.green.kind
            and start - moved == old.at + was.offset + was.green.start
            and end - moved == old.at + was.offset + was.green.end
        )


def _stands(one: Placed, other: Placed) -> bool:
    return one.green is other.green and one.offset == other.offset


def _with_green(placed: Placed, green: Green) -> Placed:
    return placed if placed.green is green else Placed(green, placed.offset)


def _only_graders(old: Green, new: Green, top: Shape) -> bool:
    """Return whether two mappings have the same keys and differ only in entries of lists of graders."""
    if len(old.children) != len(new.children):
        return False
    for at in range(1, len(new.children), 2):
        key, was, now = new.children[at - 1].green.value, old.children[at].green, new.children[at].green
        if old.children[at - 1].green.value != key:
            return False
        if was is now:
            continue
        shape = shape_below(top, key)
        items = shape.branch("sequence").items if shape is not None else None
        if items is None or items.kind != "grader":
            return False
        if not (_holds_mappings(was) and _holds_mappings(now)):
            return False
    return True


def _holds_mappings(green: Green) -> bool:
    return green.kind == "sequence" and all(child.green.kind == "mapping" for child in green.children)
