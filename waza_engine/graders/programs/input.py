"""Options and standard input of grading programs: one JSON object for programs of both worlds.

The keys of the agent-eval-harness (``input``, ``output``, ``hint``, ``trajectory``, ``metadata``, ``cwd``)
are next to those of waza's scripts (``task``, ``transcript``, ``tool_calls``, ``errors``, ``outcome``,
``duration_ms``). No key means two things, so a program written for either runs unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast

from annotated_types import Le
from pydantic import Field

from waza_engine.graders.base import GradingContext
from waza_engine.spec.fields import WholeNumber
from waza_engine.spec.limits import LONGEST_SECONDS
from waza_engine.vocabulary import KNOWN_ARGUMENTS, ToolCall

TimeLimit: TypeAlias = Annotated[
    Annotated[WholeNumber, Le(LONGEST_SECONDS)] | None,
    Field(
        description=(
            "The longest run allowed, in seconds. "
            "Default: `graders.programTimeout` of `.waza.yaml`, else 30; zero and less mean the default."
        ),
        examples=[60],
    ),
]
AnswerWords: TypeAlias = Annotated[
    Literal["auto", "harness-json", "waza-json"],
    Field(
        description=(
            "The words of the answer: `harness-json` (`pass`, `score`, `reasoning`, `outcome`), `waza-json` "
            "(`passed`, `score`, `message`, `details`), or whichever of them is printed."
        ),
    ),
]


def starting_directory(context: GradingContext, arguments: Sequence[str]) -> Path:
    """Return the working directory, or the folder at or above the eval file with a file missing here.

    Public suites write program paths from the repository root; a suite that is run from elsewhere still finds
    its own.
    """
    here = Path.cwd()
    suite = context.suite_directory
    for argument in arguments:
        if not argument or argument.startswith("-") or Path(argument).is_absolute() or "\0" in argument:
            continue
        for folder in (here, suite, *suite.parents):
            if _is_file(folder / argument):
                return folder
    return here


def grader_environment(context: GradingContext) -> dict[str, str]:
    """Return the variables that a grading program gets besides the inherited ones."""
    return {"WAZA_WORKSPACE_DIR": str(context.workspace) if context.workspace is not None else ""}


def time_limit(written: int | None, context: GradingContext) -> float:
    """Return the time limit of a program in seconds: ``written`` if it is above 0, else the project's."""
    return float(written) if written and written > 0 else context.program_timeout_seconds


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def assertion_context(context: GradingContext) -> dict[str, Any]:
    """Return the names that an assertion may use.

    As in upstream, a call has only the known arguments, "" when absent; others are in the transcript.
    """
    return {
        "output": context.output,
        "outcome": {},
        "transcript": [dict(event) for event in context.transcript],
        "tool_calls": [_call(call) for call in context.tool_calls or ()],
        "errors": [dict(event) for event in context.transcript if _is_error(event)],
        "duration_ms": context.duration_ms,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = {name: call.arguments.get(name) or "" for name in KNOWN_ARGUMENTS}
    data: dict[str, Any] = {"name": call.name, "arguments": arguments, "success": call.success}
    if call.id:
        data["id"] = call.id
    if call.result is not None:
        data["result"] = call.result
    return data


def _is_error(event: Mapping[str, Any]) -> bool:
    return "error" in str(event.get("type", "")) or "error" in str(event.get("content") or "")


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
    """Return the steps of the session: messages, thoughts, plans, tool calls.

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
        elif kind == "session.plan":
            entries: object = event.get("entries")
            step = {
                "type": "plan",
                "entries": cast("list[Any]", entries) if isinstance(entries, list) else [],
            }
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
        ended = _milliseconds(finished.get("timestamp"))
        if (began := _milliseconds(started.get("timestamp"))) and ended > began:
            step["duration"] = ended - began
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
