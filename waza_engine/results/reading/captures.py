"""Captures and trials of agent-eval-harness as the record of a run.

| of a row | in the record |
|---|---|
| a capture | a task with one trial; a further capture with its id is its next trial |
| trials | a task with these trials |
| `score`, or `pass`, `score`, `reasoning`, `outcome` of a trial | the verdict of the grader `grader` |
| `trajectory` | the transcript and the tool calls |
| `timing`, `duration` | the start, the duration, the tokens |
| `errors`, `error`, `timedOut`, or the reason of a trial without an answer | the error of the trial |

The workspace of the agent is not in a row. Rows of captures do not say where a turn ends, so a conversation
has no messages of its user. Light, no models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from waza_engine.results.codec.run_documents import run_document, run_of
from waza_engine.results.codec.trials import trial_document
from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    blocks_of,
    number,
    object_in,
    text_of,
    whole,
)
from waza_engine.results.record import TrialOutcome, Validation
from waza_engine.scoring.task_scores import task_status, trial_status
from waza_engine.spec.grader_results import HARNESS_KEYS
from waza_engine.spec.harness_files import (
    AGENT_ERRORS,
    BROKEN_GRADER,
    DIGEST,
    agent_errors,
    row_kind,
    verdict_issue,
)
from waza_engine.vocabulary import ToolCall, Usage

GRADER = "grader"
"""The name of the one grader of a row."""
OF_ROWS = "rows"
"""The setting of a record that was made of rows: it has no files of the agent."""
_GRADER_ERROR = "Error: "
_START = datetime(1970, 1, 1, tzinfo=UTC)
_INCOMPLETE = "a row has fewer trials than its `k` says, so not all of them ran"
_EVENTS = {"message": "assistant.message", "thought": "assistant.reasoning"}


def rows_document(content: bytes) -> Json | None:
    """Return captures or trials as the document of a run; None for any other content, or a broken line."""
    rows: list[Block] = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.strip():
            continue
        row = object_in(line)
        if row is None or (not rows and row_kind(row) not in ("capture", "trials")):
            return None
        rows.append(row)
    return _document(rows) if rows else None


def first_broken_line(text: str) -> int | None:
    """Return the number of the first line that is no JSON object, None when all are."""
    lines = enumerate(text.split("\n"), 1)
    return next((number for number, line in lines if line.strip() and object_in(line) is None), None)


def _document(rows: Sequence[Block]) -> Json:
    trials: dict[str, list[TrialOutcome]] = {}
    missing: dict[str, int] = {}
    for row in rows:
        listed = trials.setdefault(task := text_of(row.get("id")), [])
        before = len(listed)
        listed += _trials(row, before)
        if (lacks := whole(row.get("k")) - (len(listed) - before)) > 0 and "trials" in row:
            missing[task] = missing.get(task, 0) + lacks
    starts = [number(start) for row in rows if (start := block_of(row, "timing").get("start"))]
    engine: Json = {"settings": {OF_ROWS: row_kind(rows[0])}}
    if missing:
        engine |= {"status": "canceled", "message": _INCOMPLETE}
    document: Json = {
        "timestamp": _time(min(starts)) if starts else None,
        "config": {"engine_type": "command", "runs_per_test": max(map(len, trials.values()))},
        "metadata": {"engine": engine},
        "tasks": [
            {
                "test_id": task,
                "display_name": task,
                "status": task_status([trial.status for trial in of_task]),
                "stats": {"total_runs": len(of_task)},
                "runs": [trial_document(trial) for trial in of_task],
                **(
                    {"error_msg": f"{len(of_task)} of {len(of_task) + missing[task]} trials ran"}
                    if task in missing
                    else {}
                ),
            }
            for task, of_task in trials.items()
        ],
    }
    return run_document(run_of(document))


def _trials(row: Block, before: int) -> Iterator[TrialOutcome]:
    entries = blocks_of(row.get("trials"))
    errors = block_of(block_of(row, "metadata"), AGENT_ERRORS)
    if not entries and "trials" not in row:
        yield _capture(row, before + 1)
    for position, entry in enumerate(entries, 1):
        reason = text_of(entry.get("reasoning"))
        nothing = not (entry.get("output") or entry.get("trajectory"))
        broke = "score" not in entry and reason.startswith(_GRADER_ERROR)
        error = text_of(errors.get(str(entry.get("trialNum") or position))) or "; ".join(agent_errors(entry))
        error = error or (reason.removeprefix(_GRADER_ERROR) if broke and nothing else "")
        score = {key: entry[key] for key in HARNESS_KEYS if key in entry}
        is_graded = not score.keys().isdisjoint(("pass", "score"))
        verdict = _verdict(score if is_graded else None)
        verdict = _broken_verdict(reason.removeprefix(_GRADER_ERROR)) if broke else verdict
        duration = number(entry.get("duration"))
        found = before + (whole(entry.get("trialNum")) or position)
        yield _trial(row, entry, found, verdict=None if error else verdict, error=error, duration=duration)


def _capture(row: Block, position: int) -> TrialOutcome:
    errors = agent_errors(row)
    verdict = _verdict(row.get("score"))
    # Only our own rows say that the grader broke, and not the agent.
    if errors and text_of(block_of(row, "metadata").get(DIGEST)).endswith(BROKEN_GRADER):
        verdict = _broken_verdict(errors.pop())
    timing = block_of(row, "timing")
    duration = number(timing.get("total")) or number(timing.get("end")) - number(timing.get("start"))
    return _trial(row, row, position, verdict=verdict, error="; ".join(errors), duration=duration)


def _trial(
    row: Block, entry: Block, position: int, *, verdict: Validation | None, error: str, duration: float
) -> TrialOutcome:
    timing = block_of(row, "timing")
    output = text_of(entry.get("output"))
    calls, events = _session(row, blocks_of(entry.get("trajectory")), number(timing.get("start")))
    return TrialOutcome(
        number=position,
        status=trial_status([] if verdict is None else [verdict.graded], execution_error=bool(error)),
        validations={} if verdict is None else {GRADER: verdict},
        duration_ms=max(0, round(duration)),
        output=output,
        events=events,
        tool_calls=calls,
        usage=_usage(timing),
        error=error,
    )


def _verdict(score: object) -> Validation | None:
    if score is None:
        return None
    if issue := verdict_issue(score):
        return _broken_verdict(f"the recorded verdict cannot be used: {issue}")
    found = cast("Block", score)
    value = min(1.0, max(0.0, number(found["score"])))
    reasoning, details = text_of(found.get("reasoning")), block_of(found, "outcome")
    return Validation(GRADER, "inline", value, found["pass"], reasoning, details=details)


def _broken_verdict(why: str) -> Validation:
    return Validation(GRADER, "inline", 0.0, passed=False, feedback=why, status="error")


def _session(row: Block, steps: Sequence[Block], start: float) -> tuple[list[ToolCall], list[Json]]:
    """Return the tool calls and the transcript of a trajectory, whose times count from ``start``."""
    calls: list[ToolCall] = []
    prompt = row.get("input")
    prompts = cast("list[Any]", prompt) if isinstance(prompt, list) else [prompt]
    events: list[Json] = []
    if len(prompts) == 1:
        events.append({"type": "user.message", "content": text_of(prompts[0])})
    for step in steps:
        kind, at = text_of(step.get("type")), number(step.get("timestamp"))
        time = {"timestamp": _time(start + at)} if start else {}
        if kind in _EVENTS:
            events.append({"type": _EVENTS[kind], "content": text_of(step.get("content")), **time})
        elif kind == "plan":
            events.append({"type": "session.plan", "entries": blocks_of(step.get("entries")), **time})
        elif kind == "tool_call":
            call, status = _call(step, f"call-{len(calls) + 1}"), step.get("status")
            calls.append(call)
            events.append(
                {
                    "type": "tool.execution_start",
                    "tool_call_id": call.id,
                    "tool_name": call.name,
                    "arguments": call.arguments,
                    **time,
                }
            )
            if status in ("completed", "failed"):
                end = {"timestamp": _time(start + at + number(step.get("duration")))} if start else {}
                result = {} if call.result is None else {"tool_result": call.result}
                events.append(
                    {
                        "type": "tool.execution_complete",
                        "tool_call_id": call.id,
                        "success": call.success,
                        **result,
                        **end,
                    }
                )
    return calls, events


def _call(step: Block, identifier: str) -> ToolCall:
    status = step.get("status")
    return ToolCall(
        name=text_of(step.get("name")),
        arguments=block_of(step, "input"),
        id=identifier,
        result=step.get("output"),
        success=status == "completed",
    )


def _usage(timing: Block) -> Usage | None:
    if "inputTokens" not in timing and "outputTokens" not in timing:
        return None
    tokens = whole(timing.get("inputTokens")), whole(timing.get("outputTokens"))
    return Usage(1, *tokens)


def _time(milliseconds: float) -> str | None:
    try:
        return (_START + timedelta(milliseconds=milliseconds)).isoformat()
    except OverflowError:
        return None
