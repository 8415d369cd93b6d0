"""The figures of a result document: counted from the verdicts that stand in it, and written into it.

Light, no models: the language server counts again what a review changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import cast

from waza_engine.results.codec.verdicts import verdicts_of
from waza_engine.results.conclusion import decides
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, text_of
from waza_engine.scoring.composite import Graded, TrialStatus, composite, trial_status
from waza_engine.scoring.statistics import CONFIDENCE, Interval, RateInterval, mean, wilson
from waza_engine.scoring.tasks import (
    SuiteSummary,
    TaskScore,
    TaskStatistics,
    TaskStatus,
    TrialScore,
    suite_summary,
    task_statistics,
    task_status,
)

PASSED = ("passed", "skipped")
"""The statuses of tasks that do not fail a run."""


def counted_run(run: Block, *, execution_error: bool) -> Json:
    """Return an element of ``runs`` with the status that follows from its verdicts.

    What its checkpoints said counts as recorded: nobody can ask them again.
    """
    status: TrialStatus = trial_status(_graded(run), execution_error=execution_error)
    if status == "passed":
        worst = {text_of(checkpoint.get("status")) for checkpoint in blocks_of(run.get("checkpoints"))}
        status = "error" if "error" in worst else "failed" if "failed" in worst else status
    return {**run, "status": status}


def counted_task(task: Block, runs: Sequence[Block], *, resampled: bool = True) -> Json:
    """Return an element of ``tasks`` with these trials, and the status and figures that follow from them.

    Without ``resampled`` the interval of the score is left out: it costs more than all else.
    """
    scores = [trial_score(run) for run in runs]
    statistics = task_statistics(scores, resampled=resampled)
    return {
        **task,
        "status": task_status([score.status for score in scores]),
        "runs": list(runs),
        **({"stats": statistics_document(statistics)} if statistics else {}),
    }


def counted_document(document: Block, tasks: Sequence[Block]) -> Json:
    """Return a document with these tasks, and the summary and status that follow from them."""
    config, before = block_of(document, "config"), block_of(document, "summary")
    scores = [TaskScore(_status(task), task_figures(task)) for task in tasks]
    trials = config.get("runs_per_test")
    summary = suite_summary(scores, trials_per_task=trials if isinstance(trials, int) else 1)
    figures = summary_figures(summary)
    figures["duration_ms"] = before.get("duration_ms", 0)
    groups = _groups(tasks, scores)
    kept = {key: value for key, value in before.items() if key != "statistics"}
    counted: Json = {
        **document,
        "summary": {**kept, **figures, **({"groups": groups} if groups else {})},
        "tasks": list(tasks),
    }
    metadata = block_of(document, "metadata")
    engine = block_of(metadata, "engine")
    status = engine_status(document, all_passed=all(score.status in PASSED for score in scores))
    if status != text_of(engine.get("status")) or "conclusion" in engine:
        # What the run came to before is not what it comes to now.
        rest = {key: value for key, value in engine.items() if key != "conclusion"}
        counted["metadata"] = {**metadata, "engine": {**rest, "status": status}}
    return counted


def engine_status(document: Block, *, all_passed: bool) -> str:
    """Return how a run ended, counted again for one that was not cut short: by its tasks and its metrics."""
    status = text_of(block_of(block_of(document, "metadata"), "engine").get("status"))
    if status not in ("completed", "failed"):
        return status
    metrics = block_of(document, "metrics").items()
    missed = any(
        isinstance(metric, Mapping) and cast("Block", metric).get("passed") is False and decides(name)
        for name, metric in metrics
    )
    return "completed" if all_passed and not missed else "failed"


def trial_score(run: Block) -> TrialScore:
    """Return what a trial of a document adds to its task."""
    found = composite(_graded(run))
    duration = run.get("duration_ms")
    return TrialScore(
        _status(run), found.score, found.weighted_score, duration if isinstance(duration, int) else 0
    )


def task_figures(task: Block) -> TaskStatistics | None:
    """Return the figures of a task of a document, counted from the verdicts of its trials."""
    return task_statistics([trial_score(run) for run in blocks_of(task.get("runs"))])


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


def _groups(tasks: Sequence[Block], scores: Sequence[TaskScore]) -> list[Json]:
    members: dict[str, list[TaskScore]] = {}
    for task, score in zip(tasks, scores, strict=True):
        if isinstance(group := task.get("group"), str) and group:
            members.setdefault(group, []).append(score)
    return [
        {
            "name": name,
            "passed": sum(score.status == "passed" for score in found),
            "total": len(found),
            "avg_score": mean([score.statistics.avg_score if score.statistics else 0.0 for score in found]),
        }
        for name, found in members.items()
    ]


def _status(found: Block) -> TaskStatus:
    match found.get("status"):
        case "passed" | "failed" | "skipped" as known:
            return known
        case _:
            return "error"
