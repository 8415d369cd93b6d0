"""The conversation of a trial: the first prompt, its follow-ups, and graders at checkpoints in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from waza_engine.executors.base import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
)
from waza_engine.graders.base import SkillInvocation, ToolCall, Usage
from waza_engine.results.outcomes import CheckpointOutcome
from waza_engine.runs.bounded import CancelledRunError, TooSlowError, call_bounded
from waza_engine.runs.budget import BudgetExceededError
from waza_engine.scoring.usage import added
from waza_engine.spec.checkpoint import Checkpoint

_GRACE_SECONDS = 5.0


@dataclass(slots=True)
class Conversation:
    """What the turns so far left behind. ``output`` is that of the last turn; everything else adds up.

    It is ``stopped`` when the run reached its limit.
    """

    output: str = ""
    session: str = ""
    events: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    tool_calls: list[ToolCall] = field(default_factory=list[ToolCall])
    skill_invocations: list[SkillInvocation] = field(default_factory=list[SkillInvocation])
    usage: Usage | None = None
    duration_ms: int = 0
    error: str = ""
    answered: bool = False
    stopped: bool = False
    checkpoints: list[CheckpointOutcome] = field(default_factory=list[CheckpointOutcome])

    def add(self, response: ExecutionResponse) -> None:
        """Take in one more turn."""
        self.answered = True
        self.output = response.output
        self.session = response.session or self.session
        self.events += response.events
        self.tool_calls += response.tool_calls
        self.skill_invocations += response.skill_invocations
        self.usage = added(self.usage, response.usage)
        self.error = response.error or ""


def converse(
    executor: Executor,
    first: ExecutionRequest,
    follow_ups: Sequence[str],
    checkpoints: Sequence[Checkpoint],
    at_checkpoint: Callable[[Checkpoint, Conversation], CheckpointOutcome],
    cancellation: Cancellation,
) -> Conversation:
    """Carry out all turns; an error ends the conversation and stands in its ``error``.

    Raises ``CancelledRunError``.
    """
    talk = Conversation()
    by_turn = {checkpoint.after_turn: checkpoint for checkpoint in checkpoints}
    prompts = (first.prompt, *follow_ups)
    for turn, prompt in enumerate(prompts, 1):
        request = first if turn == 1 else replace(first, prompt=prompt, session=talk.session)
        where = "" if turn == 1 else f"follow-up {turn - 1}/{len(follow_ups)}: "
        started = time.monotonic()
        try:
            talk.add(execute(executor, request, cancellation))
        except ExecutorError as error:
            talk.error = str(error)
            talk.stopped = isinstance(error, BudgetExceededError)
        talk.duration_ms += round((time.monotonic() - started) * 1000)
        if talk.error:
            talk.error = where + talk.error
            return talk
        if turn in by_turn:
            outcome = at_checkpoint(by_turn[turn], talk)
            talk.checkpoints.append(outcome)
            if outcome.stopped:
                talk.error = f"the checkpoint after turn {turn} did not pass, and it stops the conversation"
                return talk
    return talk


def execute(executor: Executor, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
    """Return the answer to one prompt.

    Raises:
        ExecutorError: when there is none, also when the executor takes too long or breaks.
        CancelledRunError: when the run is cancelled, at once.

    """
    seconds = request.timeout_seconds
    try:
        return call_bounded(
            lambda: executor.execute(request, cancellation), seconds + _GRACE_SECONDS, cancellation
        )
    except TooSlowError:
        raise ExecutorError(f"the agent did not answer within {seconds:g} seconds") from None
    except (ExecutorError, CancelledRunError):
        raise
    except Exception as error:
        raise ExecutorError(f"the executor failed: {type(error).__name__}: {error}") from error
