"""Statistics of repeated trials: spread, flakiness, how far a mean can be trusted, and a paired test."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

RESAMPLES = 10_000
BOOTSTRAP_SEED = 0
CONFIDENCE = 0.95
_TAIL = (1 - CONFIDENCE) / 2
# The distance from the middle of a normal distribution within which 95 % of it lie, in deviations.
_NORMAL = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval of a mean. ``resamples`` is 0 when there were too few values to resample."""

    lower: float
    upper: float
    mean: float
    resamples: int

    @property
    def is_significant(self) -> bool:
        """Return whether the interval excludes zero."""
        return self.lower > 0 or self.upper < 0


@dataclass(frozen=True, slots=True)
class RateInterval:
    """The 95 % confidence interval of a true rate, 0..1; ``rate`` is the observed one."""

    lower: float
    upper: float
    rate: float


def wilson(passed: int, total: int) -> RateInterval:
    """Return Wilson's score interval of a rate: 4 of 5 give 0.3755 to 0.9638; of nothing 0 to 1."""
    if total <= 0:
        return RateInterval(0.0, 1.0, 0.0)
    # The numbers in a file may be inconsistent.
    rate, squared = min(passed, total) / total, _NORMAL * _NORMAL
    middle = rate + squared / (2 * total)
    reach = _NORMAL * math.sqrt(rate * (1 - rate) / total + squared / (4 * total * total))
    whole = 1 + squared / total
    return RateInterval(max(0.0, (middle - reach) / whole), min(1.0, (middle + reach) / whole), rate)


def mean(values: Sequence[float]) -> float:
    """Return the mean, 0.0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def population_variance(values: Sequence[float]) -> float:
    """Return the mean squared distance from the mean; 0.0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return sum((value - middle) * (value - middle) for value in values) / len(values)


def population_deviation(values: Sequence[float]) -> float:
    """Return the square root of the population variance."""
    return math.sqrt(population_variance(values))


def bootstrap(values: Sequence[float], resamples: int = RESAMPLES) -> Interval:
    """Return the 95 % percentile interval of the mean.

    The seed is fixed, unlike upstream's, so that the same scores always give the same interval.
    """
    return _bootstrap(tuple(values), resamples)


# Most tasks of a suite have one of a few sets of scores.
@lru_cache(maxsize=4096)
def _bootstrap(values: tuple[float, ...], resamples: int) -> Interval:
    middle = mean(values)
    if len(values) < 2:
        return Interval(middle, middle, middle, 0)
    if len(set(values)) == 1:
        return Interval(values[0], values[0], values[0], resamples)
    means = resampled_means(values, resamples, random.Random(BOOTSTRAP_SEED))
    lower = means[math.floor(_TAIL * resamples)]
    upper = means[min(math.floor((1 - _TAIL) * resamples), resamples - 1)]
    return Interval(lower, upper, middle, resamples)


def resampled_means(values: Sequence[float], resamples: int, draw: random.Random) -> list[float]:
    """Return the means of so many samples of the same size, drawn with replacement, in ascending order."""
    size = len(values)
    return sorted(sum(draw.choices(values, k=size)) / size for _ in range(resamples))


def is_flaky(passed: int, total: int) -> bool:
    """Return whether some trials passed and some did not."""
    return 0 < passed < total


def flakiness_percent(passed: int, total: int) -> float:
    """Return the share of trials that disagree with the majority, 0 to 50; 0 when the task is not flaky."""
    return 100.0 * min(passed, total - passed) / total if is_flaky(passed, total) else 0.0


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
    nonzero = [difference for difference in differences if abs(difference) > _NOTHING]
    if not nonzero:
        return 1.0
    sizes = [abs(difference) for difference in nonzero]
    total = abs(sum(nonzero))
    if max(sizes) - min(sizes) <= _NOTHING and len(nonzero) <= _MOST_TOSSED:
        ahead = max(
            sum(difference > 0 for difference in nonzero), sum(difference < 0 for difference in nonzero)
        )
        return _binomial(ahead, len(nonzero))
    if len(nonzero) > _MOST_COUNTED:
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
