"""What was made of each item of a list, kept over the edits that leave the item alone.

In front of an edit and behind it the items are the green nodes of before: what was made of them is taken over
at once, whatever their number, and only what lies between is looked at.

Architecture invariant: no offset is kept, and no list lives longer by it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from waza_engine.steps import Steps
from waza_language_server.syntax.nodes import Green, Node, Placed, refers_elsewhere
from waza_language_server.text.common_ends import common_head, common_tail

Value = TypeVar("Value")
Derived = TypeVar("Derived")

_LISTS_COMPARED = 8
"""The lists read last among which the one before an edit is looked for."""
_green: Callable[[Placed], Green] = attrgetter("green")


@dataclass(frozen=True, slots=True)
class ItemValues(Generic[Value]):
    """What was made of the items of a list: one value each, in order.

    ``marked`` are the places of those that count, as ``KeptItems`` was told; ``uncertain`` the places of
    values that are never taken over.
    """

    greens: tuple[Green, ...]
    values: tuple[Value, ...]
    marked: tuple[int, ...] = ()
    uncertain: tuple[int, ...] = ()
    made: dict[object, object] = field(default_factory=dict[object, object], repr=False)
    """What was derived from the values."""

    def derived(self, derive: Callable[[tuple[Value, ...]], Derived]) -> Derived:
        """Return what a function makes of the values, kept as long as they are the same."""
        if derive not in self.made:
            self.made[derive] = derive(self.values)
        return cast("Derived", self.made[derive])


class KeptItems(Generic[Value]):
    """The values of one kind, of all lists that are alive."""

    def __init__(self, marks: Callable[[Value], bool] = lambda _: False) -> None:
        """Let ``marks`` say which values count, of which there should be few."""
        self._marks = marks
        self._known: WeakKeyDictionary[Green, ItemValues[Value]] = WeakKeyDictionary()
        self._last: deque[ref[Green]] = deque(maxlen=_LISTS_COMPARED)

    def of(
        self, items: Node, make: Callable[[Node], Steps[Value]], doubtful: Collection[int] = ()
    ) -> Steps[ItemValues[Value]]:
        """Return what ``make`` makes of each item of a sequence, with a pause after each that it makes.

        A value may depend on the green node of its item alone. What is made of an item with an alias, or of
        one at a ``doubtful`` place, is made again each time.
        """
        known = self._known.get(items.green)
        if known is not None and not known.uncertain and not doubtful:
            return known
        greens = _greens_of(items.green)
        before = known or self._like(greens)
        head, tail = _common_ends(before.greens, greens)
        stop, old_stop = len(greens) - tail, len(before.greens) - tail
        moved = stop - old_stop
        again = {*_taken_over(before.uncertain, head, old_stop, moved), *doubtful}
        fresh: dict[int, Value] = {}
        uncertain = set(doubtful)
        for index in sorted({*range(head, stop), *again}):
            item = items.get(index)
            if item is not None:
                fresh[index] = yield from make(item)
                if refers_elsewhere(item.green):
                    uncertain.add(index)
            yield
        values = [*before.values[:head]]
        values += map(fresh.__getitem__, range(head, stop))
        values += before.values[old_stop:]
        for index in again:
            values[index] = fresh[index]
        marked = {*_taken_over(before.marked, head, old_stop, moved)}.difference(fresh)
        marked.update(index for index, value in fresh.items() if self._marks(value))
        same = not moved and all(before.values[index] == value for index, value in fresh.items())
        found = ItemValues(
            greens,
            before.values if same else tuple(values),
            tuple(sorted(marked)),
            tuple(sorted(uncertain)),
            before.made if same else {},
        )
        self._known[items.green] = found
        if known is None:
            self._last.appendleft(ref(items.green))
        return found

    def _like(self, greens: tuple[Green, ...]) -> ItemValues[Value]:
        """Return the values of the list that was read last of those that begin or end like this one."""
        for one in self._last:
            green = one()
            known = self._known.get(green) if green is not None else None
            if known is None or not known.greens or not greens:
                continue
            if known.greens[0] is greens[0] or known.greens[-1] is greens[-1]:
                return known
        return ItemValues((), ())


def _taken_over(places: tuple[int, ...], head: int, tail: int, moved: int) -> Iterable[int]:
    """Return places in front of ``head``, and those from ``tail`` on where they have moved to."""
    yield from places[: bisect_left(places, head)]
    for place in places[bisect_left(places, tail) :]:
        yield place + moved


def _greens_of(items: Green) -> tuple[Green, ...]:
    known = _greens.get(items)
    if known is None:
        known = _greens[items] = tuple(map(_green, items.children))
    return known


_greens: WeakKeyDictionary[Green, tuple[Green, ...]] = WeakKeyDictionary()


def _common_ends(old: tuple[Green, ...], new: tuple[Green, ...]) -> tuple[int, int]:
    """Return how many items are the same at the beginning and at the end; all of them at the beginning."""
    if not (_compared and _compared[-1][0] is old and _compared[-1][1] is new):
        most = min(len(old), len(new))
        head = common_head(old, new, most)
        _compared.append((old, new, (head, common_tail(old, new, most - head))))
    return _compared[-1][2]


_compared: deque[tuple[tuple[Green, ...], tuple[Green, ...], tuple[int, int]]] = deque(maxlen=1)
"""The last two lists, which are compared for each kind of values in turn."""
