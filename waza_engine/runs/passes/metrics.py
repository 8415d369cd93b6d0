"""The figures of a whole suite that ``metrics`` asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from waza_engine.results.conclusion import DECIDING, decides
from waza_engine.results.record import MetricOutcome, TaskOutcome
from waza_engine.scoring.statistics import mean
from waza_engine.scoring.triggers import TriggerMetrics
from waza_engine.spec.suite_parts import Metric

_OTHER_NAMES = {"pass@k": "pass_at_k", "pass^k": "pass_exp_k"}


def suite_metrics(
    asked: Iterable[Metric], tasks: Sequence[TaskOutcome], triggers: TriggerMetrics | None
) -> list[MetricOutcome]:
    """Return the metrics that are known and can be computed, under the names that the suite writes.

    Tasks that were skipped are left out, as in the summary. Of two metrics with one name the first counts.
    """
    judged = [task for task in tasks if task.status != "skipped"]
    found: dict[str, MetricOutcome] = {}
    for metric in asked:
        name = _OTHER_NAMES.get(metric.name, metric.name)
        if decides(name):
            value = None if triggers is None else triggers.accuracy
        else:
            value = _FIGURES[name](judged) if name in _FIGURES and judged else None
        if value is not None and metric.name not in found:
            told = MetricOutcome(metric.name, value, metric.threshold, True, metric.weight)
            found[metric.name] = replace(told, passed=told.reached)
    return list(found.values())


def unknown_metrics(asked: Iterable[Metric]) -> list[str]:
    """Return a warning for each metric that cannot be computed."""
    known = (DECIDING, *_FIGURES)
    names = dict.fromkeys(metric.name for metric in asked if metric.name)
    listed = ", ".join(f"`{name}`" for name in known)
    return [
        f"the metric `{name}` is not known and not computed; known are {listed}"
        for name in names
        if _OTHER_NAMES.get(name, name) not in known
    ]


def untested_metrics(asked: Iterable[Metric]) -> list[str]:
    """Return a warning for the metric that would decide, were there trigger prompts."""
    return [
        f"`{metric.name}` is not computed, and its threshold decides nothing: "
        "there is no `trigger_tests.yaml` beside the eval file"
        for metric in asked
        if decides(metric.name) and metric.threshold > 0
    ][:1]


def _task_completion(tasks: Sequence[TaskOutcome]) -> float:
    """Return the share of tasks that passed, at least in some of their trials."""
    return mean([float(any(trial.status == "passed" for trial in task.trials)) for task in tasks])


def _behavior_quality(tasks: Sequence[TaskOutcome]) -> float:
    """Return the mean score of all trials; a task that broke before its first trial counts as one with 0."""
    scores: list[float] = []
    for task in tasks:
        scores += [trial.score.score for trial in task.trials if trial.status != "skipped"] or [0.0]
    return mean(scores)


def _pass_at_k(tasks: Sequence[TaskOutcome]) -> float:
    """Return the mean chance that one of as many new trials passes."""
    return mean([task.statistics.pass_at_k if task.statistics else 0.0 for task in tasks])


def _pass_exp_k(tasks: Sequence[TaskOutcome]) -> float:
    """Return the mean chance that every one of as many new trials passes."""
    return mean([task.statistics.pass_exp_k if task.statistics else 0.0 for task in tasks])


_FIGURES: dict[str, Callable[[Sequence[TaskOutcome]], float]] = {
    "task_completion": _task_completion,
    "behavior_quality": _behavior_quality,
    "pass_at_k": _pass_at_k,
    "pass_exp_k": _pass_exp_k,
}
