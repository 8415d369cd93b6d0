"""The lengths of common prefixes and suffixes, found by comparing slices: many items at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

_LONGEST_SLICE = 1 << 16
_SHORTEST_SLICE = 16
"""The first slice to compare after a part that is known to be equal: an edit usually ends there."""


def difference(old: str, new: str) -> tuple[int, int, int]:
    """Return where two strings differ: ``start`` and ``old_end`` in the old one, ``new_end`` in the new one.

    If there are several possibilities, the leftmost. The last result is cached: several callers need it for
    the same edit.
    """
    if not (_compared and _compared[-1][0] is old and _compared[-1][1] is new):
        most = min(len(old), len(new))
        tail = common_tail(old, new, most)
        head = common_head(old, new, most - tail)
        _compared.append((old, new, (head, len(old) - tail, len(new) - tail)))
    return _compared[-1][2]


_compared: deque[tuple[str, str, tuple[int, int, int]]] = deque(maxlen=1)


def note_edit(old: str, new: str, start: int, old_end: int) -> None:
    """Cache the difference of two strings that are equal before ``start`` and from ``old_end`` on.

    Then they are never compared as a whole.
    """
    most = min(len(old), len(new))
    tail = common_tail(old, new, most, min(len(old) - old_end, most))
    head = common_head(old, new, most - tail, min(start, most - tail))
    _compared.append((old, new, (head, len(old) - tail, len(new) - tail)))


def common_head(old: Sequence[object], new: Sequence[object], most: int, known: int = 0) -> int:
    """Return how many of the first ``most`` items are the same: ``known`` at least."""
    at, step, longer = known, _SHORTEST_SLICE if known else _LONGEST_SLICE, True
    while at < most:
        size = min(step, most - at)
        if old[at : at + size] == new[at : at + size]:
            at += size
            step = min(2 * step, _LONGEST_SLICE) if longer else step
        elif size == 1:
            break
        else:
            step, longer = size // 2, False
    return at


def common_tail(old: Sequence[object], new: Sequence[object], most: int, known: int = 0) -> int:
    """Return how many of the last ``most`` items are the same: ``known`` at least."""
    at, step, longer = known, _SHORTEST_SLICE if known else _LONGEST_SLICE, True
    while at < most:
        size = min(step, most - at)
        if old[len(old) - at - size : len(old) - at] == new[len(new) - at - size : len(new) - at]:
            at += size
            step = min(2 * step, _LONGEST_SLICE) if longer else step
        elif size == 1:
            break
        else:
            step, longer = size // 2, False
    return at
