"""A long immutable sequence. An edit copies a small part of it and shares the rest.

Editing a tuple of ten thousand copies all of it and touches each value twice: when it is copied and when the
old one is freed. Here it is split into chunks, and an edit creates only one or two of them again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeVar, cast, overload

from waza_language_server.text.common_ends import common_head, common_tail

Value = TypeVar("Value", covariant=True)

_MOST = 256
"""The most values of a chunk; a longer one is split again."""
_FEW = 32
"""A chunk that becomes shorter than this in an edit is joined with the next one."""


class Chunks(Sequence[Value]):
    """Values in order. A sequence after an edit shares its chunks with the one before it."""

    __slots__ = ("_starts", "pieces")

    def __init__(self, values: Iterable[Value] = ()) -> None:
        """Hold some values; a sequence of this class is shared."""
        self.pieces: Sequence[tuple[Value, ...]] = (
            values.pieces if isinstance(values, Chunks) else _cut(tuple(values))
        )
        self._starts = _starts(self.pieces)

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Value, ...]: ...
    def __getitem__(self, index: int | slice) -> Value | tuple[Value, ...]:
        if isinstance(index, slice):
            return self._some(*index.indices(len(self)))
        starts = self._starts
        if index < 0:
            index += starts[-1]
        if not 0 <= index < starts[-1]:
            raise IndexError(index)
        number = bisect_right(starts, index) - 1
        return self.pieces[number][index - starts[number]]

    def __iter__(self) -> Iterator[Value]:
        return chain.from_iterable(self.pieces)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chunks):
            return NotImplemented
        other = cast("Chunks[object]", other)
        if self.pieces == other.pieces:
            return True
        return len(self) == len(other) and self._starts != other._starts and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def spliced(self, start: int, stop: int, new: Iterable[Value]) -> Chunks[Value]:
        """Return the values with ``start:stop`` replaced."""
        pieces, starts = self.pieces, self._starts
        first = max(0, bisect_right(starts, start, hi=len(pieces)) - 1)
        last = max(first, bisect_right(starts, stop, hi=len(pieces)) - 1)
        between = list(pieces[first][: start - starts[first]]) if pieces else []
        between += new
        if pieces:
            between += pieces[last][stop - starts[last] :]
        behind = last + 1
        if len(between) < _FEW and behind < len(pieces):
            between += pieces[behind]
            behind += 1
        found = Chunks[Value]()
        found.pieces = (*pieces[:first], *_cut(tuple(between)), *pieces[behind:])
        found._starts = _starts(found.pieces)
        return found

    def common_ends(self, other: Chunks[object]) -> tuple[int, int]:
        """Return how many values are equal at the beginning and at the end; all of them at the beginning.

        Chunks that both share are not compared.
        """
        old, new = self.pieces, other.pieces
        most = min(len(old), len(new))
        front = next((at for at in range(most) if old[at] is not new[at]), most)
        most -= front
        back = next((at for at in range(most) if old[-1 - at] is not new[-1 - at]), most)
        olds = tuple(chain.from_iterable(old[front : len(old) - back]))
        news = tuple(chain.from_iterable(new[front : len(new) - back]))
        most = min(len(olds), len(news))
        head = common_head(olds, news, most)
        tail = common_tail(olds, news, most - head)
        head += self._starts[front]
        tail += len(self) - self._starts[len(old) - back]
        most = min(len(self), len(other))
        while head < most and self[head] is other[head]:
            head += 1
        return head, min(tail, most - head)

    def _some(self, start: int, stop: int, step: int) -> tuple[Value, ...]:
        if step != 1:
            return tuple(self)[start:stop:step]
        if start >= stop:
            return ()
        starts = self._starts
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, stop - 1) - 1
        if first == last:
            return self.pieces[first][start - starts[first] : stop - starts[first]]
        return (
            *self.pieces[first][start - starts[first] :],
            *chain.from_iterable(self.pieces[first + 1 : last]),
            *self.pieces[last][: stop - starts[last]],
        )


def _cut(values: tuple[Value, ...]) -> tuple[tuple[Value, ...], ...]:
    if len(values) <= _MOST:
        return (values,) if values else ()
    size = _MOST // 2
    return tuple([values[at : at + size] for at in range(0, len(values), size)])


def _starts(pieces: Sequence[tuple[object, ...]]) -> list[int]:
    return [0, *accumulate(map(len, pieces))]
