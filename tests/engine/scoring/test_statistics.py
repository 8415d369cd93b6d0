import pytest

from waza_engine.scoring.statistics import (
    Interval,
    bootstrap,
    flakiness_percent,
    is_flaky,
    population_deviation,
    wilson,
)


@pytest.mark.parametrize(
    ("values", "deviation"),
    [([2, 4, 4, 4, 5, 5, 7, 9], 2.0), ([0, 1], 0.5), ([1, 0.5, 0.5], 0.2357), ([0.7], 0.0), ([], 0.0)],
)
def test_the_deviation_is_that_of_a_population(values: list[float], deviation: float) -> None:
    assert population_deviation(values) == pytest.approx(deviation, abs=1e-4)


@pytest.mark.parametrize(
    ("passed", "total", "percent"), [(1, 3, 100 / 3), (2, 4, 50.0), (3, 3, 0.0), (0, 3, 0.0)]
)
def test_flakiness_is_the_share_of_trials_against_the_majority(
    passed: int, total: int, percent: float
) -> None:
    assert flakiness_percent(passed, total) == pytest.approx(percent)
    assert is_flaky(passed, total) is (percent > 0)


def test_one_value_gives_an_interval_without_resamples() -> None:
    assert bootstrap([0.5]) == Interval(0.5, 0.5, 0.5, 0)


def test_equal_values_give_an_interval_of_that_value() -> None:
    assert bootstrap([0.5, 0.5, 0.5]) == Interval(0.5, 0.5, 0.5, 10_000)


def test_the_same_scores_always_give_the_same_interval() -> None:
    scores = [((7 * number) % 23) / 23 for number in range(20)]
    assert bootstrap(scores) == bootstrap(scores)


def test_the_interval_holds_the_middle_95_percent_of_the_resampled_means() -> None:
    interval = bootstrap([0.0, 1.0] * 50)
    # The mean of 100 coin flips has a deviation of 0.05.
    assert interval.lower == pytest.approx(0.5 - 1.96 * 0.05, abs=0.01)
    assert interval.upper == pytest.approx(0.5 + 1.96 * 0.05, abs=0.01)
    assert interval.is_significant


def test_an_interval_that_touches_zero_is_not_significant() -> None:
    assert not bootstrap([0.0, 0.0, 0.0, 0.1]).is_significant


@pytest.mark.parametrize(
    ("passed", "total", "interval"),
    [(4, 5, (0.3755, 0.9638)), (0, 5, (0.0, 0.4345)), (5, 5, (0.5655, 1.0)), (0, 0, (0.0, 1.0))],
)
def test_the_interval_of_a_rate_is_that_of_wilson(
    passed: int, total: int, interval: tuple[float, float]
) -> None:
    found = wilson(passed, total)
    assert (found.lower, found.upper) == pytest.approx(interval, abs=5e-5)
