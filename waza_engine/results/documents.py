"""A run as a result document in upstream's layout, so that its dashboard and ``compare`` read our files.

What upstream does not know (checks per line, the status of a grader, costs, which file was run) stands under
keys that its readers skip: ``checks`` and ``status`` beside ``details``, ``cost``, and ``metadata.engine``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

import waza_engine
from waza_engine.results.codec.tasks import task_document
from waza_engine.results.codec.usage import cost_document, usage_document
from waza_engine.results.figures import summary_figures
from waza_engine.results.json_values import Json, given, plain
from waza_engine.results.record import RunHeader, RunOutcome, TaskOutcome, TriggerOutcome
from waza_engine.scoring.recommendation import Recommendation
from waza_engine.scoring.tasks import SuiteSummary
from waza_engine.vocabulary import Usage

__all__ = [
    "Json",
    "header_document",
    "plain",
    "run_document",
    "summary_document",
]
SCHEMA_VERSION = "1.2"


def run_document(outcome: RunOutcome) -> Json:
    """Return the whole document (reference waza.md §7.1, waza_0_38.md §8.1)."""
    document = header_document(outcome.header)
    document["summary"] = {
        **summary_document(outcome.summary, outcome.usage),
        **given(groups=_groups(outcome.tasks)),
    }
    if outcome.spending is not None and outcome.spending.tokens:
        spent = outcome.spending
        document["summary"]["cost"] = {"tokens": spent.tokens, **cost_document(spent.cost)}
    document["metrics"] = {
        metric.name: {
            "identifier": metric.name,
            "value": metric.value,
            "threshold": metric.threshold,
            "passed": metric.passed,
            "weight": metric.weight,
        }
        for metric in outcome.metrics
    }
    document["tasks"] = [task_document(task) for task in outcome.tasks]
    if outcome.trigger_metrics is not None:
        figures = asdict(outcome.trigger_metrics)
        document["trigger_metrics"] = {
            key: value for key, value in figures.items() if key != "errors" or value
        }
        document["trigger_results"] = [_trigger(trigger) for trigger in outcome.triggers]
    if outcome.baseline is not None:
        document["is_baseline"] = True
        document["baseline_outcome"] = run_document(outcome.baseline)
    if outcome.recommendation is not None:
        document["metadata"]["recommendation"] = recommendation_document(outcome.recommendation)
    document["metadata"]["engine"] |= {
        "status": outcome.status,
        **given(message=outcome.message, limit=outcome.limit),
    }
    return cast("Json", plain(document))


def header_document(header: RunHeader) -> Json:
    """Return the part of the document that is known before the first task."""
    engine = {
        "name": "waza-engine",
        "version": waza_engine.__version__,
        "eval_file": header.eval_file,
        **given(tasks=list(header.tasks), graders=list(header.graders), settings=dict(header.settings)),
    }
    return {
        "schemaVersion": SCHEMA_VERSION,
        "eval_id": header.run_id,
        "skill": header.skill,
        "eval_name": header.eval_name,
        "timestamp": header.started.isoformat(),
        "config": {
            "runs_per_test": header.trials_per_task,
            "model_id": header.model,
            "engine_type": header.executor,
            "timeout_sec": header.timeout_seconds,
            **given(judge_model=header.judge_model),
        },
        "metadata": {"engine": engine},
    }


def recommendation_document(found: Recommendation) -> Json:
    """Return ``metadata.recommendation``: the models, best first, with their points."""
    return {
        "recommended_model": found.winner.model,
        "heuristic_score": found.winner.score,
        "winner_margin_percent": round(found.margin_percent, 1),
        "models": [asdict(model) for model in found.ranking],
    }


def summary_document(summary: SuiteSummary, usage: Usage | None) -> Json:
    """Return the ``summary`` of a run."""
    return {**summary_figures(summary), **given(usage=usage_document(usage))}


def _trigger(trigger: TriggerOutcome) -> Json:
    return {
        "prompt": trigger.prompt,
        **given(confidence=trigger.confidence),
        "should_trigger": trigger.should_trigger,
        "did_trigger": trigger.did_trigger,
        **given(error_msg=trigger.error, final_output=trigger.output),
    }


def _groups(tasks: Sequence[TaskOutcome]) -> list[Json]:
    """Return the figures of each group, in the order in which the groups first occur."""
    names = dict.fromkeys(task.group for task in tasks if task.group)
    return [_group(name, [task for task in tasks if task.group == name]) for name in names]


def _group(name: str, tasks: Sequence[TaskOutcome]) -> Json:
    scores = [
        task.statistics.avg_score if task.statistics else 0.0 for task in tasks if task.status != "skipped"
    ]
    return {
        "name": name,
        "passed": sum(task.status == "passed" for task in tasks),
        "total": len(tasks),
        "avg_score": sum(scores) / len(scores) if scores else 0.0,
    }
