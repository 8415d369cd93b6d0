"""Estimates of how often new trials of a task would pass."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.scoring.pass_estimates import pass_estimates, pass_hat_k

COUNTS = st.integers(1, 12).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@pytest.mark.parametrize(
    ("passed", "total", "one", "every"),
    [
        (0, 5, 0.0, 0.0),
        (1, 5, 0.67232, 0.00032),
        (3, 5, 0.98976, 0.07776),
        (4, 5, 0.99968, 0.32768),
        (5, 5, 1.0, 1.0),
        (1, 1, 1.0, 1.0),
        (1, 3, 19 / 27, 1 / 27),
        (2, 4, 0.9375, 0.0625),
        (3, 4, 0.99609375, 0.31640625),
        (0, 0, 0.0, 0.0),
    ],
)
def test_the_chance_that_one_or_every_new_trial_passes(
    passed: int, total: int, one: float, every: float
) -> None:
    found = pass_estimates(passed, total)
    assert (found.pass_at_k.rate, found.pass_exp_k.rate) == pytest.approx((one, every))


@given(COUNTS, st.data())
def test_the_unbiased_estimates_count_the_draws_without_replacement(
    counts: tuple[int, int], data: st.DataObject
) -> None:
    passed, total = counts
    drawn = data.draw(st.integers(1, total))
    draws = list(combinations([True] * passed + [False] * (total - passed), drawn))
    found = pass_estimates(passed, total)
    assert found.unbiased_pass_at(drawn) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert found.unbiased_pass_exp(drawn) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize("drawn", [0, -1, 6])
def test_more_trials_than_were_run_cannot_be_drawn(drawn: int) -> None:
    with pytest.raises(ValueError, match="cannot be drawn"):
        pass_estimates(3, 5).unbiased_pass_at(drawn)


@given(COUNTS)
def test_every_estimate_is_a_chance_within_its_interval(counts: tuple[int, int]) -> None:
    found = pass_estimates(*counts)
    for one in (found.rate, found.pass_at_k, found.pass_exp_k):
        assert 0 <= one.lower <= one.rate + 1e-12
        assert one.rate <= one.upper + 1e-12 <= 1 + 2e-12
    assert found.pass_exp_k.rate <= found.rate.rate + 1e-12 <= found.pass_at_k.rate + 2e-12


def test_the_interval_of_an_estimate_is_that_of_the_rate_in_the_same_formula() -> None:
    found = pass_estimates(4, 5)
    assert (found.rate.lower, found.rate.upper) == pytest.approx((0.3755, 0.9638), abs=5e-5)
    assert (found.pass_exp_k.lower, found.pass_exp_k.upper) == pytest.approx((0.0075, 0.8315), abs=5e-4)
    assert found.pass_at_k.lower == pytest.approx(1 - (1 - 0.3755) ** 5, abs=5e-4)


def test_more_passed_trials_than_trials_are_all_of_them() -> None:
    assert pass_estimates(10, 5) == pass_estimates(5, 5)


def test_pass_hat_k_is_the_mean_chance_that_so_many_trials_all_pass() -> None:
    expected = [0.7333, 0.5667, 0.4667, 0.4, 0.3333]
    assert pass_hat_k([(5, 5), (4, 5), (2, 5)]) == pytest.approx(expected, abs=5e-5)
    assert pass_hat_k([(5, 5), (1, 2)]) == (0.75, 0.5)
    assert pass_hat_k([]) == ()
