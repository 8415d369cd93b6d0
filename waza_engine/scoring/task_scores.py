"""The score of a trial, of a task over its trials, and of a suite over its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.number_formats import reaches
from waza_engine.scoring.pass_estimates import pass_estimates, pass_hat_k
from waza_engine.scoring.statistics import (
    Interval,
    bootstrap,
    flakiness_percent,
    is_flaky,
    mean,
    population_deviation,
    population_variance,
)

TrialStatus = Literal["passed", "failed", "error", "skipped"]


@frozen()
class Graded:
    """One grader's verdict, for scoring. ``weight`` is as written.

    Zero and below count as 1. One that is not ``required`` counts in the score and never in the status. One
    that ``decides`` judges the verdicts of the others.
    """

    score: float
    passed: bool
    weight: float = 1.0
    status: Literal["graded", "pending", "error"] = "graded"
    required: bool = True
    decides: bool = False


@frozen()
class Composite:
    """The two means of a trial, both 0.0 when nothing was graded."""

    score: float
    weighted_score: float


def composite(graded: Sequence[Graded]) -> Composite:
    """Return the means over all graders except those that wait for a person.

    A grader in error counts with score 0: it was requested and gave no verdict.
    """
    counted = [grader for grader in graded if grader.status != "pending"]
    if not counted:
        return Composite(0.0, 0.0)
    weights = [effective_weight(grader.weight) for grader in counted]
    scores = [0.0 if grader.status == "error" else grader.score for grader in counted]
    weighted = sum(score * weight for score, weight in zip(scores, weights, strict=True)) / sum(weights)
    return Composite(sum(scores) / len(scores), weighted)


def effective_weight(weight: float) -> float:
    """Return the weight that counts: zero and below mean 1."""
    return weight if weight > 0 else 1.0


def trial_status(
    graded: Sequence[Graded], checkpoints: Sequence[TrialStatus] = (), *, execution_error: bool = False
) -> TrialStatus:
    """Return whether a trial passed: all its required graders must have passed, whatever their weights.

    A failed grader outranks one in error: ``failed`` says that the answer is wrong, ``error`` only that it
    could not be judged completely. One that ``decides`` outranks both. A trial whose graders all wait for a
    person is ``skipped``; one without graders has passed. ``checkpoints`` are the statuses of those in the
    middle of its conversation: they can fail it if it has a score, and it waits for people with those at its
    end.
    """
    if execution_error or any(said.decides and said.required and said.status == "error" for said in graded):
        return "error"
    graded = [said for said in graded if said.required]
    if "failed" in checkpoints or any(said.status == "graded" and not said.passed for said in graded):
        return "failed"
    if "error" in checkpoints or any(said.status == "error" for said in graded):
        return "error"
    asked = [said.status == "pending" for said in graded] or [said == "skipped" for said in checkpoints]
    return "skipped" if asked and all(asked) else "passed"


def worst_status(written: TrialStatus, said: Sequence[TrialStatus]) -> TrialStatus:
    """Return the written status, or for ``passed`` the worst of the statuses below it.

    A file may have been edited by hand; upstream writes a worse one for reasons of its own.
    """
    if written != "passed":
        return written
    return "failed" if "failed" in said else "error" if "error" in said else written


TaskStatus = TrialStatus


@frozen()
class TrialScore:
    """A finished trial, for its task's score. ``duration_ms`` is wall clock in milliseconds."""

    status: TrialStatus
    score: float
    weighted_score: float
    duration_ms: int = 0


@frozen()
class TaskStatistics:
    """The statistics of a task.

    Minimum, maximum and spread are those of the unweighted trial scores. ``pass_at_k`` and ``pass_exp_k``
    estimate whether one, or every one, of as many new trials would pass.
    """

    pass_rate: float
    flakiness_percent: float
    passed_runs: int
    failed_runs: int
    error_runs: int
    total_runs: int
    avg_score: float
    avg_weighted_score: float
    min_score: float
    max_score: float
    std_dev_score: float
    score_variance: float
    ci95_lo: float
    ci95_hi: float
    flaky: bool
    avg_duration_ms: int
    pass_at_k: float
    pass_exp_k: float
    interval: Interval | None = None


@frozen()
class TaskScore:
    """A finished task as the suite sees it.

    ``statistics`` is None when it never ran (a failed hook, a cancel).
    """

    status: TaskStatus
    statistics: TaskStatistics | None = None


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """The summary of a suite; ``duration_ms`` is its wall clock in milliseconds.

    ``pass_hat_k`` has, for one trial, two and so on, the chance that all of so many pass; it and the interval
    are those of several tasks with several trials.
    """

    total_tests: int
    succeeded: int
    failed: int
    errors: int
    skipped: int
    success_rate: float
    aggregate_score: float
    weighted_score: float
    min_score: float
    max_score: float
    std_dev: float
    duration_ms: int
    interval: Interval | None = None
    pass_hat_k: tuple[float, ...] = ()


def task_status(trials: Sequence[TrialStatus], pass_rate: float = 1.0) -> TaskStatus:
    """Return the status of a task: it passes when that share of the trials that were not skipped passed.

    A task in which nothing failed but something broke is an ``error`` (upstream calls it failed and its error
    count stays 0).
    """
    counted = [status for status in trials if status != "skipped"]
    if not counted:
        return "skipped"
    if reaches(counted.count("passed") / len(counted), pass_rate):
        return "passed"
    if "failed" in counted:
        return "failed"
    return "error"


def task_statistics(trials: Sequence[TrialScore], *, resampled: bool = True) -> TaskStatistics | None:
    """Return the statistics of a task's trials, None without any; only when ``resampled`` with an interval.

    If some trials were judged, those that wait for a person are left out: their result is unknown.
    """
    if not trials:
        return None
    counted = [trial for trial in trials if trial.status != "skipped"] or trials
    statuses = [trial.status for trial in counted]
    scores = [trial.score for trial in counted]
    weighted = [trial.weighted_score for trial in counted]
    passed, total = statuses.count("passed"), len(counted)
    interval = bootstrap(weighted) if resampled and total > 1 else None
    estimates = pass_estimates(passed, total)
    return TaskStatistics(
        pass_rate=estimates.rate.rate,
        flakiness_percent=flakiness_percent(passed, total),
        passed_runs=passed,
        failed_runs=statuses.count("failed"),
        error_runs=statuses.count("error"),
        total_runs=total,
        avg_score=mean(scores),
        avg_weighted_score=mean(weighted),
        min_score=min(scores),
        max_score=max(scores),
        std_dev_score=population_deviation(scores),
        score_variance=population_variance(scores),
        ci95_lo=interval.lower if interval else 0.0,
        ci95_hi=interval.upper if interval else 0.0,
        flaky=is_flaky(passed, total),
        avg_duration_ms=sum(trial.duration_ms for trial in trials) // len(trials),
        pass_at_k=estimates.pass_at_k.rate,
        pass_exp_k=estimates.pass_exp_k.rate,
        interval=interval,
    )


def suite_summary(
    tasks: Sequence[TaskScore], *, duration_ms: int = 0, trials_per_task: int = 1
) -> SuiteSummary:
    """Return the summary of a suite.

    A task that broke before its first trial counts with score 0. Skipped tasks (stopped early, or waiting for
    a person) are counted as such and otherwise left out: their result is unknown.
    """
    statuses = [task.status for task in tasks]
    judged = [task for task in tasks if task.status != "skipped"]
    averages = [task.statistics.avg_score if task.statistics else 0.0 for task in judged]
    weighted = [task.statistics.avg_weighted_score if task.statistics else 0.0 for task in judged]
    measured = [task.statistics.avg_weighted_score for task in judged if task.statistics]
    counts = [(task.statistics.passed_runs, task.statistics.total_runs) for task in judged if task.statistics]
    succeeded = statuses.count("passed")
    repeated = trials_per_task > 1 and len(measured) > 1
    return SuiteSummary(
        total_tests=len(tasks),
        succeeded=succeeded,
        failed=statuses.count("failed"),
        errors=statuses.count("error"),
        skipped=statuses.count("skipped"),
        success_rate=succeeded / len(judged) if judged else 0.0,
        aggregate_score=mean(averages),
        weighted_score=mean(weighted),
        min_score=min(averages, default=0.0),
        max_score=max(averages, default=0.0),
        std_dev=population_deviation(averages),
        duration_ms=duration_ms,
        interval=bootstrap(measured) if repeated else None,
        pass_hat_k=pass_hat_k(counts) if repeated else (),
    )
