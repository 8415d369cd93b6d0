"""Statistics of repeated trials: spread, flakiness and how far a mean can be trusted."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

RESAMPLES = 10_000
CONFIDENCE = 0.95
_TAIL = (1 - CONFIDENCE) / 2


@dataclass(frozen=True, slots=True)
class Interval:
    """A bootstrap interval of a mean. ``resamples`` is 0 when there were too few values to resample."""

    lower: float
    upper: float
    mean: float
    resamples: int

    @property
    def is_significant(self) -> bool:
        """Whether the interval stays clear of zero."""
        return self.lower > 0 or self.upper < 0


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


def bootstrap(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return the percentile interval of the mean.

    The seed is fixed, unlike upstream's, so that the same scores always give the same interval.
    """
    return _bootstrap(tuple(values), seed, resamples)


# Most tasks of a suite have one of a few sets of scores.
@lru_cache(maxsize=4096)
def _bootstrap(values: tuple[float, ...], seed: int, resamples: int) -> Interval:
    middle = mean(values)
    if len(values) < 2:
        return Interval(middle, middle, middle, 0)
    if len(set(values)) == 1:
        return Interval(values[0], values[0], values[0], resamples)
    draw = random.Random(seed)
    size = len(values)
    means = sorted(sum(draw.choices(values, k=size)) / size for _ in range(resamples))
    lower = means[math.floor(_TAIL * resamples)]
    upper = means[min(math.floor((1 - _TAIL) * resamples), resamples - 1)]
    return Interval(lower, upper, middle, resamples)


def is_flaky(passed: int, total: int) -> bool:
    """Return whether some trials passed and some did not."""
    return 0 < passed < total


def flakiness_percent(passed: int, total: int) -> float:
    """Return the share of trials that disagree with the majority, 0 to 50; 0 when the task is not flaky."""
    return 100.0 * min(passed, total - passed) / total if is_flaky(passed, total) else 0.0


def pass_at_k(passed: int, total: int) -> float:
    """Return the estimated chance that one of ``total`` new trials passes.

    It takes the pass rate for the true one: 3 of 5 give 0.98976.
    """
    if passed <= 0 or passed >= total:
        return float(passed >= total > 0)
    return 1 - (1 - passed / total) ** total


def pass_exp_k(passed: int, total: int) -> float:
    """Return the estimated chance that all of ``total`` new trials pass: 3 of 5 give 0.07776."""
    if passed <= 0 or passed >= total:
        return float(passed >= total > 0)
    return (passed / total) ** total
