"""What was made of each item of a list, kept over the edits that leave the item alone.

In front of an edit and behind it the items are the green nodes of before: what was made of them is taken over
at once, whatever their number, and only what lies between is looked at.

Architecture invariant: no offset is kept, and no list lives longer by it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import field
from operator import attrgetter
from typing import Generic, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from waza_engine.frozen import frozen
from waza_engine.steps import Steps
from waza_language_server.syntax.nodes import Green, Node, Placed, refers_elsewhere
from waza_language_server.text.common_ends import common_head, common_tail

Value = TypeVar("Value")
Derived = TypeVar("Derived")

_LISTS_COMPARED = 8
"""The lists read last among which the one before an edit is looked for."""
_green: Callable[[Placed], Green] = attrgetter("green")


@frozen()
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
        self._known: _Lists[ItemValues[Value]] = _Lists()

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
        listed = yield from _listed_in_steps(items.green)
        before = known or self._known.newest_like(listed.greens) or ItemValues((), ())
        uncertain = tuple(sorted({*listed.aliased, *doubtful}))
        head, tail = _common_ends(before.greens, listed.greens)
        stop, old_stop = len(listed.greens) - tail, len(before.greens) - tail
        moved = stop - old_stop
        again = {*_taken_over(before.uncertain, head, old_stop, moved), *uncertain}
        fresh: dict[int, Value] = {}
        for index in sorted({*range(head, stop), *again}):
            item = items.get(index)
            if item is not None:
                fresh[index] = yield from make(item)
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
            listed.greens,
            before.values if same else tuple(values),
            tuple(sorted(marked)),
            uncertain,
            before.made if same else {},
        )
        self._known.add(items.green, found)
        return found

    def asked(self, items: Node, ask: Callable[[Node], Value]) -> Steps[ItemValues[Value]]:
        """Do the same with what a function says of an item at once."""

        def make(item: Node) -> Steps[Value]:
            yield from ()
            return ask(item)

        return (yield from self.of(items, make))


def _taken_over(places: tuple[int, ...], head: int, tail: int, moved: int) -> Iterable[int]:
    """Return places in front of ``head``, and those from ``tail`` on where they have moved to."""
    yield from places[: bisect_left(places, head)]
    for place in places[bisect_left(places, tail) :]:
        yield place + moved


class _HasGreens(Protocol):
    @property
    def greens(self) -> tuple[Green, ...]: ...


Known = TypeVar("Known", bound=_HasGreens)


class _Lists(Generic[Known]):
    """What is known of lists that are alive."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Green, Known] = WeakKeyDictionary()
        self._last: deque[ref[Green]] = deque(maxlen=_LISTS_COMPARED)

    def get(self, items: Green) -> Known | None:
        return self._known.get(items)

    def add(self, items: Green, known: Known) -> None:
        if items not in self._known:
            self._last.appendleft(ref(items))
        self._known[items] = known

    def newest_like(self, greens: tuple[Green, ...]) -> Known | None:
        """Return what is known of the list that was read last of those that begin or end like this one."""
        for one in self._last:
            green = one()
            known = self._known.get(green) if green is not None else None
            if known is None or not known.greens or not greens:
                continue
            if known.greens[0] is greens[0] or known.greens[-1] is greens[-1]:
                return known
        return None


@frozen()
class _Listed:
    """The items of a list, and the places of those with an alias: they depend on text elsewhere."""

    greens: tuple[Green, ...]
    aliased: tuple[int, ...]


_lists: _Lists[_Listed] = _Lists()


def _listed_in_steps(items: Green) -> Steps[_Listed]:
    known = _lists.get(items)
    if known is not None:
        return known
    greens = tuple(map(_green, items.children))
    before = _lists.newest_like(greens) or _Listed((), ())
    head, tail = _common_ends(before.greens, greens)
    stop, old_stop = len(greens) - tail, len(before.greens) - tail
    aliased = [*_taken_over(before.aliased, head, old_stop, stop - old_stop)]
    for index in range(head, stop):
        if refers_elsewhere(greens[index]):
            aliased.append(index)
        yield
    listed = _Listed(greens, tuple(sorted(aliased)))
    _lists.add(items, listed)
    return listed


def _common_ends(old: tuple[Green, ...], new: tuple[Green, ...]) -> tuple[int, int]:
    """Return how many items are the same at the beginning and at the end; all of them at the beginning."""
    if not (_compared and _compared[-1][0] is old and _compared[-1][1] is new):
        most = min(len(old), len(new))
        head = common_head(old, new, most)
        _compared.append((old, new, (head, common_tail(old, new, most - head))))
    return _compared[-1][2]


_compared: deque[tuple[tuple[Green, ...], tuple[Green, ...], tuple[int, int]]] = deque(maxlen=1)
"""The last two lists, which are compared for each kind of values in turn."""
