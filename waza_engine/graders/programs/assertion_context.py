"""The names that assertions use and scripts receive: the data of a trial, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waza_engine.assertions.kept_trials import TrialNames
from waza_engine.graders.base import GradingContext
from waza_engine.vocabulary import KNOWN_ARGUMENTS, ToolCall


def assertion_context(context: GradingContext) -> dict[str, Any]:
    """Return the names that an assertion may use.

    As in upstream, a call has only the known arguments, "" when absent; others are in the transcript.
    """
    return {
        "output": context.output,
        "outcome": {},
        "transcript": [dict(event) for event in context.transcript],
        "tool_calls": [_tool_call(call) for call in context.tool_calls or ()],
        "errors": [dict(event) for event in context.transcript if _is_error(event)],
        "duration_ms": context.duration_ms,
    }


def trial_names(context: GradingContext) -> TrialNames:
    """Return the same names for a worker that caches them while the answer exists; computed lazily."""
    return TrialNames(lambda: assertion_context(context))


def _tool_call(call: ToolCall) -> dict[str, Any]:
    arguments = {name: call.arguments.get(name) or "" for name in KNOWN_ARGUMENTS}
    data: dict[str, Any] = {"name": call.name, "arguments": arguments, "success": call.success}
    if call.id:
        data["id"] = call.id
    if call.result is not None:
        data["result"] = call.result
    return data


def _is_error(event: Mapping[str, Any]) -> bool:
    return "error" in str(event.get("type", "")) or "error" in str(event.get("content") or "")
