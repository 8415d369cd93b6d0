"""Figures are never shown as what they do not reach."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.counting import counted, in_seconds
from waza_engine.number_formats import (
    format_above,
    format_below,
    format_percent,
    format_score,
    format_share,
    format_threshold,
    reaches,
)
from waza_engine.scoring.statistics import mean

shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("score", "shown"), [(1.0, "1.00"), (0.9972, "0.99"), (0.995, "0.99"), (0.875, "0.88"), (0.0, "0.00")]
)
def test_only_a_full_score_reads_as_one(score: float, shown: str) -> None:
    assert format_score(score) == shown


def test_only_all_is_a_hundred_percent() -> None:
    assert [format_share(199 / 200), format_share(1.0), format_share(1999 / 2000, 1)] == [
        "99%",
        "100%",
        "99.9%",
    ]


@given(shares, st.integers(0, 6))
def test_nothing_is_rounded_up_to_all(share: float, digits: int) -> None:
    full = share >= 1 - 1e-9
    assert (float(format_percent(share, digits)) == 100) == full
    assert (float(format_score(share, digits + 1)) == 1) == full


@given(shares, shares)
def test_what_is_below_reads_as_below(value: float, threshold: float) -> None:
    if value < threshold:
        assert float(format_below(value, threshold)[0]) < threshold
    if value > threshold:
        above, limit = map(float, format_above(value, threshold))
        assert above > limit


@pytest.mark.parametrize(
    ("value", "threshold", "shown"),
    [(0.5, 0.9, ("0.50", "0.9")), (43 / 48, 0.9, ("0.896", "0.9")), (0.69999, 0.7, ("0.69999", "0.7"))],
)
def test_a_figure_that_falls_short_has_the_digits_to_show_it(
    value: float, threshold: float, shown: tuple[str, str]
) -> None:
    assert format_below(value, threshold) == shown


def test_a_mean_reaches_what_its_parts_reach() -> None:
    assert mean([0.7, 0.7, 0.7]) < 0.7
    assert reaches(mean([0.7, 0.7, 0.7]), 0.7)
    assert not reaches(0.6999999, 0.7)


def test_a_threshold_keeps_its_digits() -> None:
    assert [format_threshold(0.9), format_threshold(0.875)] == ["0.90", "0.875"]


# --- numbers in words ---


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (1.0, "1 second"), (0.5, "0.5 seconds"), (0, "0 seconds"), (300.0, "300 seconds")],
)
def test_a_time_is_told_as_people_do(seconds: float, words: str) -> None:
    assert in_seconds(seconds) == words


def test_one_is_not_many() -> None:
    assert [counted(count, "task") for count in (0, 1, 2_000)] == ["0 tasks", "1 task", "2,000 tasks"]
