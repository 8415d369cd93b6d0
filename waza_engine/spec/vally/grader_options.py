"""The 36 grader types of Vally, and `pairwise`, which versions before 0.9 had: options and documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import Field

from waza_engine.spec.block import Conflict, Given, misspelt
from waza_engine.spec.fields import (
    Alternatives,
    AnyMap,
    Limit,
    ListOf,
    ListOfBlocks,
    Number,
    RequiredText,
    SchemaKeywords,
    Switch,
    Text,
    TextList,
    TextOrBlock,
    WholeNumber,
    WordMap,
    kind,
)
from waza_engine.spec.vally.blocks import Duration, TextOrTexts, VallyBlock, of_versions
from waza_engine.spec.vally.eval_models import Effort

Pattern: TypeAlias = Annotated[RequiredText, kind("regex")]
Patterns: TypeAlias = Annotated[tuple[Text, ...], ListOf("regex")]
Skills: TypeAlias = Annotated[tuple[Text, ...], ListOf("skill.name")]


class NoOptions(VallyBlock):
    """Nothing: the type has no options."""


class Contains(VallyBlock):
    """The text to look for."""

    at_least_one: ClassVar = {"substring": Given.WRITTEN, "value": Given.WRITTEN}
    misspellings: ClassVar = misspelt({"substring": ("text", "contains"), "case_sensitive": "caseSensitive"})

    substring: Text = Field(default="", description="The text to look for.", examples=["deployed to"])
    value: Text = Field(default="", description="Another name of `substring`.")
    case_sensitive: Switch = Field(default=False, description="Tell upper from lower case.")
    negate: Switch = Field(default=False, description="Pass when it is absent: as the `-not-` type.")


class Matches(VallyBlock):
    """The pattern to look for."""

    misspellings: ClassVar = misspelt({"pattern": ("regex", "value")})

    pattern: Pattern = Field(
        description=(
            "A JavaScript regular expression that is searched. Upper and lower case differ unless it begins "
            "with `(?i)`; `(?m)` and `(?s)` work as well."
        ),
        examples=["(?i)recursi(on|ve)"],
    )
    negate: Switch = Field(default=False, description="Pass when it is not found: as the `-not-` type.")


class RepeatedToolOutput(VallyBlock):
    """The tool results that the agent must repeat."""

    tools: TextList = Field(default=(), description="The tools.", examples=[["search"]])
    pattern: Pattern = Field(description="The values in their results.", examples=["ID-[0-9]+"])


class FilePath(VallyBlock):
    """The files to look for."""

    misspellings: ClassVar = misspelt({"path": ("file", "glob")})

    path: Annotated[RequiredText, kind("path.workspace")] = Field(
        description="A glob below the workspace; files whose names begin with a dot count, too.",
        examples=["src/**/*.ts"],
    )


class FileContains(FilePath):
    """The files, and the text to look for."""

    misspellings: ClassVar = {**FilePath.misspellings, **misspelt({"value": ("substring", "text")})}

    value: RequiredText = Field(description="The text to look for.", examples=["TODO"])


class FileMatches(FilePath):
    """The files, and the pattern to look for."""

    misspellings: ClassVar = {**FilePath.misspellings, **misspelt({"pattern": "regex"})}

    pattern: Pattern = Field(description="The pattern to look for.", examples=["version: [0-9]+"])


class InDiff(VallyBlock):
    """The text or the pattern to look for in the changes of the workspace."""

    at_least_one: ClassVar = {"pattern": Given.WRITTEN, "value": Given.WRITTEN}
    conflicts: ClassVar = (Conflict(("pattern",), ("value",), "write `pattern` or `value`, not both"),)

    pattern: Pattern | None = Field(
        default=None, description="The pattern to look for.", examples=["^\\+TODO"]
    )
    value: Text = Field(default="", description="The text to look for.", examples=["TODO"])


class ToolCallPattern(VallyBlock):
    """Conditions of a tool call: all must hold."""

    place: ClassVar = "tool-calls"
    misspellings: ClassVar = misspelt({"name": "tool", "args": "arguments"})

    name: Annotated[RequiredText, kind("regex")] = Field(
        description="The tool: a pattern that is searched in its name.", examples=["^(bash|powershell)$"]
    )
    command: Pattern | None = Field(
        default=None, description="Pattern of its command.", examples=["npm test"]
    )
    path: Pattern | None = Field(default=None, description="Pattern of its path.", examples=["\\.ts$"])
    args: Annotated[
        dict[str, Text],
        SchemaKeywords(
            {"type": "object", "additionalProperties": {"type": "string", "x-waza-kind": "regex"}}
        ),
    ] = Field(default_factory=dict[str, str], description="Patterns of its arguments, by name.")
    pattern: Pattern | None = Field(default=None, description="Pattern of all arguments, as JSON.")
    result: Pattern | None = Field(default=None, description="Pattern of its result.")
    write_only: Switch = Field(default=False, description="Only calls that write.")
    read_only: Switch = Field(default=False, description="Only calls that read.")
    before_step: WholeNumber | None = Field(default=None, description="Only calls before this step.")
    at_step: WholeNumber | None = Field(default=None, description="Only calls at this step.")
    min_count: WholeNumber | None = Field(default=None, description="At least so many calls.", examples=[2])
    final: Switch = Field(default=False, description="Only the last call.")


ToolCalls: TypeAlias = ListOfBlocks[Annotated[TextOrBlock[Text, ToolCallPattern], Alternatives("regex")]]


class ToolCallOptions(VallyBlock):
    """The required and the disallowed tool calls."""

    at_least_one: ClassVar = dict.fromkeys(("required", "disallowed", "sequence", "parallel"), Given.LISTED)
    misspellings: ClassVar = misspelt(
        {"required": ("expect", "expect_tools"), "disallowed": ("forbidden", "reject_tools")}
    )

    required: ToolCalls = Field(
        default=(), description="Calls that must be made. A plain text is the `name`.", examples=[["^bash$"]]
    )
    disallowed: ToolCalls = Field(default=(), description="Calls that must not be made.", examples=[["web"]])
    sequence: ToolCalls = Field(default=(), description="Calls that must be made in this order.")
    parallel: ToolCalls = Field(default=(), description="Calls that must be made at the same time.")


class SkillOptions(VallyBlock):
    """The required and the disallowed skills."""

    at_least_one: ClassVar = {"required": Given.LISTED, "disallowed": Given.LISTED}
    misspellings: ClassVar = misspelt(
        {"required": ("required_skills", "skills"), "disallowed": ("forbidden_skills", "forbidden")}
    )

    required: Skills = Field(default=(), description="Skills that must be loaded.", examples=[["my-skill"]])
    disallowed: Skills = Field(default=(), description="Skills that must not be loaded.")


class EventOptions(VallyBlock):
    """The required and the disallowed events of the context, such as a compaction."""

    at_least_one: ClassVar = {"required": Given.LISTED, "disallowed": Given.LISTED}

    required: TextList = Field(default=(), description="Events that must occur.", examples=[["compaction"]])
    disallowed: TextList = Field(default=(), description="Events that must not occur.")


class RunCommand(VallyBlock):
    """The command, and what it must answer."""

    place: ClassVar = "run-command"
    misspellings: ClassVar = misspelt(
        {"command": "cmd", "expected_exit_code": "exit_code", "args": "arguments"}
    )

    command: Annotated[RequiredText, kind("command")] = Field(description="The program.", examples=["npm"])
    args: Annotated[tuple[Text, ...], ListOf("argument")] = Field(
        default=(), description="Its arguments.", examples=[["test"]]
    )
    expected_exit_code: WholeNumber = Field(default=0, description="The exit code that passes.")
    timeout: Duration | None = Field(default=None, description="Its time limit.", examples=["60s"])
    env: WordMap = Field(default_factory=dict[str, str], description="Environment variables.")
    sub_path: Text = Field(default="", description="The folder of the workspace in which it starts.")
    stdout_contains: TextOrTexts = Field(default=(), description="Text in its output.", examples=[["passed"]])
    stderr_contains: TextOrTexts = Field(default=(), description="Text in its error output.")
    stdout_matches: TextOrTexts = Field(default=(), description="Patterns that match its output.")
    stdout_not_matches: TextOrTexts = Field(
        default=(), description="Patterns that must not match its output."
    )


class Program(VallyBlock):
    """The program that grades."""

    place: ClassVar = "program"
    misspellings: ClassVar = misspelt({"program": "command", "args": "arguments"})

    program: Annotated[RequiredText, kind("command")] = Field(
        description=(
            "The program. It starts in the workspace; `EVALUATE_GRADER_INPUT` names a JSON file with "
            "`trajectory`, `stimulus` and `config`. A last line of JSON with `passed` and `score` is the "
            "result, else exit code 0 passes."
        ),
        examples=["python3"],
    )
    args: Annotated[tuple[Text, ...], ListOf("argument")] = Field(
        default=(), description="Its arguments.", examples=[["grade.py"]]
    )
    timeout: Duration | None = Field(default=None, description="Its time limit.", examples=["60s"])
    env: WordMap = Field(default_factory=dict[str, str], description="Environment variables.")
    sub_path: Text = Field(default="", description="The folder of the workspace in which it starts.")


class Prompt(VallyBlock):
    """How a model judges by the `rubric` of the stimulus."""

    place: ClassVar = "prompt"
    misspellings: ClassVar = misspelt({"model": "judge_model", "scoring": "scale", "threshold": "min_score"})

    prompt: Text = Field(default="", description="Further words for the judge.")
    model: Annotated[Text, kind("model")] = Field(default="", description="The judge's model.")
    reasoning_effort: Effort | None = Field(default=None, description="How much the judge reasons.")
    scoring: Literal["binary", "scale_1_5", "scale_1_10"] = Field(
        default="scale_1_5", description="Pass or fail, or a scale."
    )
    threshold: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.5, description="The score that passes, 0 to 1: on `scale_1_5` a 3 is 0.5."
    )
    evidence: Annotated[
        tuple[
            Annotated[
                Literal["trajectory", "diff", "golden_patch", "repo"],
                of_versions("evidence", "golden_patch", "repo"),
            ],
            ...,
        ],
        ListOf(texts=False),
    ] = Field(
        default=("trajectory",),
        description="The material that the judge sees.",
        examples=[["trajectory", "diff"]],
    )
    output_delivery: Text = Field(default="", description="How the judge got the output, before 0.17.")


class Panel(Prompt):
    """How several models judge."""

    models: TextList = Field(default=(), description="The judges.", examples=[["gpt-5", "claude-opus-4.5"]])
    aggregation: Literal["majority", "mean", "median", "min"] | None = Field(
        default=None, description="How their scores become one."
    )


class Max(VallyBlock):
    """The most that is allowed."""

    misspellings: ClassVar = misspelt({"max": ("limit", "maximum", "value")})

    max: Limit = Field(description="The most allowed.", examples=[20])


class MaxToolCalls(Max):
    """The most tool calls allowed."""

    place: ClassVar = "tool-call-count"

    tools: Patterns = Field(default=(), description="Patterns of the tools to count.", examples=[["^bash$"]])


class MaxTime(VallyBlock):
    """The longest time allowed."""

    misspellings: ClassVar = misspelt({"max": ("limit", "max_duration")})

    max: Duration = Field(description="The longest time allowed.", examples=["90s"])


class Metrics(VallyBlock):
    """Checks of metrics that the run wrote as JSON."""

    assertions: ListOfBlocks[AnyMap] = Field(
        default=(),
        description="Checks: `metric`, `operator` and `value`.",
        examples=[[{"metric": "coverage", "operator": ">=", "value": 0.8}]],
    )
    path: Text = Field(default="", description="The JSON file.")


class Repeats(VallyBlock):
    """How often the same call may be repeated."""

    place: ClassVar = "max-repeat"

    max: Limit = Field(description="The most repetitions.", examples=[3])
    tools: TextList = Field(default=(), description="The tools to count.")
    max_cycle_period: Limit | None = Field(default=None, description="The longest cycle of calls to detect.")


class Loops(VallyBlock):
    """How stuck the agent may get."""

    max_acceptable_retries: Limit | None = Field(default=None, description="The most retries.", examples=[2])
    should_loop: Switch = Field(default=False, description="`true`: the agent should loop.")


class GraderType(NamedTuple):
    """A grader type: what it passes for, its options, and the options of its example."""

    about: str
    options: type[VallyBlock]
    example: str = ""


def _pairs(where: str, name: str, options: type[VallyBlock], example: str) -> dict[str, GraderType]:
    """Return a type that looks for something, and its opposite."""
    prefix, _, verb = name.partition("-")
    return {
        name: GraderType(f"Passes when {where}.", options, example),
        f"{prefix}-not-{verb}": GraderType(f"Fails when {where}.", options, example),
    }


GRADERS: Mapping[str, GraderType] = {
    **_pairs("the last answer contains a text", "output-contains", Contains, "substring: deployed to"),
    **_pairs("a pattern is found in the last answer", "output-matches", Matches, "pattern: (?i)deployed"),
    **_pairs("any answer contains a text", "transcript-contains", Contains, "substring: deployed to"),
    **_pairs("a pattern is found in any answer", "transcript-matches", Matches, "pattern: (?i)deployed"),
    "assistant-contains-tool-output": GraderType(
        "Passes when the agent repeats a value that a tool result matched.",
        RepeatedToolOutput,
        "tools: [search]\npattern: ID-[0-9]+",
    ),
    **_pairs("a file of the workspace matches a glob", "file-exists", FilePath, "path: src/**/*.ts"),
    **_pairs("a matched file contains a text", "file-contains", FileContains, "path: '*.md'\nvalue: TODO"),
    **_pairs(
        "a pattern is found in a matched file", "file-matches", FileMatches, "path: '*.md'\npattern: '^# '"
    ),
    **_pairs("the changes of the workspace contain something", "diff-contains", InDiff, "value: TODO"),
    "diff-empty": GraderType("Passes when the workspace did not change.", NoOptions),
    "tool-calls": GraderType(
        "Passes when all required calls were made, in order, and none that is disallowed.",
        ToolCallOptions,
        "required:\n  - name: ^bash$\n    command: npm test",
    ),
    "skill-invocation": GraderType(
        "Passes when all required skills were loaded, and none that is disallowed.",
        SkillOptions,
        "required: [my-skill]",
    ),
    "system-event": GraderType(
        "Passes by events of the context, such as a compaction.", EventOptions, "disallowed: [compaction]"
    ),
    "run-command": GraderType(
        "Runs a command in the workspace and compares its exit code and output.",
        RunCommand,
        "command: npm\nargs: [test]",
    ),
    "program": GraderType("Runs a program that grades.", Program, "program: python3\nargs: [grade.py]"),
    "prompt": GraderType("Asks a model, by the `rubric` of the stimulus.", Prompt, "threshold: 0.75"),
    "panel": GraderType("Asks several models.", Panel, "models: [gpt-5, claude-opus-4.5]"),
    "completed": GraderType(
        "Passes when the answer is not blank, no error occurred and the turn ended.", NoOptions
    ),
    "exit-success": GraderType("Passes when the answer is not blank: older than `completed`.", NoOptions),
    "token-budget": GraderType("Limits the tokens, in and out.", Max, "max: 50000"),
    "tool-call-count": GraderType("Limits the tool calls.", MaxToolCalls, "max: 20"),
    "step-count": GraderType("Limits the steps.", Max, "max: 20"),
    "turn-count": GraderType("Limits the turns.", Max, "max: 10"),
    "error-count": GraderType("Limits the errors.", Max, "max: 0"),
    "wall-time": GraderType("Limits the time of a trial.", MaxTime, "max: 90s"),
    "custom-metrics": GraderType(
        "Checks metrics that the run wrote as JSON.",
        Metrics,
        "assertions:\n  - {metric: coverage, operator: '>=', value: 0.8}",
    ),
    "max-repeat": GraderType("Limits how often a call is repeated.", Repeats, "max: 3"),
    "loop-outcome": GraderType("Checks whether the agent gets stuck.", Loops, "max_acceptable_retries: 2"),
    "pairwise": GraderType("Compared two runs. Use `vally compare` instead.", NoOptions),
}
