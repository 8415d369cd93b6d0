"""The blocks inside an adapter file: how the prompt gets in, and what the events that come out mean."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from waza_engine.spec.block import Block
from waza_engine.spec.fields import ListOf, PlainText
from waza_engine.spec.values import Shown, matching

Emitted = Literal["thought", "tool_call", "message", "plan"]
EventPath = Annotated[PlainText, Shown({"x-waza-kind": "json.path"})]
Texts = Annotated[tuple[PlainText, ...], ListOf(texts=False)]
TextMap = Annotated[
    dict[str, PlainText], Shown({"type": "object", "additionalProperties": {"type": "string"}})
]
InsideFile = Annotated[
    PlainText,
    matching(
        r"^$|^(?![/\\~])(?![A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))", "must be a relative path without `..`"
    ),
]
Flag = Annotated[bool, Field(strict=True)]

WRITTEN: dict[str, Any] = {"type": "string", "minLength": 1}
_FLAG_AND_STDIN = "`flag` and `stdin: true` exclude each other: leave out one of them"


def exclusive(one: dict[str, Any], other: dict[str, Any], message: str) -> dict[str, Any]:
    """Return the rule that two keys must not be given together; ``one`` and ``other`` define "given"."""
    properties = {**one, **other}
    return {
        "not": {"type": "object", "required": list(properties), "properties": properties},
        "x-waza-message": message,
    }


class PromptOptions(Block):
    """How the prompt reaches the program: after a flag, as the last argument, or on standard input."""

    rules: ClassVar = (exclusive({"flag": WRITTEN}, {"stdin": {"const": True}}, _FLAG_AND_STDIN),)
    misspellings: ClassVar = {"stdin_format": "stdinFormat", "option": "flag"}

    flag: PlainText = Field(
        default="",
        description="The flag before the prompt. Without one the prompt is the last argument.",
        examples=["-p"],
    )
    stdin: Flag = Field(
        default=False,
        description=(
            "Send the prompt on standard input instead, which has no limit of length. Some programs want a "
            "`-` in `command` then."
        ),
    )
    stdin_format: Literal["text", "json"] = Field(
        default="text",
        alias="stdinFormat",
        description="Reserved: the prompt is sent as text, whatever stands here.",
    )

    @model_validator(mode="after")
    def _check_one_way(self) -> PromptOptions:
        if self.flag and self.stdin:
            raise ValueError(_FLAG_AND_STDIN)
        return self


class OutputOptions(Block):
    """The flag and its value that make the program write events, one JSON object a line."""

    flag: PlainText = Field(
        description="The flag; empty when the program needs none.", examples=["--output-format"]
    )
    value: PlainText = Field(
        description="What stands after it; nothing does when the flag is empty.", examples=["stream-json"]
    )


class Resume(Block):
    """How a follow-up prompt continues the session of the one before it."""

    misspellings: ClassVar = {"session_id_path": "sessionIdPath"}

    flag: PlainText = Field(description="The flag before the session's id.", examples=["--resume"])
    session_id_path: EventPath = Field(
        alias="sessionIdPath",
        description="Where an event names the session. Every event is asked, the last answer counts.",
        examples=["$.session_id"],
    )


class Condition(Block):
    """A value in an event."""

    path: EventPath = Field(
        description="Where the value is: `$.a.b`, `$.a[0]`, `$.a[*]`.", examples=["$.type"]
    )
    value: PlainText = Field(
        description="The text that must stand there; `*` for anything but null.", examples=["assistant"]
    )


class Match(Condition):
    """Selects events. When the value is a list, its items are checked one by one, by their `type`."""


class Extract(Block):
    """Where the facts are in a matching event, or in the matching item of a list."""

    misspellings: ClassVar = {"name": "title", "text": "content", "arguments": "input", "result": "output"}

    content: EventPath = Field(
        default="", description="Text of a message, a thought or a plan.", examples=["$.text"]
    )
    title: EventPath = Field(default="", description="Name of the tool.", examples=["$.name"])
    status: EventPath = Field(
        default="",
        description=(
            "State of a tool call. `completed` and `failed` end it (also `success`, `true`, `error`, "
            "`false`); any other word starts it. A word of your own stands in single quotes."
        ),
        examples=["'pending'"],
    )
    id: EventPath = Field(
        default="",
        description="Which call it is, so that the end finds its beginning. Not known to the harness.",
        examples=["$.id"],
    )
    input: EventPath = Field(
        default="",
        description="Arguments of a tool call, for graders that look at them. Not known to the harness.",
        examples=["$.input"],
    )
    output: EventPath = Field(
        default="", description="Result of a tool call. Not known to the harness.", examples=["$.content"]
    )
    error: EventPath = Field(
        default="",
        description="The call failed unless `false` stands there. Not known to the harness.",
        examples=["$.is_error"],
    )


class EventMapping(Block):
    """One kind of event and what it means."""

    misspellings: ClassVar = {"emit_as": "emitAs", "emit": "emitAs", "extracts": "extract"}

    match: Match = Field(description="Which events are meant.")
    when: Condition | None = Field(
        default=None,
        description="A second condition on the whole event. Not known to the harness.",
        examples=[{"path": "$.type", "value": "assistant"}],
    )
    emit_as: Emitted = Field(alias="emitAs", description="What such an event is.", examples=["message"])
    extract: Extract = Field(
        default_factory=Extract, description="Where its facts are.", examples=[{"content": "$.text"}]
    )


class PassthroughMap(Block):
    """How events that have our kinds already are recognized."""

    misspellings: ClassVar = {"type_field": "typeField", "type_values": "typeValues"}

    type_field: PlainText = Field(
        default="type", alias="typeField", description="The key that names the kind of an event."
    )
    type_values: Annotated[
        dict[str, Emitted],
        Shown(
            {"type": "object", "additionalProperties": {"enum": ["thought", "tool_call", "message", "plan"]}}
        ),
    ] = Field(
        default_factory=dict[str, Emitted],
        alias="typeValues",
        description="What the program's own names of kinds mean.",
        examples=[{"text": "message"}],
    )


class ResultOptions(Block):
    """The event that ends the turn. Its text is the answer; when it has none, all messages are."""

    misspellings: ClassVar = {
        "match_path": "matchPath",
        "match_value": "matchValue",
        "content_path": "contentPath",
    }

    match_path: EventPath = Field(
        alias="matchPath", description="Where the value is that tells the event.", examples=["$.type"]
    )
    match_value: PlainText = Field(
        alias="matchValue", description="That value; `*` for anything but null.", examples=["result"]
    )
    content_path: EventPath = Field(
        alias="contentPath", description="Where the answer is.", examples=["$.result"]
    )


class HistoryTemplate(Block):
    """The conversation so far, as text before the next prompt."""

    misspellings: ClassVar = {"turn_format": "turnFormat"}

    system: PlainText = Field(default="", description="Text before every prompt.", examples=["Be brief."])
    turn_format: PlainText = Field(
        alias="turnFormat",
        description="One past turn, with `{{input}}` and `{{output}}` in it.",
        examples=["User: {{input}}\nAssistant: {{output}}"],
    )


class UsagePaths(Block):
    """Where the program reports its usage. The counts of all matching events are added up."""

    match: Condition | None = Field(
        default=None,
        description="Which events report it; without this the event of `result`.",
        examples=[{"path": "$.type", "value": "turn.completed"}],
    )
    turns: EventPath = Field(default="", description="Turns of the model.", examples=["$.num_turns"])
    input_tokens: EventPath = Field(default="", description="Tokens read.", examples=["$.usage.input_tokens"])
    output_tokens: EventPath = Field(
        default="", description="Tokens written.", examples=["$.usage.output_tokens"]
    )
    cache_read_tokens: EventPath = Field(
        default="",
        description="Tokens read from a cache.",
        examples=["$.usage.cache_read_input_tokens"],
    )
    cache_write_tokens: EventPath = Field(
        default="",
        description="Tokens written to a cache.",
        examples=["$.usage.cache_creation_input_tokens"],
    )
    premium_requests: EventPath = Field(
        default="", description="Premium requests of a subscription.", examples=["$.usage.premiumRequests"]
    )
    cost_usd: EventPath = Field(default="", description="Cost in US dollars.", examples=["$.total_cost_usd"])
