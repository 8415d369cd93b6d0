"""A model that plays the user: after every turn of the agent it replies, stops or abstains."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from waza_engine.executors.base import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
)
from waza_engine.graders.judging.judge import AgentTool
from waza_engine.results.record import ResponderOutcome
from waza_engine.runs.limits.budget import BudgetExceededError
from waza_engine.runs.trials.conversation import PartnerError, execute
from waza_engine.spec.task_file import Responder

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

    def reply(self, said: str) -> str | None:
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
            decision = self._decide(said)
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

    def _decide(self, said: str) -> _Decision:
        ballot = _Ballot()
        with tempfile.TemporaryDirectory(prefix="waza-", ignore_cleanup_errors=True) as folder:
            request = ExecutionRequest(
                prompt=self._question(said),
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

    def _question(self, said: str) -> str:
        choice = (
            f"Call exactly one tool, once: `{REPLY}` with your answer, `{STOP}` when the agent is done and "
            f"needs nothing from you, or `{ABSTAIN}` when it asks for something that you cannot know."
        )
        message = f"The agent wrote:\n\n{said}\n\n{choice}"
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
