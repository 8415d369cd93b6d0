"""The conversation of a trial: the first prompt, its follow-ups, and graders at checkpoints in between."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from waza_engine.counting import in_seconds
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
)
from waza_engine.graders.judge import AgentTool
from waza_engine.results.record import CheckpointOutcome, ResponderOutcome
from waza_engine.runs.limits.budget import BudgetExceededError
from waza_engine.runs.limits.cancellation import CancelledRunError, TooSlowError, call_bounded
from waza_engine.scoring.cost import added, total
from waza_engine.spec.task_file import Checkpoint, Responder
from waza_engine.vocabulary import PaidAnswer, SkillInvocation, ToolCall, Usage

_GRACE_SECONDS = 5.0


@dataclass(slots=True)
class Conversation:
    """The result of the turns so far. ``output`` is that of the last turn; everything else adds up.

    ``prompts`` are those that were sent. It is ``stopped`` when the run reached its limit, ``interrupted``
    when it was cancelled after an answer; ``transient`` says that its error may go away by itself, and
    ``knows_files`` whether the workspace has the files that the agent left.
    """

    prompts: list[str] = field(default_factory=list[str])
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
    interrupted: bool = False
    transient: bool = False
    knows_files: bool = True
    checkpoints: list[CheckpointOutcome] = field(default_factory=list[CheckpointOutcome])

    @property
    def left_nothing(self) -> bool:
        """Return whether the agent gave up before any output or call: there is nothing to grade then."""
        return bool(self.error) and not (self.output.strip() or self.tool_calls or self.skill_invocations)

    def add(self, response: ExecutionResponse) -> None:
        """Add one more turn."""
        self.answered = True
        self.output = response.output
        self.session = response.session or self.session
        self.events += response.events
        self.tool_calls += response.tool_calls
        self.skill_invocations += response.skill_invocations
        self.usage = added(self.usage, response.usage)
        self.error = response.error or ""
        self.transient = response.transient
        self.knows_files = response.knows_files

    def add_arrived(self, answers: Sequence[PaidAnswer]) -> None:
        """Add the answers that have arrived of an unfinished turn: they are paid for."""
        texts = [answer.text for answer in answers if answer.text]
        self.output = "\n".join(texts) or self.output
        self.events += [{"type": "assistant.message", "content": text} for text in texts]
        self.tool_calls += [call for answer in answers for call in answer.calls]
        self.usage = total((self.usage, *(answer.usage for answer in answers)))

    def fail(self, error: ExecutorError) -> None:
        """Store an error instead of an answer."""
        self.error = str(error)
        self.transient = error.transient
        self.stopped = isinstance(error, BudgetExceededError)


class Partner(Protocol):
    """The sender of all prompts after the first."""

    def reply(self, agent_message: str) -> str | None:
        """Return the next prompt after the agent's answer, None when the conversation is over.

        Raises ``PartnerError`` when it should go on and cannot.
        """
        ...

    def where(self, number: int) -> str:
        """Return how an error names the follow-up of a number (from 1)."""
        ...


class PartnerError(Exception):
    """There is no next prompt although there should be; the message is for the author of the suite."""


class FollowUps:
    """A partner that knows all its prompts beforehand."""

    def __init__(self, prompts: Sequence[str]) -> None:
        self._prompts = prompts
        self._waiting = deque(prompts)

    @property
    def waiting(self) -> int:
        """Return how many prompts are still to come."""
        return len(self._waiting)

    def reply(self, agent_message: str) -> str | None:
        """Return the next prompt, regardless of the answer."""
        del agent_message
        return self._waiting.popleft() if self._waiting else None

    def where(self, number: int) -> str:
        """Return the number and how many there are."""
        return f"follow-up {number}/{len(self._prompts)}"


def converse(
    executor: Executor,
    first: ExecutionRequest,
    partner: Partner,
    checkpoints: Sequence[Checkpoint],
    at_checkpoint: Callable[[Checkpoint, Conversation], CheckpointOutcome],
    cancellation: Cancellation,
    on_answer: Callable[[Conversation], None] = lambda so_far: None,
) -> Conversation:
    """Execute all turns; an error ends the conversation and is stored in its ``error``.

    ``on_answer`` is called after each turn, before anything is graded.

    Raises ``CancelledRunError`` when the run is cancelled before the first answer.
    """
    talk = Conversation()
    by_turn = {checkpoint.after_turn: checkpoint for checkpoint in checkpoints}
    prompt: str | None = first.prompt
    with _kept_when_cancelled(talk):
        while prompt is not None:
            turn = len(talk.prompts) + 1
            talk.prompts.append(prompt)
            session = first.session if turn == 1 else talk.session
            waiting = partner.waiting if isinstance(partner, FollowUps) else 0
            arrived: list[PaidAnswer] = []
            paid = partial(_note, arrived, first.on_answer)
            request = replace(first, prompt=prompt, session=session, follow_ups=waiting, on_answer=paid)
            started, took_ms = time.monotonic(), None
            try:
                response = execute(executor, request, cancellation)
                talk.add(response)
                took_ms = response.duration_ms
            except ExecutorError as error:
                talk.add_arrived(arrived)
                talk.fail(error)
            except CancelledRunError:
                talk.add_arrived(arrived)
                talk.answered = talk.answered or bool(arrived)
                raise
            talk.duration_ms += round((time.monotonic() - started) * 1000) if took_ms is None else took_ms
            if talk.error:
                talk.error = talk.error if turn == 1 else f"{partner.where(turn - 1)}: {talk.error}"
            if talk.answered:
                on_answer(talk)
            if talk.error:
                return talk
            if turn in by_turn:
                outcome = at_checkpoint(by_turn[turn], talk)
                talk.checkpoints.append(outcome)
                if outcome.stopped:
                    talk.error = (
                        f"the checkpoint after turn {turn} did not pass, and it stops the conversation"
                    )
                    return talk
            try:
                prompt = partner.reply(talk.output)
            except ExecutorError as error:
                talk.fail(error)
                return talk
            except PartnerError as error:
                talk.error = str(error)
                return talk
    return talk


def _note(arrived: list[PaidAnswer], paid: Callable[[PaidAnswer], None], answer: PaidAnswer) -> None:
    arrived.append(answer)
    paid(answer)


@contextlib.contextmanager
def _kept_when_cancelled(talk: Conversation) -> Generator[None]:
    """Keep the answers before the one that was cancelled: they are paid for."""
    try:
        yield
    except CancelledRunError:
        if not talk.answered:
            raise
        talk.interrupted = True


def execute(executor: Executor, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
    """Return the answer to one prompt.

    Raises:
        ExecutorError: when there is no answer, also when the executor takes too long or breaks.
        CancelledRunError: immediately, when the run is cancelled.

    """
    seconds = request.timeout_seconds
    try:
        return call_bounded(
            lambda: executor.execute(request, cancellation), seconds + _GRACE_SECONDS, cancellation
        )
    except TooSlowError:
        raise ExecutorError(f"the agent did not answer within {in_seconds(seconds)}") from None
    except (ExecutorError, CancelledRunError):
        raise
    except Exception as error:
        raise ExecutorError(f"the executor failed: {type(error).__name__}: {error}") from error


DECISION_SECONDS = 120.0
REPLY, STOP, ABSTAIN = "responder_reply", "responder_stop", "responder_abstain"


@dataclass(frozen=True, slots=True)
class _Decision:
    kind: Literal["reply", "stop", "abstain"]
    text: str = ""


class ModelResponder:
    """The other side of a conversation. Its session lasts for the whole conversation and has no skills.

    ``outcome`` holds its result so far.
    """

    def __init__(
        self,
        spec: Responder,
        executor: Executor,
        model: str,
        cancellation: Cancellation,
        *,
        reasoning_effort: str = "",
    ) -> None:
        self._spec = spec
        self._executor = executor
        self._model = spec.model or model
        self._cancellation = cancellation
        self._reasoning_effort = reasoning_effort
        self._session = ""
        self._sent = 0
        self.outcome = ResponderOutcome(0, "error")

    def reply(self, agent_message: str) -> str | None:
        """Return the answer to the agent's message, None when the conversation is over.

        Raises:
            PartnerError: when it abstains, or does not decide as it must.
            BudgetExceededError: when the run has reached its limit.
            CancelledRunError: when the run is cancelled.

        """
        if self._sent >= self._spec.max_followups:
            self.outcome = ResponderOutcome(self._sent, "cap_exhausted")
            return None
        try:
            decision = self._decide(agent_message)
        except PartnerError as error:
            self.outcome = ResponderOutcome(self._sent, "error", str(error))
            raise
        match decision.kind:
            case "reply":
                self._sent += 1
                self.outcome = ResponderOutcome(self._sent, "error")
                return decision.text
            case "stop":
                self.outcome = ResponderOutcome(self._sent, "stopped")
                return None
            case "abstain":
                self.outcome = ResponderOutcome(self._sent, "abstained", decision.text)
                raise PartnerError(f"the responder abstained: {decision.text}")

    def where(self, number: int) -> str:
        """Return the number: how many there will be is not known."""
        return f"follow-up {number}"

    def broken_off(self, why: str) -> ResponderOutcome:
        """Return the outcome of a conversation that ended in an error: the agent's, or that of a decision."""
        return self.outcome if self.outcome.reason else ResponderOutcome(self._sent, "error", why)

    def _decide(self, agent_message: str) -> _Decision:
        ballot = _Ballot()
        with tempfile.TemporaryDirectory(prefix="waza-", ignore_cleanup_errors=True) as folder:
            request = ExecutionRequest(
                prompt=self._question(agent_message),
                workspace=Path(folder),
                model=self._model,
                timeout_seconds=DECISION_SECONDS,
                session=self._session or None,
                tools=ballot.tools,
                reasoning_effort=self._reasoning_effort,
            )
            response: ExecutionResponse | None = None
            broke = ""
            try:
                response = execute(self._executor, request, self._cancellation)
                self._session = response.session or self._session
                broke = response.error or ""
            except BudgetExceededError:
                raise
            except ExecutorError as error:
                broke = str(error)
        decision = ballot.decision()
        if decision is not None:
            # An error after a clear decision does not revoke it.
            return decision
        raise PartnerError(
            f"the responder gave no answer: {broke}"
            if broke
            else f"the responder called none of its tools `{REPLY}`, `{STOP}` and `{ABSTAIN}`"
        )

    def _question(self, agent_message: str) -> str:
        choice = (
            f"Call exactly one tool, once: `{REPLY}` with your answer, `{STOP}` when the agent is done and "
            f"needs nothing from you, or `{ABSTAIN}` when it asks for something that you cannot know."
        )
        message = f"The agent wrote:\n\n{agent_message}\n\n{choice}"
        if self._session:
            return message
        return f"{self._spec.instructions}\n\nYou play this user in a conversation with an agent. {message}"


class _Ballot:
    """Takes the one decision of a turn; a second one, or one without its text, invalidates it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: _Decision | None = None
        self._fault = ""
        self.tools = (
            AgentTool(
                REPLY,
                "Answer the agent as the user.",
                _text_parameter("answer", "The words of the user."),
                lambda arguments: self._take("reply", arguments, "answer"),
            ),
            AgentTool(
                STOP,
                "The agent is done and needs no answer.",
                {"type": "object", "properties": {}},
                lambda arguments: self._take("stop", arguments, None),
            ),
            AgentTool(
                ABSTAIN,
                "The user cannot answer: the requested information is unknown.",
                _text_parameter("reason", "The missing information."),
                lambda arguments: self._take("abstain", arguments, "reason"),
            ),
        )

    def decision(self) -> _Decision | None:
        """Return the decision, None without one. Raises ``PartnerError`` for an invalid decision."""
        if self._fault:
            raise PartnerError(self._fault)
        return self._taken

    def _take(
        self, kind: Literal["reply", "stop", "abstain"], arguments: Mapping[str, Any], key: str | None
    ) -> str:
        text = "" if key is None else arguments.get(key)
        with self._lock:
            if key is not None and (not isinstance(text, str) or not text.strip()):
                self._fault = self._fault or f"the responder called `responder_{kind}` without `{key}`"
                return f"`{key}` must be a text that is not empty"
            if self._taken is not None:
                self._fault = self._fault or "the responder decided more than once in one turn"
                return "the decision was already taken"
            self._taken = _Decision(kind, str(text))
        return "noted; say nothing more"


def _text_parameter(name: str, description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
    }
