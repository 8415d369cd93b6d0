"""How much two sequences have in common at their ends, found by comparing slices: many items at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

_LONGEST_SLICE = 1 << 16


def difference(old: str, new: str) -> tuple[int, int, int]:
    """Return where two texts differ: ``start`` and ``old_end`` in the old one, ``new_end`` in the new one.

    Of several ways to see it, the leftmost. It is kept for the two texts asked for last: an edit is looked at
    by several.
    """
    if not (_compared and _compared[-1][0] is old and _compared[-1][1] is new):
        most = min(len(old), len(new))
        tail = common_tail(old, new, most)
        head = common_head(old, new, most - tail)
        _compared.append((old, new, (head, len(old) - tail, len(new) - tail)))
    return _compared[-1][2]


_compared: deque[tuple[str, str, tuple[int, int, int]]] = deque(maxlen=1)


def common_head(old: Sequence[object], new: Sequence[object], most: int) -> int:
    """Return how many of the first ``most`` items are the same; no more than either has."""
    at, step = 0, _LONGEST_SLICE
    while at < most:
        size = min(step, most - at)
        if old[at : at + size] == new[at : at + size]:
            at += size
        elif size == 1:
            break
        else:
            step = size // 2
    return at


def common_tail(old: Sequence[object], new: Sequence[object], most: int) -> int:
    """Return how many of the last ``most`` items are the same; no more than either has."""
    at, step = 0, _LONGEST_SLICE
    while at < most:
        size = min(step, most - at)
        if old[len(old) - at - size : len(old) - at] == new[len(new) - at - size : len(new) - at]:
            at += size
        elif size == 1:
            break
        else:
            step = size // 2
    return at
