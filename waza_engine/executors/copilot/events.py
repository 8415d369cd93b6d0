"""The events of one turn of the Copilot agent, as transcript, tool calls, skills, usage and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any, cast

from waza_engine.executors.executor import ignore
from waza_engine.peers.bounds import Intake, PeerError
from waza_engine.results.json_values import number, text_of, whole
from waza_engine.vocabulary import ModelUsage, PaidAnswer, SkillInvocation, ToolCall, Usage

Json = Mapping[str, Any]

# Events that a reader or a grader can use; the runtime's own bookkeeping (over half of them) is left out.
_RECORDED = frozenset(
    {
        "abort",
        "assistant.intent",
        "assistant.message",
        "assistant.reasoning",
        "assistant.turn_end",
        "assistant.turn_start",
        "assistant.usage",
        "model.call_failure",
        "session.compaction_complete",
        "session.compaction_start",
        "session.error",
        "session.idle",
        "session.info",
        "session.model_change",
        "session.shutdown",
        "session.truncation",
        "session.usage_info",
        "session.warning",
        "skill.invoked",
        "subagent.completed",
        "subagent.failed",
        "subagent.started",
        "tool.execution_complete",
        "tool.execution_progress",
        "tool.execution_start",
        "tool.user_requested",
        "user.message",
    }
)
_COUNTED_ALWAYS = frozenset({"assistant.usage", "session.error", "session.idle"})
# A tool with which the agent announces its next step: it does nothing.
_IGNORED_TOOL = "report_intent"


@dataclass(slots=True)
class _Started:
    """A tool call that has begun, and its result so far."""

    call: ToolCall
    ended: bool = False


@dataclass(slots=True)
class TurnRecord:
    """Collects the events of one turn in the order in which they come.

    Its reader may use it at any time: partial results are kept when the turn breaks off. ``broken_servers``
    holds, by name, why an MCP server did not start. ``on_tool_call`` gets every tool call as it begins,
    ``on_answer`` the messages, calls and counts of models.
    """

    on_tool_call: Callable[[ToolCall], None] = ignore
    on_answer: Callable[[PaidAnswer], None] = ignore
    events: list[Json] = field(default_factory=list[Json])
    skill_invocations: list[SkillInvocation] = field(default_factory=list[SkillInvocation])
    error: str = ""
    status_code: int | None = None
    idle: bool = False
    broken_servers: dict[str, str] = field(default_factory=dict[str, str])
    _answer: list[str] = field(default_factory=list[str])
    _calls: dict[str, _Started] = field(default_factory=dict[str, _Started])
    _ignored_calls: set[str] = field(default_factory=set[str])
    _usage: Usage = field(default_factory=Usage)
    _turns: int = 0
    _intake: Intake = field(default_factory=Intake)

    @property
    def output(self) -> str:
        """Return the agent's own messages, joined as upstream joins them; sub-agents' are left out."""
        return "".join(self._answer)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All calls in start order, those of sub-agents too."""
        return tuple(started.call for started in self._calls.values())

    def usage(self, totals: Usage | None = None) -> Usage:
        """Return the usage of the turn: the totals of the session, or else the sum of its model calls."""
        return replace(totals if totals is not None else self._usage, turns=self._turns)

    def add(self, kind: str, data: Json, agent: str = "") -> None:
        """Add one event. ``agent`` names the sub-agent that sent it, if one did.

        Events beyond the limit of a turn are left out, and are an error.
        """
        if self._is_ignored(kind, data) or self._is_too_much(kind, data):
            return
        match kind:
            case "assistant.message":
                self._say(data, agent)
            case "assistant.turn_start":
                self._turns += 1
            case "assistant.usage":
                self._count(data)
            case "tool.execution_start":
                self._start(data)
            case "tool.execution_complete":
                self._complete(data)
            case "skill.invoked":
                self._invoke_skill(data)
            case "session.error":
                self._fail(data, agent)
            case "session.idle":
                self.idle = True
            case "session.mcp_server_status_changed" | "session.mcp_servers_loaded":
                self._note_servers(data)
            case _:
                pass
        if kind in _RECORDED:
            self.events.append(self._entry(kind, data, agent))

    def _is_ignored(self, kind: str, data: Json) -> bool:
        identifier = text_of(data.get("toolCallId"))
        if kind in ("tool.execution_start", "tool.user_requested") and data.get("toolName") == _IGNORED_TOOL:
            self._ignored_calls.add(identifier)
        return bool(identifier) and identifier in self._ignored_calls

    def _is_too_much(self, kind: str, data: Json) -> bool:
        if kind not in _RECORDED or kind in _COUNTED_ALWAYS:
            return False
        try:
            self._intake.take(len(repr(data)))
        except PeerError as error:
            self.error = self.error or f"it {error}"
            return True
        return False

    def _invoke_skill(self, data: Json) -> None:
        if name := text_of(data.get("name")):
            self.skill_invocations.append(SkillInvocation(name, text_of(data.get("path"))))

    def _note_servers(self, data: Json) -> None:
        listed = cast("list[Json]", data.get("servers") or [data])
        for server in listed:
            name = text_of(server.get("serverName")) or text_of(server.get("name"))
            if server.get("status") == "failed":
                self.broken_servers[name] = text_of(server.get("error"))
            else:
                self.broken_servers.pop(name, None)

    def _say(self, data: Json, agent: str) -> None:
        text = text_of(data.get("content"))
        if not agent:
            self._answer.append(text)
        if text:
            self.on_answer(PaidAnswer(text))

    def _fail(self, data: Json, agent: str) -> None:
        if agent:
            return
        code = data.get("statusCode")
        self.error = text_of(data.get("message")) or "it does not say why"
        self.status_code = code if isinstance(code, int) else None

    def _start(self, data: Json) -> None:
        identifier, name = text_of(data.get("toolCallId")), text_of(data.get("toolName"))
        if identifier and name and identifier not in self._calls:
            arguments = data.get("arguments")
            given: Json = cast("Any", arguments) if isinstance(arguments, dict) else {}
            call = ToolCall(name, given, identifier)
            self._calls[identifier] = _Started(call)
            self.on_tool_call(call)
            self.on_answer(PaidAnswer(calls=(call,)))

    def _complete(self, data: Json) -> None:
        started = self._calls.get(text_of(data.get("toolCallId")))
        if started is not None and not started.ended:
            started.ended = True
            started.call = replace(started.call, result=_result(data), success=data.get("success") is True)

    def _count(self, data: Json) -> None:
        spent = ModelUsage(
            input_tokens=whole(data.get("inputTokens")),
            output_tokens=whole(data.get("outputTokens")),
            cache_read_tokens=whole(data.get("cacheReadTokens")),
            cache_write_tokens=whole(data.get("cacheWriteTokens")),
            request_count=1,
            request_cost=number(data.get("cost")),
        )
        model = text_of(data.get("model"))
        by_model = dict(self._usage.model_metrics)
        by_model[model] = _added(by_model.get(model, ModelUsage()), spent)
        self._usage = usage_of_models(by_model)
        self.on_answer(PaidAnswer(usage=usage_of_models({model: spent})))

    def _entry(self, kind: str, data: Json, agent: str) -> Json:
        """Return an event in upstream's form."""
        entry: dict[str, Any] = {"type": kind}
        for key in ("content", "message", "arguments"):
            if data.get(key) not in (None, ""):
                entry[key] = data[key]
        if kind == "tool.execution_complete":
            entry["success"] = data.get("success") is True
            result = _result(data)
            if result is not None:
                entry["tool_result"] = result
        for key, name in (("tool_call_id", "toolCallId"), ("tool_name", "toolName")):
            if text_of(data.get(name)):
                entry[key] = data[name]
        if kind == "skill.invoked":
            entry |= {key: data[key] for key in ("name", "path") if text_of(data.get(key))}
        if agent:
            entry["agent_id"] = agent
        return entry


def usage_of_models(models: Mapping[str, ModelUsage], premium_requests: float | None = None) -> Usage:
    """Return the sum over models. Premium requests default to the costs of the single requests."""
    total = ModelUsage()
    for spent in models.values():
        total = _added(total, spent)
    return Usage(
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        cache_read_tokens=total.cache_read_tokens,
        cache_write_tokens=total.cache_write_tokens,
        premium_requests=total.request_cost if premium_requests is None else premium_requests,
        model_metrics=dict(models),
    )


def usage_since(before: Usage, now: Usage) -> Usage:
    """Return the usage of a session between two counts of its totals."""
    models = {
        model: spent
        for model, total in now.model_metrics.items()
        if (spent := _added(total, before.model_metrics.get(model, ModelUsage()), sign=-1)) != ModelUsage()
    }
    return usage_of_models(models, now.premium_requests - before.premium_requests)


def _added(one: ModelUsage, other: ModelUsage, sign: int = 1) -> ModelUsage:
    both = zip(astuple(one), astuple(other), strict=True)
    return ModelUsage(*(mine + sign * its for mine, its in both))


def _result(data: Json) -> Json | None:
    """Return the result of a tool: its content, or the message of its failure."""
    result = data.get("result")
    if isinstance(result, Mapping):
        given = cast("Json", result)
        content = text_of(given.get("content"))
        detailed = text_of(given.get("detailedContent"))
        return {
            "content": content,
            **({"detailedContent": detailed} if detailed not in ("", content) else {}),
        }
    error = data.get("error")
    if isinstance(error, Mapping):
        return {"content": text_of(cast("Json", error).get("message"))}
    return None
