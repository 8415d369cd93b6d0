"""A trial as it stands in a result document: its verdicts, its session, and what it used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from waza_engine.graders.base import ToolCall, Usage
from waza_engine.results.failure_artifacts import failure_artifacts
from waza_engine.results.json_values import Json, given, plain, text_of
from waza_engine.results.outcomes import CheckpointOutcome, ResponderOutcome, TrialOutcome, Validation
from waza_engine.scoring.composite import effective_weight
from waza_engine.scoring.cost import Cost

_USAGE_COUNTS = (
    "turns",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "premium_requests",
)
_KNOWN_ARGUMENTS = ("path", "file_text", "command", "description", "skill")


def trial_document(trial: TrialOutcome) -> Json:
    """Return an element of ``runs``."""
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
        **given(transcript=[_event(event) for event in trial.events]),
        "final_output": trial.output,
        **given(
            error_msg=trial.error,
            skill_invocations=[
                {"name": skill.name, **given(path=skill.path)} for skill in trial.skill_invocations
            ],
            usage=usage_document(trial.usage),
            judge_usage=usage_document(trial.judge_usage),
            other_usage=usage_document(trial.other_usage),
            cost=None if trial.cost is None else cost_document(trial.cost),
            failure_artifacts=failure_artifacts(trial),
            workspace_dir=trial.workspace,
            responder=None if trial.responder is None else _responder(trial.responder),
            checkpoints=[_checkpoint(checkpoint) for checkpoint in trial.checkpoints],
            tool_events=_tool_events(trial),
        ),
    }


def _responder(responder: ResponderOutcome) -> Json:
    return {
        "followups_sent": responder.followups_sent,
        "outcome": responder.outcome,
        **given(reason=responder.reason),
    }


def _checkpoint(checkpoint: CheckpointOutcome) -> Json:
    return {
        "after_turn": checkpoint.after_turn,
        "status": checkpoint.status,
        "validations": {name: validation_document(v) for name, v in checkpoint.validations.items()},
        **given(stopped=checkpoint.stopped),
    }


def _session_digest(trial: TrialOutcome) -> Json:
    calls = trial.tool_calls
    return {
        "tool_call_count": len(calls),
        "tools_used": [call.name for call in calls],
        **given(tool_calls=[_tool_call(call) for call in calls]),
        "errors": [],
        **given(usage=usage_document(trial.usage), session_id=trial.session),
    }


def _tool_call(call: ToolCall) -> Json:
    return {
        **given(id=call.id),
        "name": call.name,
        "arguments": {
            **call.arguments,
            **{key: text_of(call.arguments.get(key)) for key in _KNOWN_ARGUMENTS},
        },
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
            **given(tool_call_id=call.id),
            "tool_name": call.name,
            **given(args=dict(call.arguments)),
            **({} if call.result is None else {"result": call.result}),
            "success": call.success,
        }
        for sequence, call in enumerate(trial.tool_calls, 1)
    ]


def usage_document(usage: Usage | None) -> Json | None:
    """Return what was used: the counts always, all else when there is something to say; None for nothing."""
    if usage is None:
        return None
    figures = asdict(usage)
    if not any(figures.values()):
        return None
    return {key: value for key, value in figures.items() if value or key in _USAGE_COUNTS}


def validation_document(validation: Validation) -> Json:
    """Return a verdict as it stands under its name in ``validations``."""
    checks = [
        {"path": list(check.path), "passed": check.passed, **given(message=check.message)}
        for check in validation.checks
    ]
    return {
        "identifier": validation.name,
        "type": validation.type,
        "score": validation.score,
        "weight": effective_weight(validation.weight),
        "passed": validation.passed,
        "feedback": validation.feedback,
        **given(details=dict(validation.details), checks=checks),
        **({"status": validation.status} if validation.status != "graded" else {}),
        "duration_ms": validation.duration_ms,
    }


def cost_document(cost: Cost) -> Json:
    """Return a cost in US dollars, null when nothing of it is known, and the models without a price."""
    unknown = not cost.usd and not cost.known
    return {"usd": None if unknown else cost.usd, **given(unpriced=list(cost.unpriced))}
