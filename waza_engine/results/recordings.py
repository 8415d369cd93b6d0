"""A recorded run as graders need it again: what the agent of each trial said, did and used.

Reads this engine's documents and journals, upstream's ``results.json``, and files of the Python era (which
hold no tool calls beyond their transcript). Everything may be missing or null (reference waza.md §7.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from waza_engine.graders.base import ModelUsage, SkillInvocation, ToolCall, Usage
from waza_engine.results.formats import Block, number, read_document, todays_layout
from waza_engine.results.reviewed import with_reviews

_MAJOR_VERSION = "1"
_ALWAYS_WRITTEN_ARGUMENTS = ("path", "file_text", "command", "description", "skill")


class RecordingError(Exception):
    """The file is no record of a run; the text is for the user."""


@dataclass(frozen=True, slots=True)
class RecordedTrial:
    """One trial as recorded. ``tool_calls`` is None when nothing is known of a session.

    ``validations`` are the verdicts of then, as written; ``workspace`` is the directory that was kept, ""
    when the record names none. ``document`` is the element of ``runs`` itself.
    """

    document: Block
    number: int
    status: str
    output: str
    transcript: Sequence[Mapping[str, Any]]
    tool_calls: Sequence[ToolCall] | None
    skill_invocations: Sequence[SkillInvocation]
    usage: Usage | None
    duration_ms: int
    error: str
    workspace: str
    validations: Mapping[str, Block]
    checkpoint_statuses: frozenset[str]

    @property
    def gradable(self) -> bool:
        """Whether there is an answer to grade: a trial that broke before it was graded has none."""
        return bool(self.validations) or not (self.error or self.status == "error")


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """One task as recorded; ``document`` is the element of ``tasks`` itself."""

    document: Block
    id: str
    trials: Sequence[RecordedTrial]


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run. ``eval_file`` is the name of its eval file, "" when the record does not say."""

    path: Path
    document: Block
    eval_name: str
    eval_file: str
    tasks: Sequence[RecordedTask]


def read_recording(path: Path) -> Recording:
    """Return the run of a result file or journal. Raises ``RecordingError``."""
    if not path.is_file():
        raise RecordingError(f"There is no result file {path}.")
    found = read_document(path)
    if found is None or not isinstance(found.get("tasks"), list):
        raise RecordingError(f"{path} is not a result file: it has no list `tasks`.")
    version = _text(found.get("schemaVersion"))
    if version and version.partition(".")[0] != _MAJOR_VERSION:
        raise RecordingError(f"{path} has the format version {version}; only version 1 can be read.")
    document = with_reviews(todays_layout(found), path)
    tasks = [recorded_task(task) for task in _blocks(document.get("tasks"))]
    if not tasks:
        raise RecordingError(f"{path} holds no task.")
    engine = _block(_block(document, "metadata"), "engine")
    # The name alone: a record must not lead to a file elsewhere.
    eval_file = Path(_text(engine.get("eval_file"))).name
    return Recording(path, document, _text(document.get("eval_name")), eval_file, tasks)


def recorded_task(task: Block) -> RecordedTask:
    """Return an element of ``tasks``."""
    runs = _blocks(task.get("runs"))
    return RecordedTask(
        document=task,
        id=_text(task.get("test_id")),
        trials=[_trial(run, position) for position, run in enumerate(runs, 1)],
    )


def usage_of(value: object) -> Usage | None:
    """Return a usage as it was written, None for what is none."""
    return _usage(cast("Block", value)) if isinstance(value, Mapping) else None


def _trial(run: Block, position: int) -> RecordedTrial:
    digest = run.get("session_digest")
    events = _blocks(run.get("transcript"))
    usage = run.get("usage") or _block(run, "session_digest").get("usage")
    return RecordedTrial(
        document=run,
        number=_whole(run.get("run_number")) or position,
        status=_text(run.get("status")),
        output=_text(run.get("final_output")),
        transcript=events,
        tool_calls=_tool_calls(run, events) if isinstance(digest, Mapping) or events else None,
        skill_invocations=[
            SkillInvocation(_text(skill.get("name")), _text(skill.get("path")))
            for skill in _blocks(run.get("skill_invocations"))
        ],
        usage=usage_of(usage),
        duration_ms=_whole(run.get("duration_ms")),
        error=_text(run.get("error_msg")),
        workspace=_text(run.get("workspace_dir")),
        validations={
            name: cast("Block", validation)
            for name, validation in _block(run, "validations").items()
            if isinstance(validation, Mapping)
        },
        checkpoint_statuses=frozenset(
            _text(checkpoint.get("status")) for checkpoint in _blocks(run.get("checkpoints"))
        ),
    )


def _tool_calls(run: Block, events: Sequence[Block]) -> list[ToolCall]:
    """Return the calls with their complete arguments.

    ``tool_events`` has them; the digest of upstream keeps five known ones, so the transcript is asked too.
    """
    recorded = _blocks(run.get("tool_events"))
    if recorded:
        return [
            ToolCall(
                name=_text(event.get("tool_name")),
                arguments=_block(event, "args"),
                id=_text(event.get("tool_call_id")),
                result=event.get("result"),
                success=event.get("success") is True,
            )
            for event in recorded
        ]
    started = {
        _text(event.get("tool_call_id")): event
        for event in events
        if event.get("type") == "tool.execution_start" and event.get("tool_name")
    }
    digested = _blocks(_block(run, "session_digest").get("tool_calls"))
    if digested:
        return [_digested(call, started.get(_text(call.get("id")), {})) for call in digested]
    completed = {
        _text(event.get("tool_call_id")): event
        for event in events
        if event.get("type") == "tool.execution_complete"
    }
    return [
        ToolCall(
            name=_text(event.get("tool_name")),
            arguments=_block(event, "arguments"),
            id=identifier,
            result=completed.get(identifier, {}).get("tool_result"),
            success=completed.get(identifier, {}).get("success") is True,
        )
        for identifier, event in started.items()
    ]


def _digested(call: Block, started: Block) -> ToolCall:
    """Return a call of the digest; known arguments that were not given are written there as ""."""
    arguments = {
        key: value
        for key, value in _block(call, "arguments").items()
        if value != "" or key not in _ALWAYS_WRITTEN_ARGUMENTS
    }
    return ToolCall(
        name=_text(call.get("name")),
        arguments={**arguments, **_block(started, "arguments")},
        id=_text(call.get("id")),
        result=call.get("result"),
        success=call.get("success") is True,
    )


def _usage(usage: Block) -> Usage:
    cost = usage.get("cost_usd")
    return Usage(
        turns=_whole(usage.get("turns")),
        input_tokens=_whole(usage.get("input_tokens")),
        output_tokens=_whole(usage.get("output_tokens")),
        cache_read_tokens=_whole(usage.get("cache_read_tokens")),
        cache_write_tokens=_whole(usage.get("cache_write_tokens")),
        premium_requests=number(usage.get("premium_requests")),
        model_metrics={
            model: _model_usage(cast("Block", figures))
            for model, figures in _block(usage, "model_metrics").items()
            if isinstance(figures, Mapping)
        },
        provider=_text(usage.get("provider")),
        provider_host=_text(usage.get("provider_host")),
        cost_usd=number(cost) if isinstance(cost, int | float) else None,
    )


def _model_usage(figures: Block) -> ModelUsage:
    return ModelUsage(
        input_tokens=_whole(figures.get("input_tokens")),
        output_tokens=_whole(figures.get("output_tokens")),
        cache_read_tokens=_whole(figures.get("cache_read_tokens")),
        cache_write_tokens=_whole(figures.get("cache_write_tokens")),
        request_count=_whole(figures.get("request_count")),
        request_cost=number(figures.get("request_cost")),
    )


def _block(value: Block, key: str) -> Block:
    found = value.get(key)
    return cast("Block", found) if isinstance(found, Mapping) else {}


def _blocks(value: object) -> list[Block]:
    if not isinstance(value, list):
        return []
    return [cast("Block", item) for item in cast("list[object]", value) if isinstance(item, Mapping)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return 0
    return int(value)
