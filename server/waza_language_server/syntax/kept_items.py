"""A cache of results for each item of a list, across edits that do not touch the item.

Before and after an edit the items are the same green nodes: their results are reused at once, whatever their
number, and only the items between are processed.

Architecture invariant: the cache holds no offsets, and keeps no list alive.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.syntax.aliases import refers_elsewhere
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.chunks import Chunks

Value = TypeVar("Value")
Derived = TypeVar("Derived")

_LISTS_COMPARED = 8
"""How many recent lists are compared to find the one before an edit."""
_ASKED_AT_ONCE = 16


@frozen()
class Exchanged(Generic[Value]):
    """Values that an edit has replaced: from item ``at`` on, ``new`` replaces ``old``."""

    at: int
    old: tuple[Value, ...]
    new: tuple[Value, ...]


@frozen()
class ItemValues(Generic[Value]):
    """The results for the items of a list: one value each, in order.

    ``marked`` are the indexes of the values that count for ``KeptItems``; ``uncertain`` the indexes of values
    that are never reused.
    """

    greens: Chunks[Green]
    values: Chunks[Value]
    marked: tuple[int, ...] = ()
    uncertain: tuple[int, ...] = ()
    made: dict[object, object] = field(default_factory=dict[object, object], repr=False)
    """Results that were derived from the values."""
    before: tuple[dict[object, object], Exchanged[Value]] | None = field(default=None, repr=False)
    """Results that were derived from the values before the last edit, and the difference."""

    def derived(
        self,
        derive: Callable[[Sequence[Value]], Derived],
        adapt: Callable[[Derived, Exchanged[Value]], Derived | None] | None = None,
    ) -> Derived:
        """Return the result of a function of the values, cached while they are the same.

        ``adapt`` computes it from the result before an edit, or returns None if all values must be read.
        """
        if derive not in self.made:
            adapted: Derived | None = None
            if adapt is not None and self.before is not None and derive in self.before[0]:
                adapted = adapt(cast("Derived", self.before[0][derive]), self.before[1])
            self.made[derive] = derive(self.values) if adapted is None else adapted
        return cast("Derived", self.made[derive])


class KeptItems(Generic[Value]):
    """The values of one kind, of all lists that are alive."""

    def __init__(self, marks: Callable[[Value], bool] = lambda _: False) -> None:
        """Use ``marks`` to decide which values count; they should be few."""
        self._marks = marks
        self._last: deque[ref[_List]] = deque(maxlen=_LISTS_COMPARED)

    def of(
        self, items: Node, make: Callable[[Node], Value], doubtful: Collection[int] = ()
    ) -> ItemValues[Value]:
        """Return the result of ``make`` for each item of a sequence.

        A value may depend only on the green node of its item. For an item with an alias, or at a ``doubtful``
        index, it is computed again each time.
        """

        def make_all(places: Iterable[int], fresh: dict[int, Value]) -> None:
            for stretch in _stretches(places):
                for index, item in enumerate(items.items_between(stretch.start, stretch.stop), stretch.start):
                    if fresh:
                        checkpoint()
                    fresh[index] = make(item)

        return self._known_or(make_all, items, doubtful)

    def asked(self, items: Node, ask: Callable[[Node], Value]) -> ItemValues[Value]:
        """Do the same with a function that has no checkpoints, and with fewer of them."""

        def ask_all(places: Iterable[int], fresh: dict[int, Value]) -> None:
            for stretch in _stretches(places):
                for index, item in enumerate(items.items_between(stretch.start, stretch.stop), stretch.start):
                    fresh[index] = ask(item)
                checkpoint()

        return self._known_or(ask_all, items, ())

    def _known_or(
        self,
        look_at: Callable[[Iterable[int], dict[int, Value]], None],
        items: Node,
        doubtful: Collection[int],
    ) -> ItemValues[Value]:
        """Return the values; ``look_at`` adds those at some indexes that are not cached."""
        listed = _lists.get(items.green)
        if listed is None:
            listed = _listed(items.green)
        known: ItemValues[Value] | None = listed.values.get(self)
        if known is not None and not known.uncertain and not doubtful:
            return known
        before = known or self._newest_like(listed.greens) or ItemValues(Chunks[Green](), Chunks[Value]())
        head, tail = _common_ends(before.greens, listed.greens)
        stop, old_stop = len(listed.greens) - tail, len(before.greens) - tail
        if listed.aliased or doubtful or before.uncertain:
            uncertain = tuple(sorted({*listed.aliased, *doubtful}))
            again = {*_taken_over(before.uncertain, head, old_stop, stop - old_stop), *uncertain}
        else:
            uncertain, again = (), set[int]()
        fresh: dict[int, Value] = {}
        look_at(sorted({*range(head, stop), *again}) if again else range(head, stop), fresh)
        found = self._spliced(before, listed.greens, (head, stop, old_stop), fresh, uncertain)
        if known is None:
            self._last.appendleft(listed.reference)
        listed.values[self] = found
        return found

    def _spliced(
        self,
        before: ItemValues[Value],
        greens: Chunks[Green],
        edited: tuple[int, int, int],
        fresh: Mapping[int, Value],
        uncertain: tuple[int, ...],
    ) -> ItemValues[Value]:
        head, stop, old_stop = edited
        moved = stop - old_stop
        if not moved and all(before.values[index] == value for index, value in fresh.items()):
            if not (uncertain or before.uncertain):
                return ItemValues(greens, before.values, before.marked, (), before.made, before.before)
            values, made, since = before.values, before.made, before.before
        else:
            new = tuple(map(fresh.__getitem__, range(head, stop)))
            values, made = before.values.spliced(head, old_stop, new), dict[object, object]()
            if len(fresh) > len(new):
                changed = list(values)
                for index, value in fresh.items():
                    changed[index] = value
                values = Chunks(changed)
            between = Exchanged(head, before.values[head:old_stop], new)
            since = (before.made, between) if len(fresh) == stop - head else None
        marked = {*_taken_over(before.marked, head, old_stop, moved)}.difference(fresh)
        marked.update(index for index, value in fresh.items() if self._marks(value))
        return ItemValues(greens, values, tuple(sorted(marked)), uncertain, made, since)

    def _newest_like(self, greens: Chunks[Green]) -> ItemValues[Value] | None:
        """Return the results for the most recent list that begins or ends like this one."""
        for one in self._last:
            listed = one()
            known: ItemValues[Value] | None = listed.values.get(self) if listed is not None else None
            if known is not None and _alike(known.greens, greens):
                return known
        return None


def items_where(items: Node, has: Callable[[Node], bool]) -> Iterator[Node]:
    """Return the items for which ``has`` is true; it must depend on the item alone."""
    kept = _where.get(has) or _where.setdefault(has, KeptItems(bool))
    listed = items.target
    if listed.green.kind != "sequence":
        return iter(())
    found = kept.asked(listed, has)
    return (item for index in found.marked if (item := listed.get(index)) is not None)


_where: dict[Callable[[Node], bool], KeptItems[bool]] = {}
"""By module-level function; there are few of them."""


def _stretches(places: Iterable[int]) -> Iterator[range]:
    """Yield indexes as short ranges."""
    if not isinstance(places, range):
        yield from (range(place, place + 1) for place in places)
        return
    for start in range(places.start, places.stop, _ASKED_AT_ONCE):
        yield range(start, min(start + _ASKED_AT_ONCE, places.stop))


def _taken_over(places: tuple[int, ...], head: int, tail: int, moved: int) -> Iterable[int]:
    """Return indexes before ``head``, and those from ``tail`` on at their new place."""
    yield from places[: bisect_left(places, head)]
    for place in places[bisect_left(places, tail) :]:
        yield place + moved


class _List:
    """A list that is alive: its items, the indexes of those with an alias, and their results.

    The value of an alias depends on text elsewhere.
    """

    __slots__ = ("__weakref__", "aliased", "greens", "reference", "values")

    def __init__(self, greens: Chunks[Green], aliased: tuple[int, ...]) -> None:
        self.greens = greens
        self.aliased = aliased
        self.values: dict[KeptItems[Any], ItemValues[Any]] = {}
        self.reference = ref(self)


_lists: WeakKeyDictionary[Green, _List] = WeakKeyDictionary()
_last: deque[ref[_List]] = deque(maxlen=_LISTS_COMPARED)


def _listed(items: Green) -> _List:
    greens = Chunks([child.green for child in items.children])
    living = (one() for one in _last)
    before = next((one for one in living if one is not None and _alike(one.greens, greens)), None)
    old, aliased_then = (Chunks[Green](), ()) if before is None else (before.greens, before.aliased)
    head, tail = _common_ends(old, greens)
    stop, old_stop = len(greens) - tail, len(old) - tail
    aliased = [*_taken_over(aliased_then, head, old_stop, stop - old_stop)]
    for index in range(head, stop):
        if refers_elsewhere(greens[index]):
            aliased.append(index)
        if not index % _ASKED_AT_ONCE:
            checkpoint()
    listed = _lists[items] = _List(greens, tuple(sorted(aliased)))
    _last.appendleft(listed.reference)
    return listed


def _alike(old: Chunks[Green], new: Chunks[Green]) -> bool:
    return bool(old and new) and (old[0] is new[0] or old[-1] is new[-1])


def _common_ends(old: Chunks[Green], new: Chunks[Green]) -> tuple[int, int]:
    """Return how many items are equal at the beginning and at the end; all of them at the beginning."""
    if not (_compared and _compared[-1][0] is old and _compared[-1][1] is new):
        _compared.append((old, new, old.common_ends(new)))
    return _compared[-1][2]


_compared: deque[tuple[Chunks[Green], Chunks[Green], tuple[int, int]]] = deque(maxlen=1)
"""The last two lists, because they are compared for each kind of values in turn."""
