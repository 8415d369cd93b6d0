"""One turn of the executor ``openai``: the model answers, calls tools, gets their results, and so on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, cast
from uuid import uuid4

from waza_engine.counting import in_seconds
from waza_engine.executors.chat.agent_tools import Tool, ToolError, ToolOutcome
from waza_engine.executors.chat.chat_requests import (
    Answer,
    Connection,
    Limits,
    RequestedCall,
    Spent,
    TooLateError,
    clean,
    clean_escapes,
)
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.masking import masked
from waza_engine.peers.bounds import Intake
from waza_engine.processes.scope import ProcessScope
from waza_engine.vocabulary import ModelUsage, PaidAnswer, SkillInvocation, ToolCall, Usage

MOST_ROUNDS = 100
MOST_REPEATED = 5
"""How often a judge may make the very same call in a row."""
_DEEPEST = 100


class StoppedTurn(Exception):  # noqa: N818 - no error: the run asked for it
    """The turn was stopped from outside."""


class Brake:
    """Ends the current action of a turn, and every program that it started; thread-safe."""

    def __init__(self) -> None:
        self.scope = ProcessScope()
        self._lock = threading.Lock()
        self._stopped = False
        self._request: Future[None] | None = None
        self._others: list[Callable[[], None]] = []

    def stop(self) -> None:
        """Stop the turn; can be called twice and from any thread."""
        with self._lock:
            self._stopped = True
            request = self._request
            others, self._others = self._others, []
        if request is not None:
            request.cancel()
        self.scope.close()
        for stop in others:
            stop()

    def also(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` when the turn is stopped, immediately if it was."""
        with self._lock:
            late = self._stopped
            if not late:
                self._others.append(stop)
        if late:
            stop()

    def hold(self, request: Future[None]) -> None:
        """Store the active request."""
        with self._lock:
            self._request = request
            late = self._stopped
        if late:
            request.cancel()

    def check(self) -> None:
        """Raise ``StoppedTurn`` when the turn was stopped."""
        with self._lock:
            if self._stopped:
                raise StoppedTurn


class Turn:
    """One turn. ``messages`` is the conversation so far, with only what the server will accept again.

    ``response`` is available at any time: it holds the results so far. Output of tools is graded as it is,
    but credentials are masked for the model.
    """

    def __init__(
        self,
        connection: Connection,
        request: ExecutionRequest,
        messages: list[dict[str, Any]],
        tools: Sequence[Tool],
        brake: Brake,
        deadline: float,
    ) -> None:
        self.messages = messages
        self.answered = False
        self._connection = connection
        self._request = request
        self._tools = {tool.name: tool for tool in tools}
        self._brake = brake
        self._started = time.monotonic()
        self._deadline = deadline
        self._intake = Intake()
        self._texts: list[str] = []
        self._events: list[Mapping[str, Any]] = []
        self._calls: list[ToolCall] = []
        self._skills: list[SkillInvocation] = []
        self._spent: list[Spent] = []
        self._cut = False
        self._refusal = ""

    def run(self) -> None:
        """Execute the turn.

        Raises:
            ExecutorError: when it cannot go on.
            StoppedTurn: when it was stopped.

        """
        prompt = clean(self._request.prompt)
        self._record("user.message", content=prompt)
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(MOST_ROUNDS):
            answer = self._ask()
            self._take(answer)
            results = list(self._execute_calls(answer.calls))
            self._remember(answer, results)
            self._check_progress()
            if not answer.calls or self._request.stops_after(self._skills):
                self._record("session.idle")
                return
        raise ExecutorError(f"the model went on calling tools; the turn ends after {MOST_ROUNDS} answers")

    def _check_progress(self) -> None:
        """Raise ``ExecutorError`` when a judge repeats one call: its tools always answer the same."""
        last = self._calls[-MOST_REPEATED:]
        alike = all((call.name, call.arguments) == (last[0].name, last[0].arguments) for call in last)
        if self._request.ephemeral and len(last) == MOST_REPEATED and alike:
            raise ExecutorError(
                f"the model called `{last[0].name}` {MOST_REPEATED} times with the same arguments"
            )

    def response(
        self, session: str, error: str | None = None, *, transient: bool = False
    ) -> ExecutionResponse:
        """Return the results of the turn so far."""
        if error is not None:
            self._record("session.error", message=error)
        return ExecutionResponse(
            output="".join(self._texts),
            session=session,
            events=tuple(self._events),
            tool_calls=tuple(self._calls),
            skill_invocations=tuple(self._skills),
            usage=self._usage(),
            error=error,
            transient=transient,
            cut=self._cut,
            refusal=self._refusal,
        )

    def _ask(self) -> Answer:
        """Return the model's answer; partial text of one that broke off is stored, too."""
        request = self._request
        body: dict[str, Any] = {"model": request.model, "messages": self.messages}
        if self._tools:
            body["tools"] = [_on_the_wire(tool) for tool in self._tools.values()]
        if request.reasoning_effort:
            body["reasoning_effort"] = request.reasoning_effort
        patience = request.first_event_timeout_seconds
        begin = self._started + patience if patience and not self.answered else None
        self._brake.check()
        answer = Answer()
        try:
            limits = Limits(self._deadline, begin, self._intake)
            self._connection.ask(body, answer, limits, self._brake.hold)
        except TooLateError as error:
            message = (
                f"the model did not finish within {in_seconds(request.timeout_seconds)}"
                if error.begun
                else f"the model sent nothing within {in_seconds(patience)}"
            )
            raise ExecutorError(message, transient=True) from None
        except CancelledError:
            raise StoppedTurn from None
        finally:
            if not answer.complete and answer.text:
                self._note(answer)
        return answer

    def _take(self, answer: Answer) -> None:
        """Store a complete answer. Raises ``ExecutorError`` when it was withheld."""
        self._note(answer)
        self._cut = answer.finish_reason == "length"
        self._refusal = clean(answer.refusal)
        if self._cut:
            self._record(
                "session.warning", message="the answer was cut: the model's limit of tokens was reached"
            )
        if answer.finish_reason == "content_filter" and not answer.text:
            raise ExecutorError("the provider's content filter withheld the answer")

    def _note(self, answer: Answer) -> None:
        text = clean(answer.text)
        spent = answer.usage or Spent()
        self.answered = True
        self._spent.append(spent)
        if text:
            self._texts.append(text)
        self._record("assistant.turn_start")
        self._record("assistant.message", **({"content": text} if text else {}))
        if answer.usage is not None:
            self._record("assistant.usage", model=self._request.model, **spent.counts())
        calls = tuple(
            ToolCall(clean(call.function.name), _arguments(call) or {}, call.id or "")
            for call in answer.calls
        )
        self._request.on_answer(PaidAnswer(text, calls, self._usage_of([spent])))

    def _execute_calls(self, calls: Sequence[RequestedCall]) -> Iterator[tuple[str, str]]:
        """Execute tool calls in order; yield their ids and results."""
        for call in calls:
            self._brake.check()
            identifier = call.id or f"call_{uuid4().hex[:12]}"
            arguments = _arguments(call)
            name, given = clean(call.function.name), arguments or {}
            start = {"tool_call_id": identifier, "tool_name": name, "arguments": given}
            self._record("tool.execution_start", **start)
            self._request.on_tool_call(ToolCall(name, given, identifier))
            outcome = self._outcome(name, arguments)
            text = clean(outcome.text)
            result = {"content": text}
            self._record(
                "tool.execution_complete",
                tool_call_id=identifier,
                success=outcome.success,
                tool_result=result,
            )
            self._calls.append(ToolCall(name, given, identifier, result, outcome.success))
            if outcome.skill is not None:
                self._skills.append(outcome.skill)
                self._record("skill.invoked", name=outcome.skill.name, path=outcome.skill.path)
            yield identifier, masked(text)
            if self._request.stops_after(self._skills):
                return

    def _outcome(self, name: str, arguments: dict[str, Any] | None) -> ToolOutcome:
        if name not in self._tools:
            known = ", ".join(f"`{known}`" for known in self._tools) or "none"
            return ToolOutcome(f"There is no tool `{name}`; there are {known}.", success=False)
        if arguments is None:
            return ToolOutcome("The arguments are no JSON object; write them again.", success=False)
        try:
            return self._tools[name].call(arguments)
        except ToolError as error:
            return ToolOutcome(f"Error: {error}.", success=False)

    def _remember(self, answer: Answer, results: Sequence[tuple[str, str]]) -> None:
        """Add an answer to the conversation, together with the results of its calls."""
        message: dict[str, Any] = {"role": "assistant", "content": clean(answer.text)}
        if answer.calls:
            done = zip(answer.calls, results, strict=False)
            message["tool_calls"] = [_as_sent(call, identifier) for call, (identifier, _) in done]
        self.messages.append(message)
        self.messages += [
            {"role": "tool", "tool_call_id": identifier, "content": result} for identifier, result in results
        ]

    def _usage(self) -> Usage | None:
        return self._usage_of(self._spent) if self._spent else None

    def _usage_of(self, answers: Sequence[Spent]) -> Usage:
        counts = [spent.counts() for spent in answers]
        total = {key: sum(count[key] for count in counts) for key in counts[0]}
        endpoint = self._connection.endpoint
        return Usage(
            turns=len(answers),
            **total,
            model_metrics={self._request.model: ModelUsage(**total, request_count=len(answers))},
            provider="custom" if endpoint.own else "",
            provider_host=endpoint.host if endpoint.own else "",
        )

    def _record(self, kind: str, **entries: Any) -> None:
        self._events.append({"type": kind, **entries})


def _on_the_wire(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _arguments(call: RequestedCall) -> dict[str, Any] | None:
    """Return the arguments, None when they are not a JSON object; a call without any has none."""
    given = call.function.arguments
    if not isinstance(given, str):
        return given or {}
    try:
        parsed: object = json.loads(clean_escapes(given).strip() or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or _is_deep(cast("dict[str, Any]", parsed)):
        return None
    return cast("dict[str, Any]", parsed)


def _is_deep(value: object) -> bool:
    """Return whether lists and mappings are nested deeper than is plausible."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [item for found in level for item in _items(found)]
        if not level:
            return False
    return True


def _items(value: object) -> Iterable[object]:
    match value:
        case dict():
            return cast("dict[str, object]", value).values()
        case list():
            return cast("list[object]", value)
        case _:
            return ()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _as_sent(call: RequestedCall, identifier: str) -> dict[str, Any]:
    """Return a tool call for the conversation, in a form that every server accepts.

    Some parse the arguments again and break at invalid JSON; the result tells the model about it.
    """
    given = call.function.arguments
    if not isinstance(given, str):
        arguments = json.dumps(given or {})
    else:
        arguments = "{}" if not given.strip() or _arguments(call) is None else clean_escapes(given)
    sent = call.model_dump(exclude_none=True)
    function = {**sent["function"], "arguments": arguments}
    return {**sent, "id": identifier, "type": "function", "function": function}
