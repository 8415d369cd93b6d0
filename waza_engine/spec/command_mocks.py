"""``command_mocks``: programs that answer from canned responses, in place of those on the machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, TypeAlias, cast

from annotated_types import Le
from pydantic import Field, model_validator

from waza_engine.spec.block import Block, Conflict, Given, forbidden, misspelt
from waza_engine.spec.fields import (
    InsidePath,
    ListOfBlocks,
    NotNegative,
    PatternList,
    PlainText,
    Text,
    TextList,
    WholeNumber,
    WordMap,
    kind,
    matching,
)
from waza_engine.spec.limits import LONGEST_MILLISECONDS
from waza_engine.spec.schema_version import since

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_OUTPUT_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "stdout": ("output", "return"),
    "exit_code": ("exitCode", "code", "returncode", "status"),
    "stderr": ("error",),
}
StepNumber: TypeAlias = Annotated[int, Field(strict=True)]
"""A number of a step, where `1.0` is rejected: upstream decodes it as a whole number alone."""
EMPTY_SEQUENCE = "a `sequence` needs at least one step"
_EXIT_CODE = Annotated[WholeNumber, Field(ge=0, le=255)]


class CommandOutput(Block):
    """The output of a program, and its exit code."""

    conflicts: ClassVar = (
        Conflict(("stdout",), ("fixture",), "`stdout` and `fixture` both say what is written; give one"),
    )

    stdout: Any = Field(
        default=None,
        description="Its standard output. A list or a block of keys is written as JSON.",
        examples=[{"state": "ready"}],
    )
    fixture: Annotated[InsidePath, kind("path.suite")] = Field(
        default="",
        description="A file beside the eval file whose content it writes to standard output.",
        examples=["mocks/status.json"],
    )
    stderr: Text = Field(default="", description="Its standard error.", examples=["not logged in\n"])
    exit_code: _EXIT_CODE = Field(default=0, description="Its exit code, 0 to 255.", examples=[1])


class WithSequence(Block):
    """A response of a mock: what it says, or a step for each call."""

    rules: ClassVar = (forbidden(EMPTY_SEQUENCE, sequence={"type": "null"}),)

    @model_validator(mode="before")
    @classmethod
    def _check_sequence(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and "sequence" in value and value["sequence"] is None:
            raise ValueError(EMPTY_SEQUENCE)
        return cast("Any", value)


class CommandStep(CommandOutput):
    """The result of one call of several."""

    at_least_one: ClassVar = dict.fromkeys(("stdout", "fixture", "stderr", "exit_code"), Given.PRESENT)
    misspellings: ClassVar = misspelt({**_OUTPUT_SPELLINGS, "delay_ms": "delay"})

    exit_code: Annotated[StepNumber, Field(ge=0, le=255)] = Field(
        default=0, description="Its exit code, 0 to 255.", examples=[1]
    )
    delay_ms: Annotated[StepNumber, NotNegative, Le(LONGEST_MILLISECONDS)] = Field(
        default=0, description="How long it takes before it answers, in milliseconds.", examples=[200]
    )


class CommandResponse(CommandOutput, WithSequence):
    """One canned answer of a program. The first whose conditions all hold is used."""

    at_least_one: ClassVar = {"args": Given.PRESENT, "args_regex": Given.PRESENT}
    conflicts: ClassVar = (
        *CommandOutput.conflicts,
        Conflict(
            ("args",), ("args_regex",), "`args` and `args_regex` both say which call is meant; give one"
        ),
        Conflict(
            ("sequence",),
            ("stdout", "fixture", "stderr", "exit_code"),
            "with a `sequence` its steps say what is written, nothing beside it",
        ),
    )
    misspellings: ClassVar = misspelt(
        {
            **_OUTPUT_SPELLINGS,
            "args": ("arguments", "match"),
            "args_regex": "match_regex",
            "environment": "env",
            "workdir": "cwd",
            "sequence": "steps",
        }
    )

    args: TextList | None = Field(
        default=None,
        description="The arguments, all of them and in order. `[]` is a call without any.",
        examples=[["status", "--json"]],
    )
    args_regex: PatternList | None = Field(
        default=None,
        description="A pattern for each argument, which must match the whole of it.",
        examples=[["show", "[0-9]+"]],
    )
    environment: WordMap = Field(
        default_factory=dict[str, str],
        description="Environment variables that must have exactly these values.",
        examples=[{"REGION": "west"}],
    )
    workdir: InsidePath = Field(
        default="", description="Where in the workspace it must be called.", examples=["app"]
    )
    sequence: Annotated[ListOfBlocks[CommandStep], Field(min_length=1)] | None = Field(
        default=None,
        description=(
            "The results of the first, second, … call; every call after the last fails. For suites with a "
            "`scenario`."
        ),
        examples=[[{"exit_code": 1, "stderr": "busy\n"}, {"stdout": "ready"}]],
        json_schema_extra=since("2.0"),
    )


class CommandMock(Block):
    """A program that is never started: its calls get canned answers.

    It is first on the `PATH` of the commands that the agent runs. The executors `copilot-sdk`, `openai` and
    `command` run some; for others it has no effect.
    """

    misspellings: ClassVar = misspelt({"name": "command", "responses": "response", "expect_calls": "calls"})

    name: Annotated[
        PlainText,
        matching(NAME_PATTERN, "must be the name of a program: letters, digits, `.`, `_` and `-`"),
    ] = Field(description="The program's name, as it is called.", examples=["az"])
    expect_calls: Annotated[WholeNumber, NotNegative] | None = Field(
        default=None,
        description="How often a task must call it, exactly. Another number fails the task.",
        examples=[1],
    )
    responses: Annotated[ListOfBlocks[CommandResponse], Field(min_length=1)] = Field(
        description="The canned answers, tried in order. A call that none of them fits fails with 127.",
        examples=[[{"args": ["status"], "stdout": {"state": "ready"}}]],
    )


COMMAND_MOCKS_EXAMPLE = [
    {"name": "az", "responses": [{"args": ["account", "show"], "stdout": {"name": "test"}}]}
]


def without_twins(mocks: tuple[CommandMock, ...] | None) -> tuple[CommandMock, ...] | None:
    """Return the mocks; raises ``ValueError`` when two have the same name, ignoring case."""
    seen: set[str] = set()
    for mock in mocks or ():
        if mock.name.casefold() in seen:
            raise ValueError(f"the name `{mock.name}` occurs twice; give every mock its own name")
        seen.add(mock.name.casefold())
    return mocks


def sequence_rules() -> tuple[Mapping[str, Any], ...]:
    """Return the JSON Schema of the rule that a ``sequence`` is for suites with a scenario."""
    with_sequence = {
        "type": "object",
        "required": ["sequence"],
        "properties": {"sequence": {"not": {"type": "null"}}},
    }
    responses = {
        "type": "object",
        "required": ["responses"],
        "properties": {"responses": {"type": "array", "contains": with_sequence}},
    }
    tools = {
        "type": "object",
        "required": ["tools"],
        "properties": {"tools": {"type": "object", "not": {"additionalProperties": {"not": responses}}}},
    }
    return tuple(
        {
            "not": {
                "type": "object",
                "required": [key],
                "properties": {key: {"type": "array", "contains": mock}},
                "not": {"required": ["scenario"]},
            },
            "x-waza-message": SEQUENCE_NEEDS,
        }
        for key, mock in (("command_mocks", responses), ("mcp_mocks", tools))
    )


SEQUENCE_NEEDS = "a `sequence` needs a suite with a `scenario`"


def has_sequence(mocks: Iterable[CommandMock]) -> bool:
    """Return whether a response of one of the mocks has a sequence."""
    return any(response.sequence is not None for mock in mocks for response in mock.responses)
