"""An adapter file: how to drive the command line of an agent (version 1 of the agent-eval-harness schema).

The keys are those of the agent-eval-harness, so one file serves both tools. Keys of this engine alone are
under ``x-waza``, and a few in an event mapping (``when``; ``id``, ``input``, ``output`` and ``error`` of
``extract``), which the other tool leaves out.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from waza_engine.spec.adapter_parts import (
    WRITTEN,
    EventMapping,
    EventPath,
    Flag,
    HistoryTemplate,
    InsideFile,
    OutputOptions,
    PassthroughMap,
    PromptOptions,
    ResultOptions,
    Resume,
    TextMap,
    Texts,
    UsagePaths,
    exclusive,
)
from waza_engine.spec.block import Block
from waza_engine.spec.fields import ListOf, Number, PlainText
from waza_engine.spec.limits import LONGEST_MILLISECONDS
from waza_engine.spec.values import AtMost, Shown, severity

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
        exclusive({"instructions_flag": WRITTEN}, {"instructions_file": WRITTEN}, _TWO_INSTRUCTIONS),
        exclusive({"mcp_config_flag": WRITTEN}, {"mcp_config_file": WRITTEN}, _TWO_MCP),
    )
    misspellings: ClassVar = {
        "modelFlag": "model_flag",
        "outputMode": "output_mode",
        "eventMatching": "event_matching",
        "instructionsFlag": "instructions_flag",
        "mcpConfigFlag": "mcp_config_flag",
        "environment": "env",
    }

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
            "Whether the first mapping that fits an event ends the search, as in the harness, or `all` "
            "count: needed when an event holds a list of several kinds."
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
            "this nor `instructions_file` they stand before the first prompt."
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
        description="The turn is an error unless `false` stands there in the event of `result`.",
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


class AdapterFile(Block):
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
    misspellings: ClassVar = {
        "session_mode": "sessionMode",
        "auto_approve": "autoApprove",
        "cwd_flag": "cwdFlag",
        "output_mode": "outputMode",
        "output_events": "outputEvents",
        "events": "outputEvents",
        "history_template": "historyTemplate",
        "passthrough_type_map": "passthroughTypeMap",
        "cmd": "command",
        "x_waza": "x-waza",
        "xWaza": "x-waza",
    }

    schema_: PlainText = Field(
        default="",
        alias="$schema",
        description="The schema of this file, for editors.",
        examples=["adapter.schema.json"],
    )
    version: Annotated[Literal[1], BeforeValidator(_version), Shown({"type": "number"})] = Field(
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
        alias="sessionMode",
        description=(
            "How a conversation goes on; the program is started anew for every prompt. `stream` continues "
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
        description="What makes the program write events.",
        examples=[{"flag": "--output-format", "value": "stream-json"}],
    )
    auto_approve: Texts = Field(
        default=(),
        alias="autoApprove",
        description="Arguments with which the program asks nobody before it acts.",
        examples=[["--allow-all-tools"]],
    )
    cwd_flag: PlainText = Field(
        default="",
        alias="cwdFlag",
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
        alias="outputMode",
        description="`passthrough`: the program's events have our kinds, see `passthroughTypeMap`.",
    )
    output_events: Annotated[tuple[EventMapping, ...], ListOf(texts=False)] = Field(
        default=(),
        alias="outputEvents",
        description="What the program's events mean, in the order in which they are tried.",
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
        alias="passthroughTypeMap",
        description="How kinds are recognized in `passthrough`.",
        examples=[{"typeField": "type", "typeValues": {"text": "message"}}],
    )
    result: ResultOptions | None = Field(
        default=None,
        description="The event that ends the turn.",
        examples=[{"matchPath": "$.type", "matchValue": "result", "contentPath": "$.result"}],
    )
    history_template: (
        Annotated[HistoryTemplate, BeforeValidator(_template), Shown({"type": ["string", "object"]})] | None
    ) = Field(
        default=None,
        alias="historyTemplate",
        description="How a past turn is written, for `iterative`.",
        examples=["User: {{input}}\nAssistant: {{output}}"],
    )
    extensions: Extensions = Field(
        default_factory=Extensions,
        alias="x-waza",
        description="What only this engine knows of the program.",
        examples=[{"model_flag": "--model"}],
    )

    @model_validator(mode="after")
    def _check_events(self) -> AdapterFile:
        if self.extensions.output_mode != "text" and (self.output is None or self.result is None):
            raise ValueError(_NO_EVENTS)
        return self
