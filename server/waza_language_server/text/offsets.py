"""Offsets in ascending order. An edit moves all later ones without touching each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import overload

_MOST_MOVES = 64
"""The most moves that are stored as such; if there are more, all offsets are recomputed."""


class Offsets(Sequence[int]):
    """Immutable offsets. Those after an edit share their numbers with those before it."""

    __slots__ = ("_moves", "_numbers")

    def __init__(self, numbers: Iterable[int] = (), moves: tuple[tuple[int, int], ...] = ()) -> None:
        """Let ``moves`` be ordered indexes, each with the number to add to the offsets up to the next one."""
        self._numbers = tuple(numbers)
        self._moves = moves
        if len(moves) > _MOST_MOVES:
            self._numbers, self._moves = tuple(self), ()

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            if not self._moves:
                return self._numbers[index]
            return tuple(map(self.__getitem__, range(*index.indices(len(self)))))
        number = self._numbers[index]
        moves = self._moves
        if not moves:
            return number
        last = bisect_right(moves, (index % len(self._numbers), inf)) - 1
        return number if last < 0 else number + moves[last][1]

    def __iter__(self) -> Iterator[int]:
        stops = [*(place for place, _ in self._moves), len(self._numbers)]
        yield from self._numbers[: stops[0]]
        for (_, by), (start, stop) in zip(self._moves, pairwise(stops), strict=True):
            yield from map(by.__add__, self._numbers[start:stop])

    def changed(self, start: int, stop: int, new: Sequence[int], by: int) -> Offsets:
        """Return the offsets with ``start:stop`` replaced, and later ones moved ``by``."""
        longer = len(new) - (stop - start)
        numbers = self._numbers
        moves = [move for move in self._moves if move[0] < start]
        here = moves[-1][1] if moves else 0
        last = bisect_right(self._moves, (stop, inf)) - 1
        behind = (self._moves[last][1] if last >= 0 else 0) + by
        written = tuple(offset - here for offset in new)
        if longer or written != numbers[start:stop]:
            numbers = (*numbers[:start], *written, *numbers[stop:])
        if behind != here:
            moves.append((stop + longer, behind))
        moves += [(place + longer, moved + by) for place, moved in self._moves[last + 1 :]]
        return Offsets(numbers, tuple(moves))
