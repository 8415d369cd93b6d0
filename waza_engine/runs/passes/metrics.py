"""The metrics of a whole suite that ``metrics`` requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from waza_engine.results.conclusion import DECIDING, decides
from waza_engine.results.metrics import FIGURES, follows_from_tasks, metric_value
from waza_engine.results.record import MetricOutcome, TaskOutcome
from waza_engine.scoring.triggers import TriggerMetrics
from waza_engine.spec.eval_file import Metric


def suite_metrics(
    asked: Iterable[Metric], tasks: Sequence[TaskOutcome], triggers: TriggerMetrics | None
) -> list[MetricOutcome]:
    """Return the known metrics that can be computed, under the names that the suite writes.

    Of two metrics with one name the first counts.
    """
    found: dict[str, MetricOutcome] = {}
    for metric in asked:
        if decides(metric.name):
            value = None if triggers is None else triggers.accuracy
        else:
            value = metric_value(metric.name, tasks) if follows_from_tasks(metric.name) else None
        if value is not None and metric.name not in found:
            told = MetricOutcome(metric.name, value, metric.threshold, True, metric.weight)
            found[metric.name] = replace(told, passed=told.reached)
    return list(found.values())


def unknown_metrics(asked: Iterable[Metric]) -> list[str]:
    """Return a warning for each metric that cannot be computed."""
    listed = ", ".join(f"`{name}`" for name in (DECIDING, *FIGURES))
    return [
        f"the metric `{name}` is not known and not computed; known are {listed}"
        for name in dict.fromkeys(metric.name for metric in asked if metric.name)
        if not decides(name) and not follows_from_tasks(name)
    ]


def untested_metrics(asked: Iterable[Metric]) -> list[str]:
    """Return a warning for the metric that would decide, were there trigger prompts."""
    return [
        f"`{metric.name}` is not computed, and its threshold decides nothing: "
        "there is no `trigger_tests.yaml` beside the eval file"
        for metric in asked
        if decides(metric.name) and metric.threshold > 0
    ][:1]
