"""Test whether two series of results of the same things differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

SIGNIFICANT = 0.05
_MOST_COUNTED = 16
_MOST_TOSSED = 2_000
_NOTHING = 1e-12


def paired_p(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired permutation test: how likely chance makes such a sum.

    ``differences`` are later minus earlier, one a pair; under chance alone, each could as well have the other
    sign. Pairs without a difference are ignored. If all differences are equal in size, as those of verdicts
    are, this is McNemar's exact test; 5 to 0 give 0.0625, 6 to 0 give 0.03125. More than 16 unequal ones are
    assumed to be normally distributed.
    """
    told = [difference for difference in differences if abs(difference) > _NOTHING]
    if not told:
        return 1.0
    sizes = [abs(difference) for difference in told]
    total = abs(sum(told))
    if max(sizes) - min(sizes) <= _NOTHING and len(told) <= _MOST_TOSSED:
        ahead = max(sum(difference > 0 for difference in told), sum(difference < 0 for difference in told))
        return _binomial(ahead, len(told))
    if len(told) > _MOST_COUNTED:
        return math.erfc(total / math.sqrt(sum(size * size for size in sizes)) / math.sqrt(2))
    sums = [0.0]
    for size in sizes:
        sums = [before + step for before in sums for step in (size, -size)]
    return sum(abs(found) >= total - 1e-9 for found in sums) / len(sums)


def _binomial(ahead: int, count: int) -> float:
    """Return how likely a fair coin shows one side as often, or the other."""
    if 2 * ahead == count:
        return 1.0
    ways = sum(math.comb(count, heads) for heads in range(ahead, count + 1))
    return min(1.0, 2 * ways / 2**count)
