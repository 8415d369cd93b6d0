"""A recorded run as graders need it again: what the agent of each trial said, did and used.

Reads this engine's documents and journals, upstream's ``results.json``, and files of the Python era (which
hold no tool calls beyond their transcript). Everything may be missing or null (reference waza.md §7.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from waza_engine.files import FileError, is_named, read_beginning
from waza_engine.graders.base import ModelUsage, SkillInvocation, ToolCall, Usage
from waza_engine.results.formats import read_document, todays_layout
from waza_engine.results.json_values import Block, block_of, blocks_of, number, text_of, whole
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
    if not is_named(path):
        raise RecordingError(f"There is no result file {path}.")
    try:
        read_beginning(path, 1)
    except FileError as error:
        raise RecordingError(f"The result file {path} cannot be read: {error.why}.") from None
    found = read_document(path)
    if found is None or not isinstance(found.get("tasks"), list):
        raise RecordingError(f"{path} is not a result file: it has no list `tasks`.")
    version = text_of(found.get("schemaVersion"))
    if version and version.partition(".")[0] != _MAJOR_VERSION:
        raise RecordingError(f"{path} has the format version {version}; only version 1 can be read.")
    document = with_reviews(todays_layout(found), path)
    tasks = [recorded_task(task) for task in blocks_of(document.get("tasks"))]
    if not tasks:
        raise RecordingError(f"{path} holds no task.")
    engine = block_of(block_of(document, "metadata"), "engine")
    # The name alone: a record must not lead to a file elsewhere.
    eval_file = Path(text_of(engine.get("eval_file"))).name
    return Recording(path, document, text_of(document.get("eval_name")), eval_file, tasks)


def recorded_task(task: Block) -> RecordedTask:
    """Return an element of ``tasks``."""
    runs = blocks_of(task.get("runs"))
    return RecordedTask(
        document=task,
        id=text_of(task.get("test_id")),
        trials=[_trial(run, position) for position, run in enumerate(runs, 1)],
    )


def usage_of(value: object) -> Usage | None:
    """Return a usage as it was written, None for what is none."""
    return _usage(cast("Block", value)) if isinstance(value, Mapping) else None


def _trial(run: Block, position: int) -> RecordedTrial:
    digest = run.get("session_digest")
    events = blocks_of(run.get("transcript"))
    usage = run.get("usage") or block_of(run, "session_digest").get("usage")
    return RecordedTrial(
        document=run,
        number=whole(run.get("run_number")) or position,
        status=text_of(run.get("status")),
        output=text_of(run.get("final_output")),
        transcript=events,
        tool_calls=_tool_calls(run, events) if isinstance(digest, Mapping) or events else None,
        skill_invocations=[
            SkillInvocation(text_of(skill.get("name")), text_of(skill.get("path")))
            for skill in blocks_of(run.get("skill_invocations"))
        ],
        usage=usage_of(usage),
        duration_ms=whole(run.get("duration_ms")),
        error=text_of(run.get("error_msg")),
        workspace=text_of(run.get("workspace_dir")),
        validations={
            name: cast("Block", validation)
            for name, validation in block_of(run, "validations").items()
            if isinstance(validation, Mapping)
        },
        checkpoint_statuses=frozenset(
            text_of(checkpoint.get("status")) for checkpoint in blocks_of(run.get("checkpoints"))
        ),
    )


def _tool_calls(run: Block, events: Sequence[Block]) -> list[ToolCall]:
    """Return the calls with their complete arguments.

    ``tool_events`` has them; the digest of upstream keeps five known ones, so the transcript is asked too.
    """
    recorded = blocks_of(run.get("tool_events"))
    if recorded:
        return [
            ToolCall(
                name=text_of(event.get("tool_name")),
                arguments=block_of(event, "args"),
                id=text_of(event.get("tool_call_id")),
                result=event.get("result"),
                success=event.get("success") is True,
            )
            for event in recorded
        ]
    started = {
        text_of(event.get("tool_call_id")): event
        for event in events
        if event.get("type") == "tool.execution_start" and event.get("tool_name")
    }
    digested = blocks_of(block_of(run, "session_digest").get("tool_calls"))
    if digested:
        return [_digested(call, started.get(text_of(call.get("id")), {})) for call in digested]
    completed = {
        text_of(event.get("tool_call_id")): event
        for event in events
        if event.get("type") == "tool.execution_complete"
    }
    return [
        ToolCall(
            name=text_of(event.get("tool_name")),
            arguments=block_of(event, "arguments"),
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
        for key, value in block_of(call, "arguments").items()
        if value != "" or key not in _ALWAYS_WRITTEN_ARGUMENTS
    }
    return ToolCall(
        name=text_of(call.get("name")),
        arguments={**arguments, **block_of(started, "arguments")},
        id=text_of(call.get("id")),
        result=call.get("result"),
        success=call.get("success") is True,
    )


def _usage(usage: Block) -> Usage:
    cost = usage.get("cost_usd")
    return Usage(
        turns=whole(usage.get("turns")),
        input_tokens=whole(usage.get("input_tokens")),
        output_tokens=whole(usage.get("output_tokens")),
        cache_read_tokens=whole(usage.get("cache_read_tokens")),
        cache_write_tokens=whole(usage.get("cache_write_tokens")),
        premium_requests=number(usage.get("premium_requests")),
        model_metrics={
            model: _model_usage(cast("Block", figures))
            for model, figures in block_of(usage, "model_metrics").items()
            if isinstance(figures, Mapping)
        },
        provider=text_of(usage.get("provider")),
        provider_host=text_of(usage.get("provider_host")),
        cost_usd=number(cost) if isinstance(cost, int | float) else None,
    )


def _model_usage(figures: Block) -> ModelUsage:
    return ModelUsage(
        input_tokens=whole(figures.get("input_tokens")),
        output_tokens=whole(figures.get("output_tokens")),
        cache_read_tokens=whole(figures.get("cache_read_tokens")),
        cache_write_tokens=whole(figures.get("cache_write_tokens")),
        request_count=whole(figures.get("request_count")),
        request_cost=number(figures.get("request_cost")),
    )
