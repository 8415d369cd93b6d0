import pytest

from waza_engine.scoring.task_scores import Graded, TrialStatus, composite, trial_status


def graded(score: float, weight: float = 1.0, *, passed: bool | None = None) -> Graded:
    return Graded(score, score == 1.0 if passed is None else passed, weight)


PENDING = Graded(0.0, False, status="pending")
BROKEN = Graded(0.0, False, status="error")


@pytest.mark.parametrize(
    ("verdicts", "weighted"),
    [
        ([graded(1, 3), graded(0, 0.5), graded(1, 1)], 4 / 4.5),
        ([graded(1.0, 3), graded(0.0, 1)], 0.75),
        ([graded(1.0, 0), graded(0.5, 0)], 0.75),
        ([graded(0.75)], 0.75),
        ([graded(1.0, -2), graded(0.0, 1)], 0.5),
        ([], 0.0),
    ],
)
def test_the_weighted_score_is_the_mean_by_weight(verdicts: list[Graded], weighted: float) -> None:
    assert composite(verdicts).weighted_score == pytest.approx(weighted)


def test_eight_graders_of_which_one_counts_twice() -> None:
    verdicts = [graded(score) for score in (0.5, 1, 1, 1, 1, 0, 1)] + [graded(1, 2)]
    means = composite(verdicts)
    assert (means.score, means.weighted_score) == pytest.approx((0.8125, 7.5 / 9))


def test_a_review_to_come_counts_neither_in_the_score_nor_in_the_verdict() -> None:
    assert composite([graded(0.5), PENDING]).score == 0.5
    assert trial_status([graded(1), PENDING]) == "passed"


def test_a_broken_grader_counts_with_score_zero() -> None:
    assert composite([graded(1), BROKEN]).score == 0.5


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([], "passed"),
        ([graded(1)], "passed"),
        ([graded(1), graded(0.99)], "failed"),
        ([graded(1, 100), graded(0, 0.01)], "failed"),
        ([graded(0.2, passed=True)], "passed"),
        ([graded(1), BROKEN], "error"),
        ([graded(0), BROKEN], "failed"),
        ([PENDING], "skipped"),
        ([PENDING, graded(0)], "failed"),
    ],
)
def test_a_trial_passes_when_all_its_graders_pass(verdicts: list[Graded], status: str) -> None:
    assert trial_status(verdicts) == status


@pytest.mark.parametrize(
    ("verdicts", "checkpoints", "status"),
    [
        ([graded(1)], ["failed", "error"], "failed"),
        ([BROKEN], ["failed"], "failed"),
        ([graded(0)], ["error"], "failed"),
        ([graded(1)], ["error", "passed"], "error"),
        ([PENDING], ["failed"], "failed"),
        ([PENDING], ["passed"], "skipped"),
        ([graded(1)], ["skipped"], "passed"),
        ([], ["skipped"], "skipped"),
        ([], ["skipped", "passed"], "passed"),
    ],
)
def test_what_a_checkpoint_found_wrong_is_as_wrong_as_at_the_end(
    verdicts: list[Graded], checkpoints: list[TrialStatus], status: str
) -> None:
    assert trial_status(verdicts, checkpoints) == status


def test_an_execution_error_outranks_the_graders() -> None:
    assert trial_status([graded(1)], execution_error=True) == "error"
