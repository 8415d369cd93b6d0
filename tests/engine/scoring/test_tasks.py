import pytest

from waza_engine.scoring.task_scores import (
    TaskScore,
    TrialScore,
    TrialStatus,
    suite_summary,
    task_statistics,
    task_status,
)


@pytest.mark.parametrize(
    ("trials", "status"),
    [
        ([], "skipped"),
        (["skipped", "skipped"], "skipped"),
        (["passed", "skipped"], "passed"),
        (["passed", "failed"], "failed"),
        (["failed", "error"], "failed"),
        (["passed", "error"], "error"),
    ],
)
def test_a_task_passes_when_every_trial_that_counts_passes(trials: list[TrialStatus], status: str) -> None:
    assert task_status(trials) == status


def test_the_spread_is_that_of_the_unweighted_scores_and_the_interval_that_of_the_weighted_ones() -> None:
    trials = [
        TrialScore("passed", 1.0, 0.8, 100),
        TrialScore("failed", 0.5, 0.8, 201),
        TrialScore("failed", 0.5, 0.8),
    ]
    found = task_statistics(trials)
    assert found is not None
    assert found.std_dev_score == pytest.approx(0.2357, abs=1e-4)
    assert (found.min_score, found.max_score, found.avg_score) == pytest.approx((0.5, 1.0, 2 / 3))
    assert (found.ci95_lo, found.ci95_hi) == (0.8, 0.8)
    assert found.avg_duration_ms == 100
    assert (found.passed_runs, found.failed_runs, found.error_runs, found.total_runs) == (1, 2, 0, 3)
    assert found.flaky
    assert found.flakiness_percent == pytest.approx(100 / 3)


def test_a_trial_that_waits_for_a_person_lowers_no_figure() -> None:
    found = task_statistics([TrialScore("passed", 0.8, 0.8, 100), TrialScore("skipped", 0.0, 0.0, 300)])
    assert found is not None
    assert (found.avg_score, found.min_score, found.pass_rate, found.pass_exp_k) == (0.8, 0.8, 1.0, 1.0)
    assert not found.flaky
    assert (found.total_runs, found.avg_duration_ms) == (1, 200)


def test_one_trial_has_no_interval() -> None:
    found = task_statistics([TrialScore("passed", 1.0, 1.0)])
    assert found is not None
    assert found.interval is None
    assert not found.flaky


def scored(status: TrialStatus, *scores: float) -> TaskScore:
    return TaskScore(status, task_statistics([TrialScore(status, score, score) for score in scores]))


def test_the_suite_counts_its_tasks_by_status() -> None:
    tasks = [scored("passed", 1.0), scored("failed", 0.5), scored("error", 0.0), TaskScore("skipped")]
    summary = suite_summary(tasks, duration_ms=12)
    assert (summary.total_tests, summary.succeeded, summary.failed) == (4, 1, 1)
    assert (summary.errors, summary.skipped, summary.duration_ms) == (1, 1, 12)


def test_a_task_that_never_ran_counts_with_score_zero_and_a_skipped_one_not_at_all() -> None:
    summary = suite_summary([scored("passed", 1.0), TaskScore("failed"), TaskScore("skipped")])
    assert summary.aggregate_score == 0.5
    assert summary.success_rate == 0.5
    assert (summary.min_score, summary.max_score) == (0.0, 1.0)


def test_an_empty_suite_has_zeros() -> None:
    summary = suite_summary([])
    assert (summary.success_rate, summary.aggregate_score, summary.min_score, summary.max_score) == (
        0,
        0,
        0,
        0,
    )


def test_the_suite_has_an_interval_with_several_trials_and_tasks() -> None:
    tasks = [scored("passed", 1.0, 1.0), scored("failed", 0.5, 0.0)]
    assert suite_summary(tasks, trials_per_task=2).interval is not None
    assert suite_summary(tasks, trials_per_task=1).interval is None
    assert suite_summary(tasks[:1], trials_per_task=2).interval is None
