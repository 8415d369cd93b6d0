"""Standard input of a grading program: one JSON object for programs of both worlds.

The keys of the agent-eval-harness (``input``, ``output``, ``hint``, ``trajectory``, ``metadata``, ``cwd``)
are next to those of waza's scripts (``task``, ``transcript``, ``tool_calls``, ``errors``, ``outcome``,
``duration_ms``). No key means two things, so a program written for either runs unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from waza_engine.graders.base import GradingContext
from waza_engine.graders.programs.assertion_context import assertion_context

_STEP_OF_MESSAGE = {"assistant.message": "message", "assistant.reasoning": "thought"}


def program_input(context: GradingContext) -> str:
    """Return the object as a string. Unknown values are left out, never null."""
    turns = [turn for turn in context.turns if turn]
    known: dict[str, Any] = {
        **assertion_context(context),
        "input": turns if len(turns) > 1 else context.prompt,
        "trajectory": trajectory(context),
        "metadata": dict(context.metadata),
        "task": {
            "id": context.task_id,
            "name": context.task_name,
            "description": context.task_description,
            "inputs": {"prompt": context.prompt},
        },
        "workspace": str(context.workspace) if context.workspace is not None else "",
    }
    if context.hint:
        known["hint"] = context.hint
    if context.reference is not None:
        known["reference"] = context.reference
    if context.workspace is not None:
        known["cwd"] = str(context.workspace.absolute())
    return json.dumps(known, default=str)


def trajectory(context: GradingContext) -> list[dict[str, Any]]:
    """Return the steps of the session: messages, thoughts, tool calls.

    Repeated calls of a tool stay separate steps. ``timestamp`` is in milliseconds since 1970, 0 when unknown.
    """
    finished = {
        event.get("tool_call_id"): event
        for event in context.transcript
        if event.get("type") == "tool.execution_complete"
    }
    steps: list[dict[str, Any]] = []
    for event in context.transcript:
        kind = str(event.get("type", ""))
        if kind in _STEP_OF_MESSAGE:
            step = {"type": _STEP_OF_MESSAGE[kind], "content": str(event.get("content") or "")}
        elif kind == "tool.execution_start" and event.get("tool_name"):
            step = _tool_call(event, finished.get(event.get("tool_call_id")))
        else:
            continue
        steps.append({**step, "timestamp": _milliseconds(event.get("timestamp"))})
    if any(step["type"] == "tool_call" for step in steps):
        return steps
    # Executors without a transcript of tools still count the calls.
    calls = [
        {
            "type": "tool_call",
            "name": call.name,
            "status": "completed" if call.success else "failed",
            "input": dict(call.arguments),
            **({} if call.result is None else {"output": call.result}),
            "timestamp": 0,
        }
        for call in context.tool_calls or ()
    ]
    return [*calls, *steps]


def _tool_call(started: Mapping[str, Any], finished: Mapping[str, Any] | None) -> dict[str, Any]:
    step: dict[str, Any] = {"type": "tool_call", "name": started.get("tool_name"), "status": "pending"}
    if started.get("arguments") is not None:
        step["input"] = started["arguments"]
    if finished is not None:
        step["status"] = "completed" if finished.get("success") is True else "failed"
        if finished.get("tool_result") is not None:
            step["output"] = finished["tool_result"]
    return step


def _milliseconds(timestamp: object) -> int:
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        return int(timestamp)
    try:
        return round(datetime.fromisoformat(str(timestamp)).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0
