"""One turn of a command-line agent, put together from the lines that it writes.

Events become transcript entries as they arrive: messages, thoughts
and plans, and tool calls, whose end is paired with its beginning by id, else by the tool's name. Calls of one
tool are never merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

from waza_engine.executors.adapter.output_lines import Line, ToolState, Update, event_of, read_event
from waza_engine.executors.executor import ignore
from waza_engine.peers.bounds import LONGEST_MESSAGE_BYTES, MOST_BYTES
from waza_engine.spec.adapter import AdapterFile
from waza_engine.vocabulary import TOKENS, ModelUsage, PaidAnswer, SkillInvocation, ToolCall, Usage

_WRITING = re.compile(r"write|edit|create|patch|replace|delete|remove", re.IGNORECASE)
_RESULT = re.compile(r"output|result", re.IGNORECASE)
"""Arguments in which some agents report the tool's result."""


def skills_read(tool: str, arguments: Mapping[str, Any], directory: str) -> Iterator[str]:
    """Yield the folders of skills whose ``SKILL.md`` a tool call reads, by its path or in a shell command."""
    if directory and not _WRITING.search(tool):
        given = {key: value for key, value in arguments.items() if not _RESULT.search(key)}
        for text in _texts(given):
            for found in _pattern(directory).finditer(text):
                yield found["read"] or found["entered"]


@lru_cache(maxsize=8)
def _pattern(directory: str) -> re.Pattern[str]:
    folder = r"[\\/]+".join(map(re.escape, re.split(r"[\\/]+", directory.strip("\\/"))))
    name = r"[^\\/\s'\"*?]+"
    path = rf"{folder}[\\/]+(?P<read>{name})[\\/]+SKILL\.md\b"
    # Into the folder first: `cd .agent/skills/writer && cat SKILL.md`.
    into = rf"\b(?:cd|pushd|Set-Location)\s[^;&|\n]*{folder}[\\/]+(?P<entered>{name})[\\/'\"\s;&|]"
    return re.compile(rf"{path}|{into}[^\n]*?(?<![\\/])\bSKILL\.md\b", re.IGNORECASE)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from _texts(each)
    elif isinstance(value, list):
        parts = cast("list[object]", value)
        # A command may be a list of words.
        if parts and all(isinstance(part, str) for part in parts):
            yield " ".join(cast("list[str]", parts))
        else:
            for part in parts:
                yield from _texts(part)


_SHOWN = 300
_SKILL_TOOLS = {"skill": "skill", "Skill": "skill"}


@dataclass(slots=True)
class _Call:
    call: ToolCall
    given_id: str
    state: ToolState
    started: bool = False
    ended: bool = False
    skill_noted: bool = False


@dataclass(slots=True)
class Turn:
    """The agent's output and calls so far in a turn.

    ``new_id`` names calls without an id; ``follow_up`` is added to the agent's own ids, which may restart in
    every turn. ``ends`` returns from the skills so far whether the turn is over, ``skill_names`` are the
    names of the skills in the folders of the skills directory. ``on_tool_call`` gets every tool call as it
    begins, ``on_line`` every line, ``on_answer`` the answers by then, with tokens of ``model``. ``trouble``
    says what was lost; ``noise`` is the beginning of output that was no event, ``unmatched`` the first event
    without a meaning.
    """

    adapter: AdapterFile
    new_id: Callable[[], str]
    follow_up: str = ""
    ends: Callable[[Sequence[SkillInvocation]], bool] = lambda _: False
    skill_names: Mapping[str, str] = field(default_factory=dict[str, str])
    on_tool_call: Callable[[ToolCall], None] = ignore
    on_line: Callable[[str], None] = ignore
    on_answer: Callable[[PaidAnswer], None] = ignore
    model: str = ""
    events: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    skills: list[SkillInvocation] = field(default_factory=list[SkillInvocation])
    usage: dict[str, float] = field(default_factory=dict[str, float])
    session: str = ""
    answer: str | None = None
    failed: bool = False
    matched: bool = False
    noise: str = ""
    unmatched: str = ""
    trouble: str = ""
    _calls: list[_Call] = field(default_factory=list[_Call])
    _messages: list[list[str]] = field(default_factory=list[list[str]])
    _in_message: bool = False
    _bytes: int = 0
    _messages_paid: int = 0

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All calls in start order."""
        return tuple(call.call for call in self._calls)

    @property
    def messages(self) -> list[str]:
        """Return the agent's messages that are not empty."""
        return [text for pieces in self._messages if (text := "".join(pieces))]

    @property
    def output(self) -> str:
        """The answer: that of the result event, else all messages, each on its own line."""
        return self.answer or "\n".join(self.messages)

    def take(self, raw: bytes) -> bool:
        """Process a line; return whether the turn is over."""
        line = raw.decode("utf-8", "replace").strip()
        self.on_line(line)
        event = event_of(line)
        found = Line() if event is None else read_event(self.adapter, event)
        self.session = found.session or self.session
        self._count(found)
        if found.updates:
            self._bytes += len(raw)
            if self._bytes > MOST_BYTES:
                return self._break_off()
        for update in found.updates:
            self._add(update)
        if found.answer is not None:
            self.answer, self.failed = found.answer, found.failed
        self._report_answers(found.usage or {})
        if found.updates or found.answer is not None:
            self.matched = True
        elif event is None and len(self.noise) < _SHOWN:
            self.noise = f"{self.noise} {line}".strip()[:_SHOWN]
        else:
            self.unmatched = self.unmatched or line[:_SHOWN]
        return found.answer is not None or self.ends(self.skills)

    def close(self) -> None:
        """Insert messages that came in pieces into the transcript."""
        pieces = iter(self._messages)
        self.events = [
            {**event, "content": "".join(next(pieces))} if event.get("type") == "assistant.message" else event
            for event in self.events
        ]

    def note(self, kind: str, **values: Any) -> None:
        """Add an entry to the transcript, with the time."""
        self._in_message = False
        self.events.append(
            {"type": kind, **values, "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds")}
        )

    def say(self, text: str) -> None:
        """Add a message of the agent, or a piece of one."""
        if self.adapter.extensions.message_chunks and self._in_message:
            self._messages[-1].append(text)
            return
        self._messages.append([text])
        self.note("assistant.message", content=text)
        self._in_message = True

    def _report_answers(self, used: Mapping[str, float]) -> None:
        """Report the messages that have ended since the last call, the answer, and the tokens."""
        pieces_follow = self.answer is None and self.adapter.extensions.message_chunks and self._in_message
        whole = self.messages
        ended = whole[self._messages_paid : len(whole) - pieces_follow]
        if self.answer and self.answer not in (*whole, "\n".join(whole)):
            ended.append(self.answer)
        self._messages_paid += len(ended)
        if ended or used:
            self.on_answer(PaidAnswer("\n".join(ended), usage=usage_of_numbers(used, self.model, 0)))

    def _break_off(self) -> bool:
        self.trouble = f"the agent wrote more than {MOST_BYTES // 1_000_000} MB of events; the rest is lost"
        return True

    def _count(self, line: Line) -> None:
        for name, value in (line.usage or {}).items():
            self.usage[name] = self.usage.get(name, 0) + value

    def _add(self, update: Update) -> None:
        match update.kind:
            case "message":
                self.say(update.content or "")
            case "thought":
                self.note("assistant.reasoning", content=update.content or "")
            case "plan":
                entries = {} if update.entries is None else {"entries": update.entries}
                self.note("session.plan", content=update.content or "", **entries)
            case "tool_call":
                self._tool(update)

    def _tool(self, update: Update) -> None:
        call = self._call_of(update)
        if call is None:
            return
        merged: dict[str, Any] = {}
        if update.arguments is not None and not call.call.arguments:
            merged["arguments"] = update.arguments
        call.call = replace(call.call, **merged)
        if not call.started:
            call.started = True
            self.note(
                "tool.execution_start",
                tool_call_id=call.call.id,
                tool_name=call.call.name,
                arguments=dict(call.call.arguments),
            )
            self.on_tool_call(call.call)
        elif merged:
            self._complete_start(call.call)
        self._note_skill(call)
        if update.state in ("completed", "failed") and not call.ended:
            self._end(call, update)

    def _call_of(self, update: Update) -> _Call | None:
        """Return the call of an update: a new one, unless it continues one that is open."""
        known = [call for call in self._calls if update.id and call.given_id == update.id]
        if known and not (known[-1].ended and update.state == "pending"):
            return known[-1]
        if update.state != "pending" and not (update.id and update.tool):
            # Without an id, this is the oldest open call of that name; one is never begun twice.
            for call in self._calls:
                begun_twice = update.state == "in_progress" and call.state != "pending"
                if not call.ended and not begun_twice and update.tool in ("", call.call.name):
                    call.state = update.state
                    return call
        if not update.tool:
            return None
        taken = {call.call.id for call in self._calls}
        identifier = f"{update.id}{self.follow_up}" if update.id else self.new_id()
        if identifier in taken:
            identifier = f"{identifier}-{self.new_id()}"
        self._calls.append(_Call(ToolCall(update.tool, id=identifier), update.id, update.state))
        return self._calls[-1]

    def _end(self, call: _Call, update: Update) -> None:
        call.ended = True
        success = update.state == "completed"
        text = update.result if update.result is not None else update.content
        result = None if text is None else {"content": text}
        call.call = replace(call.call, result=result, success=success)
        self.note(
            "tool.execution_complete",
            tool_call_id=call.call.id,
            success=success,
            **({} if result is None else {"tool_result": result}),
        )
        if not success:
            why = f": {text[:_SHOWN]}" if text else ""
            self.note(
                "session.error", content=f"the tool `{call.call.name}` failed{why}", tool_call_id=call.call.id
            )

    def _complete_start(self, call: ToolCall) -> None:
        """Add arguments that came late to the entry of the call's beginning."""
        for position, event in enumerate(self.events):
            if event.get("type") == "tool.execution_start" and event.get("tool_call_id") == call.id:
                self.events[position] = {**event, "arguments": dict(call.arguments)}
                return

    def _note_skill(self, call: _Call) -> None:
        argument = {**_SKILL_TOOLS, **self.adapter.extensions.skill_tools}.get(call.call.name)
        name = call.call.arguments.get(argument) if argument else None
        if call.skill_noted:
            return
        if isinstance(name, str) and name.strip():
            call.skill_noted = True
            self._invoke(name.strip())
            return
        directory = self.adapter.extensions.skills_directory
        for folder in skills_read(call.call.name, call.call.arguments, directory):
            call.skill_noted = True
            # A skill that a tool has loaded may be read once more.
            if not any(skill.is_of(self.skill_names.get(folder, folder)) for skill in self.skills):
                self._invoke(self.skill_names.get(folder, folder))

    def _invoke(self, skill: str) -> None:
        self.skills.append(SkillInvocation(skill))
        self.note("skill.invoked", name=skill)


class LineSink:
    """Cuts output into lines, also the last one without an end, and hands them to a turn."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._kept = bytearray()
        self._skipping = False

    @property
    def lets_it_finish(self) -> bool:
        """Return whether the agent has answered."""
        return self._turn.answer is not None

    def feed(self, chunk: bytes) -> bool:
        """Process more output; return whether the turn is over."""
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._keep(line)
            if self._line_ended():
                return True
        self._keep(rest)
        return False

    def end(self) -> None:
        """Process the last line."""
        self._line_ended()

    def _keep(self, part: bytes) -> None:
        if self._skipping:
            return
        self._kept += part
        if len(self._kept) > LONGEST_MESSAGE_BYTES:
            if self._kept.lstrip().startswith((b"{", b"[")):
                limit = LONGEST_MESSAGE_BYTES // 1_000_000
                self._turn.trouble = f"an event of the agent was longer than {limit} MB and is lost"
            self._kept.clear()
            self._skipping = True

    def _line_ended(self) -> bool:
        line, self._skipping = bytes(self._kept), False
        self._kept.clear()
        return bool(line) and self._turn.take(line)


class TextSink:
    """Takes all output as the answer."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._kept = bytearray()

    @property
    def lets_it_finish(self) -> bool:
        """Never: only too much is enough."""
        return False

    def feed(self, chunk: bytes) -> bool:
        """Store more output; return whether it is too much."""
        self._kept += chunk
        if len(self._kept) <= LONGEST_MESSAGE_BYTES:
            return False
        del self._kept[LONGEST_MESSAGE_BYTES:]
        limit = LONGEST_MESSAGE_BYTES // 1_000_000
        self._turn.trouble = f"the agent wrote more than {limit} MB; the rest is lost"
        self.end()
        return True

    def end(self) -> None:
        """Set the answer of the turn to all output."""
        text = bytes(self._kept).decode("utf-8", "replace").replace("\r\n", "\n")
        self._turn.answer = text.removesuffix("\n")
        for line in text.splitlines():
            self._turn.on_line(line)
        if self._turn.answer:
            self._turn.say(self._turn.answer)
            self._turn.on_answer(PaidAnswer(self._turn.answer))


def usage_of_numbers(found: Mapping[str, float], model: str, turns: int) -> Usage | None:
    """Return the usage that an agent reports by the names of an adapter, None when it reports none."""
    if not found:
        return None
    metrics = ModelUsage(
        **{name: int(found.get(name, 0)) for name in TOKENS},
        request_count=turns,
        request_cost=found.get("premium_requests", 0.0),
    )
    return Usage(
        turns=turns,
        input_tokens=metrics.input_tokens,
        output_tokens=metrics.output_tokens,
        cache_read_tokens=metrics.cache_read_tokens,
        cache_write_tokens=metrics.cache_write_tokens,
        premium_requests=metrics.request_cost,
        model_metrics={model: metrics} if model else {},
        cost_usd=found.get("cost_usd"),
    )
