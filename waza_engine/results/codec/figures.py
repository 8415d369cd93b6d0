"""The numbers of a result document, counted from its verdicts and written into it.

Light, no models: the language server recounts after a review.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from waza_engine.results.codec.trials import status_borne_out
from waza_engine.results.codec.verdicts import verdicts_of
from waza_engine.results.json_values import Block, Json, blocks_of, duration_of, number_or_none, text_of
from waza_engine.scoring.statistics import CONFIDENCE, Interval, RateInterval, wilson
from waza_engine.scoring.tasks import (
    Graded,
    SuiteSummary,
    TaskScore,
    TaskStatistics,
    TaskStatus,
    TrialScore,
    TrialStatus,
    composite,
    suite_summary,
    task_statistics,
    task_status,
    trial_status,
)


def counted_run(run: Block, *, execution_error: bool) -> Json:
    """Return an element of ``runs`` with the status that follows from its verdicts.

    The verdicts of its checkpoints count as recorded: they cannot be graded again.
    """
    checkpoints: list[TrialStatus] = [
        task_status_of(found) for found in blocks_of(run.get("checkpoints")) if found.get("status")
    ]
    return {**run, "status": trial_status(_graded(run), checkpoints, execution_error=execution_error)}


def counted_task(task: Block, runs: Sequence[Block], *, resampled: bool = True) -> Json:
    """Return an element of ``tasks`` with these trials, and the status and numbers that follow from them.

    Unfinished trials do not count. Without ``resampled`` the interval of the score is left out: it costs more
    than all else.
    """
    scores = [trial_score(run) for run in runs if run.get("stopped") is not True]
    statistics = task_statistics(scores, resampled=resampled)
    return {
        **task,
        "status": task_status([score.status for score in scores], pass_rate_of(task)),
        "runs": list(runs),
        **({"stats": statistics_document(statistics)} if statistics else {}),
    }


def pass_rate_of(task: Block) -> float:
    """Return the share of its trials that a task of a document needs to pass."""
    written = number_or_none(task.get("required_pass_rate")) or 1.0
    # A share that no suite can request means all of them.
    return written if 0 < written <= 1 else 1.0


def required_pass_rate(pass_rate: float) -> Json:
    """Return that share as an entry of a task; for 1, all trials, nothing is written."""
    return {"required_pass_rate": pass_rate} if pass_rate < 1 else {}


def trial_score(run: Block) -> TrialScore:
    """Return a document's trial, for its task's score."""
    verdicts = verdicts_of(run)
    broke = task_status_of(run) == "error" and bool(text_of(run.get("error_msg")))
    found = composite([] if broke else [verdict.graded for verdict in verdicts.values()])
    return TrialScore(
        status_borne_out(run, verdicts),
        found.score,
        found.weighted_score,
        duration_of(run.get("duration_ms")),
    )


def task_figures(task: Block) -> TaskStatistics | None:
    """Return the statistics of a document's task, computed from the verdicts of its trials."""
    runs = (run for run in blocks_of(task.get("runs")) if run.get("stopped") is not True)
    return task_statistics([trial_score(run) for run in runs])


def statistics_document(statistics: TaskStatistics) -> Json:
    """Return the ``stats`` of a task."""
    figures = asdict(statistics)
    del figures["interval"]
    if statistics.total_runs > 1:
        figures["pass_rate_ci"] = _rate(wilson(statistics.passed_runs, statistics.total_runs))
    if statistics.interval is not None:
        figures["bootstrap_ci"] = _interval(statistics.interval)
        figures["is_significant"] = statistics.interval.is_significant
    return figures


def summary_figures(summary: SuiteSummary) -> Json:
    """Return the ``summary`` of a run without its usage."""
    figures = asdict(summary)
    del figures["interval"], figures["pass_hat_k"]
    if summary.interval is not None:
        figures["statistics"] = {
            "bootstrap_ci": _interval(summary.interval),
            "is_significant": summary.interval.is_significant,
            "success_rate_ci": _rate(wilson(summary.succeeded, summary.total_tests - summary.skipped)),
            "pass_hat_k": list(summary.pass_hat_k),
        }
    return figures


def group_figures(tasks: Iterable[tuple[str, TaskScore]]) -> list[Json]:
    """Return the numbers of each group of tasks, by first occurrence of the group; "" is no group."""
    members: dict[str, list[TaskScore]] = {}
    for group, score in tasks:
        if group:
            members.setdefault(group, []).append(score)
    summaries = {name: suite_summary(scores) for name, scores in members.items()}
    return [
        {
            "name": name,
            "passed": summary.succeeded,
            "total": summary.total_tests,
            "avg_score": summary.aggregate_score,
        }
        for name, summary in summaries.items()
    ]


def _rate(interval: RateInterval) -> Json:
    return {
        "lower": interval.lower,
        "upper": interval.upper,
        "mean": interval.rate,
        "confidence_level": CONFIDENCE,
    }


def _interval(interval: Interval) -> Json:
    return {
        "lower": interval.lower,
        "upper": interval.upper,
        "mean": interval.mean,
        "confidence_level": CONFIDENCE,
        "num_bootstraps": interval.resamples,
    }


def _graded(run: Block) -> list[Graded]:
    return [verdict.graded for verdict in verdicts_of(run).values()]


def task_status_of(found: Block) -> TaskStatus:
    """Return the status of a task, or trial, as it is written; whatever is not known is an error."""
    match found.get("status"):
        case "passed" | "failed" | "skipped" as known:
            return known
        case _:
            return "error"
