"""The items of a long list with their offsets: editing one moves the others without touching them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import overload

from waza_language_server.syntax.green import Green, Placed
from waza_language_server.text.chunks import Chunks
from waza_language_server.text.offsets import Offsets


class Items(Sequence[Placed]):
    """Children of a green node, placed on demand. Immutable."""

    __slots__ = ("greens", "offsets")

    def __init__(self, greens: Chunks[Green], offsets: Offsets) -> None:
        self.greens = greens
        self.offsets = offsets

    @staticmethod
    def of(placed: Iterable[Placed]) -> Items:
        """Return items at their given offsets."""
        known = list(placed)
        return Items(Chunks(one.green for one in known), Offsets(one.offset for one in known))

    def __len__(self) -> int:
        return len(self.greens)

    @overload
    def __getitem__(self, index: int) -> Placed: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Placed, ...]: ...
    def __getitem__(self, index: int | slice) -> Placed | tuple[Placed, ...]:
        if isinstance(index, slice):
            return tuple(map(Placed, self.greens[index], self.offsets[index]))
        return Placed(self.greens[index], self.offsets[index])

    def __iter__(self) -> Iterator[Placed]:
        return starmap(Placed, zip(self.greens, self.offsets, strict=True))

    def changed(self, start: int, stop: int, new: Sequence[Placed], by: int) -> Items:
        """Return the items with ``start:stop`` replaced, and later ones moved ``by``."""
        greens = self.greens.spliced(start, stop, [one.green for one in new])
        return Items(greens, self.offsets.changed(start, stop, [one.offset for one in new], by))


def pairs_between(children: Sequence[Placed], start: int, stop: int) -> Iterable[tuple[Green, int]]:
    """Return some children and their offsets, without placing those of a long list."""
    if isinstance(children, Items):
        return zip(children.greens[start:stop], children.offsets[start:stop], strict=True)
    return [(one.green, one.offset) for one in children[start:stop]]


def greens_of(children: Sequence[Placed]) -> Chunks[Green]:
    """Return the nodes of children without their places."""
    return children.greens if isinstance(children, Items) else Chunks([one.green for one in children])
