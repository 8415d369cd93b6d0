"""A trial in a result file: its verdicts, its session, and its usage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any, cast

from waza_engine.number_formats import format_score
from waza_engine.results.json_values import (
    Block,
    Json,
    RecordT,
    block_of,
    blocks_by_name,
    blocks_of,
    duration_of,
    nonempty,
    number,
    path_of,
    plain,
    record_of,
    text_of,
    texts_of,
    whole,
)
from waza_engine.results.record import (
    Answerer,
    ArrivedAnswer,
    CheckpointOutcome,
    FilesChanged,
    ResponderOutcome,
    TrialOutcome,
    UnjudgedAnswer,
    Validation,
    VerdictStatus,
)
from waza_engine.scoring.cost import COUNTS, Cost, added, total_cost
from waza_engine.scoring.task_scores import TrialStatus, effective_weight, trial_status, worst_status
from waza_engine.vocabulary import (
    KNOWN_ARGUMENTS,
    MEASURES_JUDGES,
    Check,
    CommandInvocation,
    ModelUsage,
    SkillInvocation,
    ToolCall,
    ToolDenial,
    Usage,
)


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
        else {name: verdict_document(v) for name, v in validations.items()},
        "session_digest": None if trial.tool_calls is None else _session_digest(trial, trial.tool_calls),
        **nonempty(transcript=[_event(event) for event in trial.events]),
        "final_output": trial.output,
        **nonempty(
            error_msg=trial.error,
            skill_invocations=[
                {"name": skill.name, **nonempty(path=skill.path)} for skill in trial.skill_invocations
            ],
            usage=usage_document(trial.usage),
            judge_usage=usage_document(trial.judge_usage),
            other_usage=usage_document(trial.other_usage),
            cost=None if trial.cost is None else cost_document(trial.cost),
            failure_artifacts=failure_artifacts(trial),
            workspace_dir=trial.workspace,
            files_changed=files_changed_document(trial.files_changed),
            responder=None if trial.responder is None else _responder(trial.responder),
            checkpoints=[_checkpoint(checkpoint) for checkpoint in trial.checkpoints],
            tool_events=_tool_events(trial),
            stopped=trial.stopped,
            lost=trial.lost,
            command_invocations=[_command_invocation(call) for call in trial.command_invocations],
            unjudged_answers=unjudged_documents(trial.unjudged),
        ),
    }


def answer_document(answer: ArrivedAnswer) -> Json:
    """Return an answer as a journal stores it until its trial is written."""
    where = (
        {"prompt": answer.prompt} if answer.prompt else nonempty(test_id=answer.task, run_number=answer.trial)
    )
    return {
        **where,
        "by": answer.by,
        **nonempty(
            text=answer.text,
            calls=list(answer.calls),
            usage=usage_document(answer.usage),
            cost=None if answer.cost is None else cost_document(answer.cost),
            baseline=answer.baseline,
        ),
    }


def arrived_answer_of(answer: Block) -> ArrivedAnswer:
    """Return an answer that a journal keeps."""
    return ArrivedAnswer(
        by=ANSWERERS.get(text_of(answer.get("by")), "agent"),
        text=text_of(answer.get("text")),
        calls=texts_of(answer.get("calls")),
        usage=usage_of(answer.get("usage")),
        cost=cost_of(answer.get("cost")),
        task=text_of(answer.get("test_id")),
        trial=whole(answer.get("run_number")),
        prompt=text_of(answer.get("prompt")),
        baseline=answer.get("baseline") is True,
    )


def with_answers(run: Block, answers: Sequence[ArrivedAnswer]) -> Json:
    """Return an element of ``runs`` with the answers that have arrived since it was written.

    Those of an agent are its output unless another attempt has a verdict, which is kept.
    """
    found: Json = dict(run)
    cut = run.get("stopped") is True
    by_agent = [answer for answer in answers if answer.by == "agent" and cut]
    for answer in answers:
        key = "judge_usage" if answer.by == "judge" else "usage" if answer in by_agent else "other_usage"
        found |= nonempty(**{key: usage_document(added(usage_of(found.get(key)), answer.usage))})
    costs = [cost for cost in (cost_of(run.get("cost")), *(answer.cost for answer in answers)) if cost]
    unjudged = [answer.unjudged for answer in answers if answer not in by_agent or answer.calls]
    texts = [answer.text for answer in by_agent if answer.text]
    events = [{"type": "assistant.message", "content": text} for text in texts]
    return {
        **found,
        **nonempty(
            cost=cost_document(total_cost(costs)) if costs else None,
            final_output="\n".join(texts),
            transcript=[*blocks_of(run.get("transcript")), *events],
            unjudged_answers=[
                *blocks_of(run.get("unjudged_answers")),
                *unjudged_documents(answer for answer in unjudged if answer.text),
            ],
        ),
    }


def trial_of(run: Block, position: int) -> TrialOutcome:
    """Return an element of ``runs``, the one at a position from 1. Everything may be missing or null."""
    digest = block_of(run, "session_digest")
    events = tuple(blocks_of(run.get("transcript")))
    verdicts, error = verdicts_of(run), text_of(run.get("error_msg"))
    has_session = isinstance(run.get("session_digest"), Mapping) or bool(events)
    status = _status_of(run, verdicts, error)
    captured = text_of(block_of(run, "failure_artifacts").get("captured_at"))
    return TrialOutcome(
        number=whole(run.get("run_number")) or position,
        status=status,
        validations=verdicts if isinstance(run.get("validations"), Mapping) else None,
        attempts=whole(run.get("attempts")) or 1,
        duration_ms=duration_of(run.get("duration_ms")),
        output=text_of(run.get("final_output")),
        events=events,
        tool_calls=_tool_calls(run, events) if has_session else None,
        skill_invocations=_records(SkillInvocation, run.get("skill_invocations")),
        usage=usage_of(run.get("usage") or digest.get("usage")),
        session=text_of(digest.get("session_id")),
        error=error,
        workspace=text_of(run.get("workspace_dir")),
        files_changed=files_changed_of(block_of(run, "files_changed")),
        checkpoints=tuple(map(_checkpoint_of, blocks_of(run.get("checkpoints")))),
        responder=_responder_of(run.get("responder")),
        judge_usage=usage_of(run.get("judge_usage")),
        other_usage=usage_of(run.get("other_usage")),
        cost=cost_of(run.get("cost")),
        stopped=run.get("stopped") is True,
        lost=run.get("lost") is True,
        command_invocations=tuple(map(_command_invocation_of, blocks_of(run.get("command_invocations")))),
        tool_policy=text_of(digest.get("tool_policy_mode")),
        tool_denials=_records(ToolDenial, digest.get("tool_policy_denials")),
        captured_at=captured if status in FAILURES else "",
        unjudged=unjudged_of(run),
    )


def _records(kind: type[RecordT], written: object) -> tuple[RecordT, ...]:
    return tuple(record_of(kind, block) for block in blocks_of(written)) if written else ()


def _command_invocation(call: CommandInvocation) -> Json:
    return {
        "command": call.command,
        **nonempty(args=list(call.arguments)),
        "exit_code": call.exit_code,
        "response_index": call.response,
    }


def _command_invocation_of(call: Block) -> CommandInvocation:
    exit_code, response = call.get("exit_code"), call.get("response_index")
    return CommandInvocation(
        text_of(call.get("command")),
        texts_of(call.get("args")),
        exit_code if isinstance(exit_code, int) else 0,
        response if isinstance(response, int) else -1,
    )


def _responder(responder: ResponderOutcome) -> Json:
    return {
        "followups_sent": responder.followups_sent,
        "outcome": responder.outcome,
        **nonempty(reason=responder.reason),
    }


def _checkpoint(checkpoint: CheckpointOutcome) -> Json:
    return {
        "after_turn": checkpoint.after_turn,
        "status": checkpoint.status,
        "validations": {name: verdict_document(v) for name, v in checkpoint.validations.items()},
        **nonempty(stopped=checkpoint.stopped),
    }


def _session_digest(trial: TrialOutcome, calls: Sequence[ToolCall]) -> Json:
    return {
        "tool_call_count": len(calls),
        "tools_used": [call.name for call in calls],
        **nonempty(tool_calls=[_tool_call(call) for call in calls]),
        "errors": [],
        **nonempty(
            usage=usage_document(trial.usage),
            session_id=trial.session,
            tool_policy_mode=trial.tool_policy,
            tool_policy_denials=[asdict(denial) for denial in trial.tool_denials],
        ),
    }


def _tool_call(call: ToolCall) -> Json:
    return {
        **nonempty(id=call.id),
        "name": call.name,
        "arguments": {
            **call.arguments,
            **{key: text_of(call.arguments.get(key)) for key in KNOWN_ARGUMENTS},
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
            **nonempty(tool_call_id=call.id),
            "tool_name": call.name,
            **nonempty(args=dict(call.arguments)),
            **({} if call.result is None else {"result": call.result}),
            "success": call.success,
        }
        for sequence, call in enumerate(trial.tool_calls or (), 1)
    ]


def _tool_calls(run: Block, events: Sequence[Block]) -> tuple[ToolCall, ...]:
    """Return the calls with their complete arguments.

    ``tool_events`` has them; the digest of upstream keeps five known ones, so the transcript is read too.
    """
    recorded = blocks_of(run.get("tool_events"))
    if recorded:
        return tuple(
            ToolCall(
                name=text_of(event.get("tool_name")),
                arguments=block_of(event, "args"),
                id=text_of(event.get("tool_call_id")),
                result=event.get("result"),
                success=event.get("success") is True,
            )
            for event in recorded
        )
    if not events and "tool_calls" not in block_of(run, "session_digest"):
        return ()
    started = {
        text_of(event.get("tool_call_id")): event
        for event in events
        if event.get("type") == "tool.execution_start" and event.get("tool_name")
    }
    digested = blocks_of(block_of(run, "session_digest").get("tool_calls"))
    if digested:
        return tuple(_digested(call, started.get(text_of(call.get("id")), {})) for call in digested)
    completed = {
        text_of(event.get("tool_call_id")): event
        for event in events
        if event.get("type") == "tool.execution_complete"
    }
    return tuple(
        ToolCall(
            name=text_of(event.get("tool_name")),
            arguments=block_of(event, "arguments"),
            id=identifier,
            result=completed.get(identifier, {}).get("tool_result"),
            success=completed.get(identifier, {}).get("success") is True,
        )
        for identifier, event in started.items()
    )


def _digested(call: Block, started: Block) -> ToolCall:
    """Return a call of the digest; known arguments that were not given are written there as ""."""
    arguments = {
        key: value
        for key, value in block_of(call, "arguments").items()
        if value != "" or key not in KNOWN_ARGUMENTS
    }
    return ToolCall(
        name=text_of(call.get("name")),
        arguments={**arguments, **block_of(started, "arguments")},
        id=text_of(call.get("id")),
        result=call.get("result"),
        success=call.get("success") is True,
    )


def _responder_of(value: object) -> ResponderOutcome | None:
    if not isinstance(value, Mapping):
        return None
    responder = cast("Block", value)
    match responder.get("outcome"):
        case "cap_exhausted" | "stopped" | "abstained" | "error" as outcome:
            return ResponderOutcome(
                whole(responder.get("followups_sent")), outcome, text_of(responder.get("reason"))
            )
        case _:
            return None


def _checkpoint_of(found: Block) -> CheckpointOutcome:
    return CheckpointOutcome(
        after_turn=whole(found.get("after_turn")),
        status=written_status(found),
        validations=verdicts_of(found),
        stopped=found.get("stopped") is True,
    )


def _status_of(run: Block, verdicts: Mapping[str, Validation], error: str) -> TrialStatus:
    """Return the written status if the verdicts, those of checkpoints too, agree.

    Without a status, return the one that follows from them.
    """
    graded = [verdict.graded for verdict in verdicts.values()]
    if not text_of(run.get("status")):
        return trial_status(graded, execution_error=bool(error))
    written = written_status(run)
    if written != "passed":
        return written
    for checkpoint in blocks_of(run.get("checkpoints")):
        graded += [verdict.graded for verdict in verdicts_of(checkpoint).values()]
    return worst_status(written, [trial_status(graded)])


def written_status(block: Block) -> TrialStatus:
    """Return the status of a task, a trial or a checkpoint as it is written; an unknown one is an error."""
    match block.get("status"):
        case "passed" | "failed" | "skipped" as known:
            return known
        case _:
            return "error"


def files_changed_document(files: FilesChanged) -> Json:
    """Return ``files_changed`` of a trial; empty when no change is known."""
    return nonempty(
        created=list(files.created),
        changed=list(files.changed),
        deleted=list(files.deleted),
        more=files.more,
    )


def files_changed_of(block: Block) -> FilesChanged:
    """Return the changes in a document. Everything may be missing or of another type."""
    if not block:
        return FilesChanged()
    found = record_of(FilesChanged, block)
    return replace(found, more=max(0, found.more))


ANSWERERS: dict[str, Answerer] = {"agent": "agent", "judge": "judge", "responder": "responder"}


def unjudged_documents(answers: Iterable[UnjudgedAnswer]) -> list[Json]:
    """Return the list of answers."""
    return [{**nonempty(prompt=answer.prompt), "by": answer.by, "text": answer.text} for answer in answers]


def unjudged_of(block: Block) -> tuple[UnjudgedAnswer, ...]:
    """Return the answers of a trial or a run."""
    return tuple(
        UnjudgedAnswer(
            ANSWERERS.get(text_of(answer.get("by")), "agent"),
            text_of(answer.get("text")),
            text_of(answer.get("prompt")),
        )
        for answer in blocks_of(block.get("unjudged_answers"))
    )


FAILURES = ("failed", "error")
"""The statuses of trials that have them."""

LONGEST_BYTES = 10_000
_MOST_LINES = 10
_LONGEST_LINE = 300
_COMPLAINT = re.compile(
    r"\b(error|exception|traceback|panic|fatal|timed out|timeout|denied|refused|not found)\b", re.IGNORECASE
)


def failure_artifacts(trial: TrialOutcome) -> Json:
    """Return them for a trial that failed or broke, nothing for any other."""
    if trial.status not in FAILURES:
        return {}
    answer, answer_is_cut = _beginning(trial.output)
    error, error_is_cut = _beginning(trial.error)
    failed = [found for found in (trial.validations or {}).values() if not _well(found)]
    return {
        **nonempty(
            stderr=error,
            stdout=answer,
            failed_graders=[found.name for found in failed],
            error_patterns=list(_complaints(f"{trial.error}\n{trial.output}")),
        ),
        "exit_code": 1 if trial.status == "failed" else 2,
        "triage_summary": "\n".join(_summary(trial, failed)),
        **nonempty(captured_at=trial.captured_at),
        "context": {
            "stdout_truncated": str(answer_is_cut).lower(),
            "stderr_truncated": str(error_is_cut).lower(),
        },
    }


def _summary(trial: TrialOutcome, failed: list[Validation]) -> Iterator[str]:
    yield f"## Trial {trial.number}: {trial.status}"
    yield ""
    if trial.error:
        yield f"- **Error**: {_one_line(trial.error)}"
    for found in failed:
        yield f"- **{found.name}** ({found.type}, {format_score(found.score)}): {_one_line(found.feedback)}"
    for checkpoint in trial.checkpoints:
        if checkpoint.status in ("failed", "error"):
            yield f"- **Checkpoint after turn {checkpoint.after_turn}**: {checkpoint.status}"


def _well(found: Validation) -> bool:
    return found.shown_status in ("pending", "advisory") or (found.status == "graded" and found.passed)


def _beginning(text: str) -> tuple[str, bool]:
    content = text.encode("utf-8", "replace")
    return content[:LONGEST_BYTES].decode("utf-8", "ignore"), len(content) > LONGEST_BYTES


def _complaints(text: str) -> Iterator[str]:
    """Yield the first lines that speak of an error, each once."""
    found = dict.fromkeys(_one_line(line) for line in text.splitlines() if _COMPLAINT.search(line))
    yield from list(found)[:_MOST_LINES]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_LINE]


def verdict_blocks(trial: Block) -> dict[str, Block]:
    """Return the verdicts of an element of ``runs``, or of a checkpoint, by their graders, as written."""
    return blocks_by_name(trial, "validations")


def verdict_count(task: Block) -> int:
    """Return how many verdicts an element of ``tasks`` has, in any format, without reading them."""
    trials = [*blocks_of(task.get("runs")), *blocks_of(task.get("trials"))]
    judged = chain(trials, *(blocks_of(trial.get("checkpoints")) for trial in trials))
    return sum(len(block_of(each, "validations")) + len(block_of(each, "grader_results")) for each in judged)


def verdicts_of(trial: Block) -> dict[str, Validation]:
    """Return the verdicts of an element of ``runs``, or of a checkpoint, by their graders."""
    return {name: verdict_of(name, verdict) for name, verdict in verdict_blocks(trial).items()}


def verdict_of(name: str, verdict: Block) -> Validation:
    """Return one verdict. Quick: an editor waits for those of dozens of files."""
    found = verdict.get
    details, checks = block_of(verdict, "details"), found("checks")
    return Validation(
        name,
        text_of(found("type")),
        score_of(found("score")),
        found("passed") is True,
        # Files of the Python era have ``message``.
        text_of(found("feedback")) or text_of(found("message")),
        effective_weight(number(found("weight"))),
        _status(found("status") or details.get("status")),
        details,
        tuple([_check(check) for check in blocks_of(checks)]) if checks else (),
        duration_of(found("duration_ms")),
        found("required") is not False and found("type") != MEASURES_JUDGES,
    )


def score_of(written: object) -> float:
    """Return a score as it counts: limited to 0 to 1, for files of other tools."""
    return min(max(number(written), 0.0), 1.0)


def verdict_document(verdict: Validation) -> Json:
    """Return a verdict as its entry in ``validations``."""
    checks = [
        {
            "path": list(check.path),
            "passed": check.passed,
            **nonempty(message=check.message, expected=check.expected, actual=check.actual, rule=check.rule),
        }
        for check in verdict.checks
    ]
    return {
        "identifier": verdict.name,
        "type": verdict.type,
        "score": verdict.score,
        "weight": effective_weight(verdict.weight),
        "passed": verdict.passed,
        "feedback": verdict.feedback,
        **nonempty(details=dict(verdict.details), checks=checks),
        **({"status": verdict.status} if verdict.status != "graded" else {}),
        **({} if verdict.required else {"required": False}),
        "duration_ms": verdict.duration_ms,
    }


def _status(written: object) -> VerdictStatus:
    """Return the status; upstream writes none, and the Python era marks a review to come in ``details``."""
    match written:
        case "pending" | "calibration_pending":
            return "pending"
        case "error":
            return "error"
        case _:
            return "graded"


def _check(check: Block) -> Check:
    found = check.get
    return Check(
        path_of(found("path")),
        found("passed") is True,
        text_of(found("message")),
        text_of(found("expected")),
        text_of(found("actual")),
        text_of(found("rule")),
    )


def usage_document(usage: Usage | None) -> Json | None:
    """Return the usage: the counts always, other values if not empty; None for no usage."""
    if usage is None:
        return None
    numbers = asdict(usage)
    if not any(numbers.values()):
        return None
    return {key: value for key, value in numbers.items() if value or key in COUNTS}


def usage_of(value: object) -> Usage | None:
    """Return a usage as it was written, None if the value is not one."""
    return _usage(cast("Block", value)) if isinstance(value, Mapping) else None


def cost_document(cost: Cost) -> Json:
    """Return a cost in US dollars, null when it is entirely unknown, and the models without a price."""
    unknown = not cost.usd and not cost.known
    return {"usd": None if unknown else cost.usd, **nonempty(unpriced=list(cost.unpriced))}


def cost_of(value: object) -> Cost | None:
    """Return a cost as it was written, None if the value is not one."""
    if not isinstance(value, Mapping):
        return None
    cost = cast("Block", value)
    return Cost(number(cost.get("usd")), texts_of(cost.get("unpriced")))


def _usage(usage: Block) -> Usage:
    return replace(
        record_of(Usage, usage),
        model_metrics={
            model: record_of(ModelUsage, cast("Block", numbers))
            for model, numbers in block_of(usage, "model_metrics").items()
            if isinstance(numbers, Mapping)
        },
    )
