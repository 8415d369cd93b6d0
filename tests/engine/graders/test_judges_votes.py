"""Several votes of a judge on one answer."""

import json

import pytest

from tests.conftest import StartModel
from tests.engine.graders.grading import refused
from tests.engine.graders.judging import fails, judged, passes, verdicts
from waza_engine.graders.base import Verdict
from waza_engine.graders.judging.verdicts import Aggregate, combine_votes
from waza_engine.graders.registry import create

ASK = {"prompt": "Is it good? Call set_waza_grade_pass or set_waza_grade_fail."}


def test_the_majority_of_the_votes_decides(scripted_model: StartModel) -> None:
    model = scripted_model(
        *verdicts(passes(reason="fine")), *verdicts(fails(reason="bad")), *verdicts(passes(reason="fine"))
    )
    verdict = judged(model, "prompt", {**ASK, "judge": {"votes": 3}})
    assert (verdict.passed, verdict.score) == (True, 1.0)
    assert verdict.feedback.startswith("2 of 3 votes pass, scores 0.00–1.00: ")
    assert (verdict.details["spread"], len(verdict.details["votes"])) == (1.0, 3)


def test_the_mean_of_ratings_is_compared_with_the_threshold(scripted_model: StartModel) -> None:
    model = scripted_model(*(json.dumps({"score": rating}) for rating in (5, 5, 2)))
    rubric = {"rubric": "Rate it from 1 to 5.", "threshold": 0.75}
    verdict = judged(model, "prompt", {**rubric, "judge": {"votes": 3, "aggregate": "mean"}})
    assert (verdict.passed, verdict.score) == (True, 0.75)


@pytest.mark.parametrize(
    ("aggregate", "threshold", "expected"),
    [
        ("majority", 0.9, (0.5, False)),
        ("mean", 0.3, (0.4, True)),
        ("median", 0.5, (0.5, True)),
        ("median", None, (0.5, False)),
    ],
)
def test_how_votes_become_one_verdict(
    aggregate: Aggregate, threshold: float | None, expected: tuple[float, bool]
) -> None:
    votes = [Verdict(score, passed=score > 0.6, feedback="") for score in (0.0, 0.5, 0.7)]
    verdict = combine_votes(votes, aggregate, threshold)
    assert (round(verdict.score, 9), verdict.passed) == expected


def test_half_of_the_votes_is_no_majority() -> None:
    votes = [Verdict(1.0, passed=True, feedback="good"), Verdict(0.0, passed=False, feedback="bad")]
    verdict = combine_votes(votes, "majority", None)
    assert (verdict.passed, verdict.score) == (False, 0.5)


def test_a_vote_that_continues_the_session_is_refused() -> None:
    with refused("leave out one"):
        create({"type": "prompt", "config": {**ASK, "judge": {"votes": 3}, "continue_session": True}})
