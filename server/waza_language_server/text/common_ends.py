"""The lengths of common prefixes and suffixes, found by comparing slices: many items at a time."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST_SLICE = 1 << 16
_SHORTEST_SLICE = 16
"""The first slice to compare after a part that is known to be equal: an edit usually ends there."""


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
