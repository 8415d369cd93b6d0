"""A run as a result document in upstream's layout, so that its dashboard and ``compare`` read our files.

What upstream does not know (checks per line, the status of a grader, which file was run) stands under keys
that its readers skip: ``checks`` and ``status`` beside ``details``, and ``metadata.engine``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

import waza_engine
from waza_engine.graders.base import ToolCall, Usage
from waza_engine.results.outcomes import (
    CheckpointOutcome,
    RunHeader,
    RunOutcome,
    TaskOutcome,
    TrialOutcome,
    TriggerOutcome,
    Validation,
)
from waza_engine.scoring.composite import effective_weight
from waza_engine.scoring.statistics import CONFIDENCE, Interval
from waza_engine.scoring.tasks import SuiteSummary, TaskStatistics

Json = dict[str, Any]
SCHEMA_VERSION = "1.2"
_USAGE_COUNTS = (
    "turns",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "premium_requests",
)
_KNOWN_ARGUMENTS = ("path", "file_text", "command", "description", "skill")


def run_document(outcome: RunOutcome) -> Json:
    """Return the whole document (reference waza.md §7.1, waza_0_38.md §8.1)."""
    document = header_document(outcome.header)
    document["summary"] = summary_document(outcome.summary, outcome.usage)
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
    document["metadata"]["engine"] |= {"status": outcome.status, **_given(message=outcome.message)}
    return cast("Json", plain(document))


def header_document(header: RunHeader) -> Json:
    """Return the part of the document that is known before the first task."""
    engine = {
        "name": "waza-engine",
        "version": waza_engine.__version__,
        "eval_file": header.eval_file,
        **_given(tasks=list(header.tasks), graders=list(header.graders)),
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
            **_given(judge_model=header.judge_model),
        },
        "metadata": {"engine": engine},
    }


def task_document(task: TaskOutcome) -> Json:
    """Return an element of ``tasks``."""
    return cast(
        "Json",
        plain(
            {
                "test_id": task.id,
                "display_name": task.name,
                **_given(golden=task.golden),
                "status": task.status,
                "runs": [_trial(trial) for trial in task.trials],
                **({"stats": statistics_document(task.statistics)} if task.statistics else {}),
                **_given(error_msg=task.error, file=task.file),
            }
        ),
    )


def validation_document(validation: Validation) -> Json:
    """Return a verdict as it stands under its name in ``validations``."""
    checks = [
        {"path": list(check.path), "passed": check.passed, **_given(message=check.message)}
        for check in validation.checks
    ]
    return {
        "identifier": validation.name,
        "type": validation.type,
        "score": validation.score,
        "weight": effective_weight(validation.weight),
        "passed": validation.passed,
        "feedback": validation.feedback,
        **_given(details=dict(validation.details), checks=checks),
        **({"status": validation.status} if validation.status != "graded" else {}),
        "duration_ms": validation.duration_ms,
    }


def statistics_document(statistics: TaskStatistics) -> Json:
    """Return the ``stats`` of a task."""
    figures = asdict(statistics)
    del figures["interval"]
    if statistics.interval is not None:
        figures["bootstrap_ci"] = _interval(statistics.interval)
        figures["is_significant"] = statistics.interval.is_significant
    return figures


def summary_document(summary: SuiteSummary, usage: Usage | None) -> Json:
    """Return the ``summary`` of a run."""
    figures = asdict(summary)
    del figures["interval"]
    if summary.interval is not None:
        interval = summary.interval
        figures["statistics"] = {
            "bootstrap_ci": _interval(interval),
            "is_significant": interval.is_significant,
        }
    return {**figures, **_given(usage=_usage(usage))}


def plain(value: Any) -> Any:
    """Return the value as JSON can hold it: numbers that are not finite become null, other objects text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            items = cast("Mapping[Any, Any]", value).items()
            return {key if isinstance(key, str) else str(key): plain(item) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in cast("Sequence[Any]", value)]
        case _:
            return str(value)


def _trial(trial: TrialOutcome) -> Json:
    validations = trial.validations
    return {
        "run_number": trial.number,
        "attempts": trial.attempts,
        "status": trial.status,
        "duration_ms": trial.duration_ms,
        "validations": None
        if validations is None
        else {name: validation_document(v) for name, v in validations.items()},
        "session_digest": _session_digest(trial),
        **_given(transcript=[_event(event) for event in trial.events]),
        "final_output": trial.output,
        **_given(
            error_msg=trial.error,
            skill_invocations=[
                {"name": skill.name, **_given(path=skill.path)} for skill in trial.skill_invocations
            ],
            usage=_usage(trial.usage),
            workspace_dir=trial.workspace,
            checkpoints=[_checkpoint(checkpoint) for checkpoint in trial.checkpoints],
            tool_events=_tool_events(trial),
        ),
    }


def _checkpoint(checkpoint: CheckpointOutcome) -> Json:
    return {
        "after_turn": checkpoint.after_turn,
        "status": checkpoint.status,
        "validations": {name: validation_document(v) for name, v in checkpoint.validations.items()},
        **_given(stopped=checkpoint.stopped),
    }


def _session_digest(trial: TrialOutcome) -> Json:
    calls = trial.tool_calls
    return {
        "tool_call_count": len(calls),
        "tools_used": [call.name for call in calls],
        **_given(tool_calls=[_tool_call(call) for call in calls]),
        "errors": [],
        **_given(usage=_usage(trial.usage), session_id=trial.session),
    }


def _tool_call(call: ToolCall) -> Json:
    return {
        **_given(id=call.id),
        "name": call.name,
        "arguments": {**call.arguments, **{key: _text(call.arguments.get(key)) for key in _KNOWN_ARGUMENTS}},
        **({} if call.result is None else {"result": _result(call.result)}),
        "success": call.success,
    }


def _event(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event of the session; upstream reads the result of a tool only as an object."""
    result = event.get("tool_result")
    return event if result is None else {**event, "tool_result": _result(result)}


def _result(result: object) -> object:
    if isinstance(result, Mapping):
        return cast("object", result)
    return {"content": result if isinstance(result, str) else json.dumps(plain(result), ensure_ascii=False)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tool_events(trial: TrialOutcome) -> list[Json]:
    """Return every call with its complete arguments and its turn, which grows with each assistant message."""
    turns: dict[str, int] = {}
    messages = 0
    for event in trial.events:
        if event.get("type") == "assistant.message":
            messages += 1
        elif event.get("type") == "tool.execution_start":
            turns[str(event.get("tool_call_id", ""))] = max(1, messages)
    return [
        {
            "turn": turns.get(call.id, 1),
            "sequence": sequence,
            **_given(tool_call_id=call.id),
            "tool_name": call.name,
            **_given(args=dict(call.arguments)),
            **({} if call.result is None else {"result": call.result}),
            "success": call.success,
        }
        for sequence, call in enumerate(trial.tool_calls, 1)
    ]


def _usage(usage: Usage | None) -> Json | None:
    """Return what was used: the counts always, all else when there is something to say; None for nothing."""
    if usage is None:
        return None
    figures = asdict(usage)
    if not any(figures.values()):
        return None
    return {key: value for key, value in figures.items() if value or key in _USAGE_COUNTS}


def _interval(interval: Interval) -> Json:
    return {
        "lower": interval.lower,
        "upper": interval.upper,
        "mean": interval.mean,
        "confidence_level": CONFIDENCE,
        "num_bootstraps": interval.resamples,
    }


def _trigger(trigger: TriggerOutcome) -> Json:
    return {
        "prompt": trigger.prompt,
        **_given(confidence=trigger.confidence),
        "should_trigger": trigger.should_trigger,
        "did_trigger": trigger.did_trigger,
        **_given(error_msg=trigger.error, final_output=trigger.output),
    }


def _given(**values: Any) -> Json:
    """Return the values that are neither empty nor zero: upstream leaves those keys out."""
    return {key: value for key, value in values.items() if value}
