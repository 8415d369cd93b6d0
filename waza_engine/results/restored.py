"""A task of a result document as the outcome that it was written from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from waza_engine.graders.base import Check
from waza_engine.results.json_values import Block, block_of, blocks_of, number, text_of
from waza_engine.results.outcomes import CheckpointOutcome, TaskOutcome, TrialOutcome, Validation
from waza_engine.results.recordings import RecordedTrial, recorded_task, usage_of
from waza_engine.scoring.composite import TrialStatus
from waza_engine.scoring.tasks import task_statistics

_STATUSES: dict[str, TrialStatus] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}


def task_outcome(document: Block) -> TaskOutcome:
    """Return the outcome of an element of ``tasks``, marked as cached: it cost nothing this time."""
    task = recorded_task(document)
    trials = [_trial(trial) for trial in task.trials]
    scores = [trial.score for trial in trials]
    return TaskOutcome(
        id=task.id,
        name=text_of(document.get("display_name")),
        status=_STATUSES.get(text_of(document.get("status")), "error"),
        trials=trials,
        statistics=task_statistics(scores),
        golden=document.get("golden") is True,
        file=text_of(document.get("file")),
        error=text_of(document.get("error_msg")),
        cached=True,
    )


def _trial(trial: RecordedTrial) -> TrialOutcome:
    run = trial.document
    return TrialOutcome(
        number=trial.number,
        status=_STATUSES.get(trial.status, "error"),
        validations={name: _validation(name, found) for name, found in trial.validations.items()},
        attempts=int(number(run.get("attempts"))) or 1,
        duration_ms=trial.duration_ms,
        output=trial.output,
        events=trial.transcript,
        tool_calls=trial.tool_calls or (),
        skill_invocations=trial.skill_invocations,
        usage=trial.usage,
        session=text_of(block_of(run, "session_digest").get("session_id")),
        error=trial.error,
        checkpoints=[_checkpoint(found) for found in blocks_of(run.get("checkpoints"))],
        judge_usage=usage_of(run.get("judge_usage")),
        other_usage=usage_of(run.get("other_usage")),
    )


def _validation(name: str, found: Block) -> Validation:
    status = text_of(found.get("status"))
    return Validation(
        name=name,
        type=text_of(found.get("type")),
        score=number(found.get("score")),
        passed=found.get("passed") is True,
        feedback=text_of(found.get("feedback")),
        weight=number(found.get("weight")) or 1.0,
        status=status if status in ("pending", "error") else "graded",
        details=block_of(found, "details"),
        checks=tuple(_check(check) for check in blocks_of(found.get("checks"))),
        duration_ms=int(number(found.get("duration_ms"))),
    )


def _check(check: Block) -> Check:
    path: object = check.get("path")
    parts = cast("list[Any]", path) if isinstance(path, list) else []
    steps = tuple(part for part in parts if isinstance(part, str | int))
    return Check(steps, check.get("passed") is True, text_of(check.get("message")))


def _checkpoint(found: Block) -> CheckpointOutcome:
    validations = {
        name: _validation(name, cast("Block", value))
        for name, value in block_of(found, "validations").items()
        if isinstance(value, Mapping)
    }
    return CheckpointOutcome(
        after_turn=int(number(found.get("after_turn"))),
        status=_STATUSES.get(text_of(found.get("status")), "error"),
        validations=validations,
        stopped=found.get("stopped") is True,
    )
