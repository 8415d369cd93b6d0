"""An adapter file: how to drive the command line of an agent (version 1 of the agent-eval-harness schema).

The keys are those of the agent-eval-harness, so one file serves both tools. Keys of this engine alone are
under ``x-waza``, and a few in an event mapping (``when``; ``id``, ``input``, ``output`` and ``error`` of
``extract``), which the other tool leaves out.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from waza_engine.spec.block import Block, CamelBlock, forbidden, misspelt
from waza_engine.spec.fields import AtMost, ListOf, Number, PlainText, SchemaKeywords, matching, severity
from waza_engine.spec.limits import LONGEST_MILLISECONDS

Emitted = Literal["thought", "tool_call", "message", "plan"]
PATH = (
    r"^(?:'[\s\S]*'|\$\.(?:[^\[\].]*(?:\[[0-9]{1,9}\])?\.)*"
    r"(?:[^\[\].]*(?:\[[0-9]{1,9}\])?|[^\[\].]*\[\*\](?:\.[\s\S]*)?))?(?![\s\S])"
)
"""``$.a.b``, ``$.a[0]``, ``$.[0]``, ``$.a[*]``, a word in single quotes; "" for none."""
_LEADS_SOMEWHERE = {
    "pattern": PATH,
    "x-waza-kind": "json.path",
    "x-waza-severity": "warning",
    "x-waza-message": "leads nowhere; write `$.a.b`, `$.a[0]`, `$.a[*]`, or a word in single quotes",
}
EventPath = Annotated[PlainText, SchemaKeywords({"x-waza-kind": "json.path", "allOf": [_LEADS_SOMEWHERE]})]
Texts = Annotated[tuple[PlainText, ...], ListOf(texts=False)]
TextMap = Annotated[
    dict[str, PlainText], SchemaKeywords({"type": "object", "additionalProperties": {"type": "string"}})
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


class PromptOptions(CamelBlock):
    """How the prompt reaches the program: after a flag, as the last argument, or on standard input."""

    rules: ClassVar = (forbidden(_FLAG_AND_STDIN, flag=WRITTEN, stdin={"const": True}),)
    misspellings: ClassVar = misspelt({"stdinFormat": "stdin_format", "flag": "option"})

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
        description="The value after it; none when the flag is empty.", examples=["stream-json"]
    )


class Resume(CamelBlock):
    """How a follow-up prompt continues the session of the one before it."""

    misspellings: ClassVar = misspelt({"sessionIdPath": "session_id_path"})

    flag: PlainText = Field(description="The flag before the session's id.", examples=["--resume"])
    session_id_path: EventPath = Field(
        description="Where an event names the session. Every event is asked, the last answer counts.",
        examples=["$.session_id"],
    )


class Condition(Block):
    """A value in an event."""

    path: EventPath = Field(
        description="Where the value is: `$.a.b`, `$.a[0]`, `$.a[*]`.", examples=["$.type"]
    )
    value: PlainText = Field(
        description="The expected string; `*` for anything but null.", examples=["assistant"]
    )


class Match(Condition):
    """Selects events. When the value is a list, its items are checked one by one, by their `type`."""


class Extract(Block):
    """Where the facts are in a matching event, or in the matching item of a list."""

    misspellings: ClassVar = misspelt(
        {"title": "name", "content": "text", "input": "arguments", "output": "result"}
    )

    content: EventPath = Field(
        default="", description="Text of a message, a thought or a plan.", examples=["$.text"]
    )
    title: EventPath = Field(default="", description="Name of the tool.", examples=["$.name"])
    status: EventPath = Field(
        default="",
        description=(
            "State of a tool call. `completed` and `failed` end it (also `success`, `true`, `error`, "
            "`false`); any other word starts it. Put a word of your own in single quotes."
        ),
        examples=["'pending'"],
    )
    id: EventPath = Field(
        default="",
        description="The id of the call, to match its end with its beginning. Not known to the harness.",
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
        description="The call failed unless the value is `false`. Not known to the harness.",
        examples=["$.is_error"],
    )


class EventMapping(CamelBlock):
    """One kind of event and what it means."""

    misspellings: ClassVar = misspelt({"emitAs": ("emit_as", "emit"), "extract": "extracts"})

    match: Match = Field(description="The events that match.")
    when: Condition | None = Field(
        default=None,
        description="A second condition on the whole event. Not known to the harness.",
        examples=[{"path": "$.type", "value": "assistant"}],
    )
    emit_as: Emitted = Field(description="The kind of such an event.", examples=["message"])
    extract: Extract = Field(
        default_factory=Extract, description="Where its facts are.", examples=[{"content": "$.text"}]
    )


class PassthroughMap(CamelBlock):
    """How events that have our kinds already are recognized."""

    misspellings: ClassVar = misspelt({"typeField": "type_field", "typeValues": "type_values"})

    type_field: PlainText = Field(default="type", description="The key that names the kind of an event.")
    type_values: Annotated[
        dict[str, Emitted],
        SchemaKeywords(
            {"type": "object", "additionalProperties": {"enum": ["thought", "tool_call", "message", "plan"]}}
        ),
    ] = Field(
        default_factory=dict[str, Emitted],
        description="The meaning of the program's own names of kinds.",
        examples=[{"text": "message"}],
    )


class ResultOptions(CamelBlock):
    """The event that ends the turn. Its text is the answer; when it has none, all messages are."""

    misspellings: ClassVar = misspelt(
        {"matchPath": "match_path", "matchValue": "match_value", "contentPath": "content_path"}
    )

    match_path: EventPath = Field(description="Where the value is that tells the event.", examples=["$.type"])
    match_value: PlainText = Field(description="That value; `*` for anything but null.", examples=["result"])
    content_path: EventPath = Field(description="Where the answer is.", examples=["$.result"])


class HistoryTemplate(CamelBlock):
    """The conversation so far, as text before the next prompt."""

    misspellings: ClassVar = misspelt({"turnFormat": "turn_format"})

    system: PlainText = Field(default="", description="Text before every prompt.", examples=["Be brief."])
    turn_format: PlainText = Field(
        description="One past turn, with `{{input}}` and `{{output}}` in it.",
        examples=["User: {{input}}\nAssistant: {{output}}"],
    )


class UsagePaths(Block):
    """Where the program reports its usage. The counts of all matching events are added up."""

    match: Condition | None = Field(
        default=None,
        description="The events that report it; without this the event of `result`.",
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


_NO_EVENTS = '`output` and `result` are needed, unless `x-waza` has `"output_mode": "text"`'
_TWO_INSTRUCTIONS = "`instructions_flag` and `instructions_file` exclude each other: leave out one of them"
_TWO_MCP = "`mcp_config_flag` and `mcp_config_file` exclude each other: leave out one of them"


def _version(value: object) -> object:
    """Reject values that are 1 in Python and not in JSON."""
    if isinstance(value, bool):
        raise ValueError("must be `1`")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _template(value: object) -> object:
    return {"turnFormat": value} if isinstance(value, str) else value


class Extensions(Block):
    """Options of the program for this engine alone. The harness leaves them out."""

    rules: ClassVar = (
        forbidden(_TWO_INSTRUCTIONS, instructions_flag=WRITTEN, instructions_file=WRITTEN),
        forbidden(_TWO_MCP, mcp_config_flag=WRITTEN, mcp_config_file=WRITTEN),
    )
    misspellings: ClassVar = misspelt(
        {
            "model_flag": "modelFlag",
            "output_mode": "outputMode",
            "event_matching": "eventMatching",
            "instructions_flag": "instructionsFlag",
            "mcp_config_flag": "mcpConfigFlag",
            "env": "environment",
        }
    )

    model_flag: PlainText = Field(
        default="", description="The flag before the model's name.", examples=["--model"]
    )
    reasoning_effort_flag: PlainText = Field(
        default="", description="The flag before the reasoning effort.", examples=["--effort"]
    )
    env: TextMap = Field(
        default_factory=dict[str, PlainText],
        description="Environment variables beside the inherited ones. Never put a key here.",
        examples=[{"NO_COLOR": "1"}],
    )
    output_mode: Literal["events", "text"] = Field(
        default="events",
        description="`text`: the program writes no events, all it writes is the answer.",
    )
    event_matching: Literal["first", "all"] = Field(
        default="first",
        description=(
            "With `first` the first mapping that fits an event ends the search, as in the harness; with "
            "`all` each of them counts, which is needed when an event holds a list of several kinds."
        ),
    )
    message_chunks: Flag = Field(
        default=False, description="Messages arrive in pieces: those in a row are one message."
    )
    honor_session_id_path: Flag = Field(
        default=True,
        description="`false`: the session is the `session_id` of a mapped event, as in the harness.",
    )
    event_ids: TextMap = Field(
        default_factory=dict[str, PlainText],
        description="Where the id of a tool call is, by the `value` of a mapping that does not say itself.",
        examples=[{"tool.execution_start": "$.data.toolCallId"}],
    )
    skill_tools: TextMap = Field(
        default_factory=dict[str, PlainText],
        description=(
            "Tools that load a skill, with the argument that names it. `skill` and `Skill` with the "
            "argument `skill` are known."
        ),
        examples=[{"activate_skill": "name"}],
    )
    skills_directory: InsideFile = Field(
        default="",
        description="Where in its working directory the program looks for skills; they are copied there.",
        examples=[".claude/skills"],
    )
    instructions_flag: PlainText = Field(
        default="",
        description=(
            "The flag before further instructions: the body of the skill, instruction files. With neither "
            "this nor `instructions_file` they are put before the first prompt."
        ),
        examples=["--append-system-prompt"],
    )
    instructions_file: InsideFile = Field(
        default="",
        description="The file in its working directory that the program reads for instructions.",
        examples=["AGENTS.md"],
    )
    mcp_config_flag: PlainText = Field(
        default="",
        description=(
            "The flag before a file with `mcpServers`; `{file}` in it stands for the file's path, "
            "in one argument."
        ),
        examples=["--mcp-config", "--additional-mcp-config=@{file}"],
    )
    mcp_config_file: InsideFile = Field(
        default="",
        description="The JSON file in its working directory in which the program finds `mcpServers`.",
        examples=[".gemini/settings.json"],
    )
    result_error_path: EventPath = Field(
        default="",
        description="The turn is an error unless the value in the event of `result` is `false`.",
        examples=["$.is_error"],
    )
    usage: UsagePaths | None = Field(
        default=None,
        description="Where the program reports tokens and cost.",
        examples=[{"input_tokens": "$.usage.input_tokens", "output_tokens": "$.usage.output_tokens"}],
    )

    @model_validator(mode="after")
    def _check_one_way(self) -> Extensions:
        if self.instructions_flag and self.instructions_file:
            raise ValueError(_TWO_INSTRUCTIONS)
        if self.mcp_config_flag and self.mcp_config_file:
            raise ValueError(_TWO_MCP)
        return self


class AdapterFile(CamelBlock):
    """How to drive an agent's command line: its arguments, and what its output means."""

    rules: ClassVar = (
        {
            "if": {
                "type": "object",
                "required": ["x-waza"],
                "properties": {
                    "x-waza": {
                        "type": "object",
                        "required": ["output_mode"],
                        "properties": {"output_mode": {"const": "text"}},
                    }
                },
            },
            "else": {
                "required": ["output", "result"],
                "properties": {"output": {"not": {"type": "null"}}, "result": {"not": {"type": "null"}}},
            },
            "x-waza-message": _NO_EVENTS,
        },
    )
    misspellings: ClassVar = misspelt(
        {
            "sessionMode": "session_mode",
            "autoApprove": "auto_approve",
            "cwdFlag": "cwd_flag",
            "outputMode": "output_mode",
            "outputEvents": ("output_events", "events"),
            "historyTemplate": "history_template",
            "passthroughTypeMap": "passthrough_type_map",
            "command": "cmd",
            "x-waza": ("x_waza", "xWaza"),
        }
    )

    schema_: PlainText = Field(
        default="",
        alias="$schema",
        description="The schema of this file, for editors.",
        examples=["adapter.schema.json"],
    )
    version: Annotated[Literal[1], BeforeValidator(_version), SchemaKeywords({"type": "number"})] = Field(
        description="The version of the format: `1`."
    )
    name: PlainText = Field(description="The agent's name in results.", examples=["claude-headless"])
    command: Annotated[Texts, Field(min_length=1)] = Field(
        description=(
            "The program and its first arguments. The program is looked for on `PATH`; a path with a `/` is "
            "looked for beside this file, then beside the eval file."
        ),
        examples=[["claude"], ["codex", "exec"]],
    )
    session_mode: Literal["stream", "iterative"] = Field(
        description=(
            "How a conversation goes on; the program is started again for every prompt. `stream` continues "
            "its own session with `resume`, `iterative` sends the conversation so far as text."
        ),
    )
    timeout: (
        Annotated[Number, AtMost(LONGEST_MILLISECONDS), severity("warning", exclusiveMinimum=0)] | None
    ) = Field(
        default=None,
        description="Time limit of a turn in milliseconds; the suite's counts when it is shorter.",
        examples=[300000],
    )
    prompt: PromptOptions = Field(
        description="How the prompt reaches the program.", examples=[{"flag": "-p"}, {"stdin": True}]
    )
    output: OutputOptions | None = Field(
        default=None,
        description="The arguments that make the program write events.",
        examples=[{"flag": "--output-format", "value": "stream-json"}],
    )
    auto_approve: Texts = Field(
        default=(),
        description="Arguments with which the program asks nobody before it acts.",
        examples=[["--allow-all-tools"]],
    )
    cwd_flag: PlainText = Field(
        default="",
        description="The flag before the working directory. The program is started there in any case.",
        examples=["--cwd"],
    )
    resume: Resume | None = Field(
        default=None,
        description="How a session is continued, for `stream`.",
        examples=[{"flag": "--resume", "sessionIdPath": "$.session_id"}],
    )
    output_mode: Literal["jsonpath", "passthrough"] = Field(
        default="jsonpath",
        description="`passthrough`: the program's events have our kinds, see `passthroughTypeMap`.",
    )
    output_events: Annotated[tuple[EventMapping, ...], ListOf(texts=False)] = Field(
        default=(),
        description="The meaning of the program's events, in the order in which they are tried.",
        examples=[
            [
                {
                    "match": {"path": "$.type", "value": "assistant"},
                    "emitAs": "message",
                    "extract": {"content": "$.message.text"},
                }
            ]
        ],
    )
    passthrough_type_map: PassthroughMap | None = Field(
        default=None,
        description="How kinds are recognized in `passthrough`.",
        examples=[{"typeField": "type", "typeValues": {"text": "message"}}],
    )
    result: ResultOptions | None = Field(
        default=None,
        description="The event that ends the turn.",
        examples=[{"matchPath": "$.type", "matchValue": "result", "contentPath": "$.result"}],
    )
    history_template: (
        Annotated[HistoryTemplate, BeforeValidator(_template), SchemaKeywords({"type": ["string", "object"]})]
        | None
    ) = Field(
        default=None,
        description="How a past turn is written, for `iterative`.",
        examples=["User: {{input}}\nAssistant: {{output}}"],
    )
    extensions: Extensions = Field(
        default_factory=Extensions,
        alias="x-waza",
        description="Options that only this engine knows.",
        examples=[{"model_flag": "--model"}],
    )

    @model_validator(mode="after")
    def _check_events(self) -> AdapterFile:
        if self.extensions.output_mode != "text" and (self.output is None or self.result is None):
            raise ValueError(_NO_EVENTS)
        return self
