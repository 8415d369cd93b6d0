"""How much two sequences have in common at their ends, found by comparing slices: many items at a time."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST_SLICE = 1 << 16


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
