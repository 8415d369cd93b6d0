"""Conclude a run: its tasks, metrics, cost and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from waza_engine.results.conclusion import conclude
from waza_engine.results.record import RunHeader, RunOutcome, RunStatus, TaskOutcome
from waza_engine.results.task_conclusion import conclude_task
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.passes.suite_pass import Findings
from waza_engine.scoring.cost import Spending, total
from waza_engine.scoring.impact import PairwiseImpact, pairwise_impact, skill_impact
from waza_engine.scoring.tasks import TaskScore, suite_summary
from waza_engine.vocabulary import told_apart


@dataclass(frozen=True, slots=True)
class Ending:
    """Further facts about the end of a run: its error, whether it was cancelled, its cost."""

    message: str
    cancelled: bool
    meter: Meter
    duration_ms: int


def run_outcome(
    header: RunHeader, findings: Findings, baseline: Findings | None, ending: Ending
) -> RunOutcome:
    """Return the outcome of a run; with a baseline, every task has the effect of its skills."""
    plain = _outcome(header, findings, ending.duration_ms)
    limit = ending.meter.reason if ending.meter.cut else ""
    message = ending.message or (f"{limit}; what was finished is kept" if limit else "")
    without = None
    tasks = plain.tasks
    if baseline is not None:
        without = _outcome(header, baseline, baseline.duration_ms)
        without = replace(without, status=_status(without, ending, message))
        tasks = _compared(tasks, without.tasks)
    outcome = replace(
        plain,
        tasks=tasks,
        message=message,
        limit=limit,
        baseline=without,
        spending=Spending(ending.meter.tokens, ending.meter.cost),
    )
    return replace(outcome, status=_status(outcome, ending, message))


def _status(outcome: RunOutcome, ending: Ending, message: str) -> RunStatus:
    """Return the status of a run; a complete run has that of its tasks, metrics and baseline."""
    if ending.cancelled:
        return "canceled"
    if message:
        return "error"
    return conclude(outcome).status


def _outcome(header: RunHeader, findings: Findings, duration_ms: int) -> RunOutcome:
    tasks = findings.in_order
    scores = [TaskScore(task.status, task.statistics) for task in tasks]
    return RunOutcome(
        header=header,
        status="completed",
        tasks=tasks,
        summary=suite_summary(scores, duration_ms=duration_ms, trials_per_task=header.trials_per_task),
        usage=total(trial.usage for task in tasks for trial in task.trials),
        metrics=findings.metrics,
        triggers=findings.triggers,
        trigger_metrics=findings.trigger_metrics,
        unjudged=[answer for answers in findings.unjudged.values() for answer in answers],
    )


def _compared(tasks: Sequence[TaskOutcome], baseline: Sequence[TaskOutcome]) -> list[TaskOutcome]:
    """Return the tasks with their impact; a task that was not judged both times has none."""
    without = dict(zip(told_apart(task.id for task in baseline), baseline, strict=True))
    names = told_apart(task.id for task in tasks)
    return [_with_impact(task, without.get(name)) for name, task in zip(names, tasks, strict=True)]


def _with_impact(task: TaskOutcome, without: TaskOutcome | None) -> TaskOutcome:
    pairs = _pairs(task)
    if task.statistics is None or without is None or not conclude_task(task).judged:
        return task
    before = without.statistics.pass_rate if without.statistics and conclude_task(without).judged else None
    if before is None and pairs is None:
        return task
    return replace(task, impact=skill_impact(task.statistics.pass_rate, before, pairs))


def _pairs(task: TaskOutcome) -> PairwiseImpact | None:
    details = [
        validation.details.get("pairwise")
        for trial in task.trials
        for validation in (trial.validations or {}).values()
    ]
    return pairwise_impact(
        [cast("Mapping[str, object]", found) for found in details if isinstance(found, Mapping)]
    )
