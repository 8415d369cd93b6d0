"""The metrics of a whole suite that follow from its tasks, by the names that ``metrics`` may have. Light."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from waza_engine.results.record import MetricOutcome, TaskOutcome
from waza_engine.results.task_conclusion import is_unjudged
from waza_engine.scoring.statistics import mean
from waza_engine.vocabulary import METRIC_ALIASES


def follows_from_tasks(metric: str) -> bool:
    """Return whether a metric is known and computed from the tasks."""
    return METRIC_ALIASES.get(metric, metric) in FIGURES


def metric_value(metric: str, tasks: Iterable[TaskOutcome]) -> float | None:
    """Return the value of such a metric, None where no task was judged: those that were not are left out."""
    judged = [task for task in tasks if task.status != "skipped" and not any(map(is_unjudged, task.trials))]
    return FIGURES[METRIC_ALIASES.get(metric, metric)](judged) if judged else None


def recompute_metrics(
    metrics: Iterable[MetricOutcome], tasks: Sequence[TaskOutcome]
) -> Iterator[MetricOutcome]:
    """Yield metrics with the values that the tasks have now; those that are of something else as they are."""
    for metric in metrics:
        if not follows_from_tasks(metric.name):
            yield metric
        elif (value := metric_value(metric.name, tasks)) is not None:
            now = replace(metric, value=value)
            yield replace(now, passed=now.reached)


def _task_completion(tasks: Sequence[TaskOutcome]) -> float:
    """Return the share of tasks that passed, at least in some of their trials."""
    return mean([float(any(trial.status == "passed" for trial in task.trials)) for task in tasks])


def _behavior_quality(tasks: Sequence[TaskOutcome]) -> float:
    """Return the mean weighted score of all trials; a task that broke before its first one counts with 0."""
    scores: list[float] = []
    for task in tasks:
        scores += [trial.score.weighted_score for trial in task.trials if trial.status != "skipped"] or [0.0]
    return mean(scores)


def _pass_at_k(tasks: Sequence[TaskOutcome]) -> float:
    """Return the mean chance that one of as many new trials passes."""
    return mean([task.statistics.pass_at_k if task.statistics else 0.0 for task in tasks])


def _pass_exp_k(tasks: Sequence[TaskOutcome]) -> float:
    """Return the mean chance that every one of as many new trials passes."""
    return mean([task.statistics.pass_exp_k if task.statistics else 0.0 for task in tasks])


FIGURES: dict[str, Callable[[Sequence[TaskOutcome]], float]] = {
    "task_completion": _task_completion,
    "behavior_quality": _behavior_quality,
    "pass_at_k": _pass_at_k,
    "pass_exp_k": _pass_exp_k,
}
