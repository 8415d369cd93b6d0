import pytest

from waza_engine.scoring.impact import improves, pairwise_impact, skill_impact


@pytest.mark.parametrize(
    ("with_skills", "baseline", "delta", "percent"),
    [
        (2 / 3, 1 / 3, 1 / 3, 100.0),
        (1.0, 0.0, 1.0, 10_000.0),
        (0.5, 0.5, 0.0, 0.0),
        (0.25, 0.5, -0.25, -50.0),
    ],
)
def test_the_impact_is_relative_to_the_baseline(
    with_skills: float, baseline: float, delta: float, percent: float
) -> None:
    found = skill_impact(with_skills, baseline)
    assert (found.delta, found.percent_change) == pytest.approx((delta, percent))


@pytest.mark.parametrize(
    ("with_skills", "baseline", "better"),
    [(0.6, 0.5, True), (0.5, 0.5, False), (0.4, 0.5, False), (1.0, 1.0, True), (0.0, 0.0, False)],
)
def test_skills_are_worth_it_when_more_passes_or_nothing_is_left_to_improve(
    with_skills: float, baseline: float, better: bool
) -> None:
    assert improves(with_skills, baseline) is better


def test_comparisons_are_counted_and_the_majority_wins() -> None:
    won = {
        "winner": "skill",
        "magnitude": "much-better",
        "reasoning": "it answers",
        "position_consistent": True,
    }
    tie = {"winner": "tie", "magnitude": "equal", "reasoning": "", "position_consistent": False}
    found = pairwise_impact([tie, won, won, {"winner": "baseline"}])
    assert found is not None
    assert (found.winner, found.magnitude, found.reasoning) == ("skill", "much-better", "it answers")
    assert (found.wins, found.ties, found.losses, found.position_consistent) == (2, 1, 1, False)
    assert pairwise_impact([]) is None
