"""A Vally eval file: stimuli, the settings of their runs, graders and the scoring."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from waza_engine.spec.block import Conflict, Given, misspelt
from waza_engine.spec.fields import (
    Alternatives,
    AnyMap,
    Limit,
    ListOf,
    ListOfBlocks,
    NotNegative,
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
from waza_engine.spec.vally.blocks import Duration, PathsOfFile, VallyBlock, of_versions

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh"]
Tags: TypeAlias = Annotated[
    dict[str, Any],
    SchemaKeywords(
        {
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean", "array", "null"]},
        }
    ),
]


class Executor(VallyBlock):
    """An executor with its settings."""

    name: RequiredText = Field(description="Its name.", examples=["copilot-sdk"])
    config: AnyMap = Field(default_factory=dict[str, Any], description="Its settings.")


class Defaults(VallyBlock):
    """How stimuli run, unless they say otherwise."""

    place: ClassVar = "defaults"
    misspellings: ClassVar = misspelt(
        {"runs": ("trials", "trials_per_task"), "timeout": "timeout_seconds", "judge_model": "judgeModel"}
    )

    runs: Annotated[WholeNumber, NotNegative] = Field(
        default=1,
        description="How many trials each stimulus gets. `0` means lint only: nothing runs.",
        examples=[3],
    )
    timeout: Duration = Field(
        default="2m", description="Time limit of a trial, a number with its unit.", examples=["90s", "5m"]
    )
    model: Annotated[Text, kind("model")] = Field(default="", description="The model of the agent.")
    judge_model: Annotated[Text, kind("model")] = Field(
        default="", description="The model of `prompt` graders that name none."
    )
    reasoning_effort: Effort | None = Field(default=None, description="How much the agent's model reasons.")
    judge_reasoning_effort: Effort | None = Field(
        default=None, description="How much the judge's model reasons."
    )
    executor: Annotated[TextOrBlock[Text, Executor], Alternatives()] = Field(
        default="copilot-sdk",
        description="The program that runs the agent; a block gives it settings.",
        examples=["copilot-sdk", "mock"],
    )
    judge_provider: Any = Field(
        default=None, description="The model provider of judges, if it is not the agent's."
    )


class EnvironmentFile(VallyBlock):
    """A file or folder for the workspace."""

    misspellings: ClassVar = misspelt({"src": ("source", "path"), "dest": ("destination", "target")})

    src: Annotated[RequiredText, kind("vally.path")] = Field(
        description="The file or folder, relative to the eval file.", examples=["fixtures/app"]
    )
    dest: Text = Field(
        default="",
        description="Where it lies in the workspace. Vally requires it since 0.10.",
        examples=["app"],
        json_schema_extra={"x-waza-expected-since": "a file without `dest`"},
    )


class McpServer(VallyBlock):
    """An MCP server of the agent."""

    type: Literal["stdio", "local", "http", "sse"] | None = Field(
        default=None, description="How it is reached."
    )
    command: Text = Field(default="", description="The program of a `stdio` server.", examples=["npx"])
    args: Annotated[tuple[Text, ...], ListOf("argument")] = Field(
        default=(), description="The arguments of the program."
    )
    env: WordMap = Field(default_factory=dict[str, str], description="Environment variables of the program.")
    cwd: Text = Field(
        default="",
        description="Where the program starts. Since 0.12 a relative program needs `.` here.",
        examples=["."],
    )
    url: Text = Field(default="", description="The address of an `http` server.")
    headers: WordMap = Field(default_factory=dict[str, str], description="Headers of each request.")
    tools: TextList = Field(default=(), description="The tools that the agent gets; `*` means all.")
    timeout: Duration | None = Field(default=None, description="Time limit of a call.", examples=["30s"])


class Git(VallyBlock):
    """A git repository as the workspace."""

    type: Annotated[Literal["worktree", "clone"], of_versions("git", "clone")] = Field(
        default="worktree", description="`worktree` of a local repository, or `clone` of an address."
    )
    url: Text = Field(default="", description="The repository.", examples=["https://github.com/o/r.git"])
    source: Text = Field(default="", description="The local repository of a worktree.", examples=["."])
    ref: Text = Field(default="", description="The commit, branch or tag.", examples=["main"])
    shallow: Switch = Field(default=False, description="Fetch that commit only.")
    sparse: TextList = Field(default=(), description="The folders to check out.")


class Environment(VallyBlock):
    """The skills, files, servers and repository of the agent. Those of a stimulus add to those of a file."""

    place: ClassVar = "environment"
    misspellings: ClassVar = misspelt(
        {
            "skills": "skill",
            "mcpServers": "mcp_servers",
            "commands": "setup",
            "commandTimeout": "command_timeout",
            "files": "fixtures",
        }
    )

    skills: PathsOfFile = Field(
        default=(),
        description="Skill folders, or their `SKILL.md`, relative to this file.",
        examples=[["../skills/my-skill"]],
    )
    files: ListOfBlocks[EnvironmentFile] = Field(
        default=(),
        description="Files for the workspace.",
        examples=[[{"src": "fixtures/app", "dest": "app"}]],
    )
    commands: Annotated[tuple[Text, ...], ListOf()] = Field(
        default=(),
        description="Shell lines that run in the workspace before the agent, in order.",
        examples=[["npm ci"]],
    )
    command_timeout: Duration = Field(
        default="60s", alias="commandTimeout", description="Time limit of each of the `commands`."
    )
    mcp_servers: dict[str, McpServer] = Field(
        default_factory=dict[str, McpServer],
        alias="mcpServers",
        description="MCP servers of the agent, by name.",
        examples=[{"docs": {"type": "http", "url": "http://127.0.0.1:8080"}}],
    )
    git: Git | None = Field(
        default=None, description="A git repository as the workspace.", examples=[{"type": "worktree"}]
    )


EnvironmentOrName: TypeAlias = Annotated[TextOrBlock[Text, Environment], Alternatives("vally.environment")]


class VallyGrader(VallyBlock):
    """One grader: what it checks is decided by `type`, how by `config`."""

    misspellings: ClassVar = misspelt({"type": "kind", "config": ("options", "params", "settings")})

    type: Annotated[RequiredText, kind("grader.type")] = Field(
        description="The type of check; it decides which options `config` takes."
    )
    name: Annotated[Text, kind("vally.slug")] = Field(
        default="",
        description=(
            "The grader's name in results. Since 0.16 it is a slug such as `mentions-url` (lower-case "
            "letters, digits and `-`, at most 60 characters), and unique in the stimulus."
        ),
        examples=["mentions-url"],
    )
    turn: Limit | None = Field(
        default=None, description="Judge only this turn of the conversation; `0` is the first.", examples=[0]
    )
    required: Switch = Field(
        default=False, description="Fail the trial when this grader fails, whatever the score."
    )
    config: AnyMap = Field(default_factory=dict[str, Any], description="The options of this grader type.")


class Turn(VallyBlock):
    """A prompt of a conversation."""

    prompt: RequiredText = Field(description="The prompt.", examples=["Now add tests."])


class Constraints(VallyBlock):
    """Limits of a trial; each is a check like a grader."""

    place: ClassVar = "constraints"
    misspellings: ClassVar = misspelt(
        {
            "max_turns": "max_steps",
            "max_tool_calls": "max_calls",
            "max_duration": "timeout",
            "expect_tools": "required_tools",
            "reject_tools": "forbidden_tools",
        }
    )
    uncertain: ClassVar = frozenset({"max_steps", "timeout"})

    max_turns: Limit | None = Field(default=None, description="The most turns.", examples=[10])
    max_tokens: Limit | None = Field(
        default=None, description="The most tokens, in and out.", examples=[50000]
    )
    max_tool_calls: Limit | None = Field(default=None, description="The most tool calls.", examples=[20])
    max_duration: Duration | None = Field(default=None, description="The longest trial.", examples=["90s"])
    max_duration_ms: WholeNumber | None = Field(
        default=None, description="The longest trial, in milliseconds: how `max_duration` was once written."
    )
    expect_tools: Annotated[tuple[Text, ...], ListOf("tool.name")] = Field(
        default=(), description="Tools that must be called; `*` means any.", examples=[["bash"]]
    )
    reject_tools: Annotated[tuple[Text, ...], ListOf("tool.name")] = Field(
        default=(), description="Tools that must not be called; `*` means any.", examples=[["web_fetch"]]
    )
    expect_skills: TextList = Field(
        default=(), description="Skills that must be loaded; `*` means any.", examples=[["my-skill"]]
    )
    reject_skills: TextList = Field(
        default=(), description="Skills that must not be loaded; `*` means any.", examples=[["*"]]
    )


class Artifacts(VallyBlock):
    """The files of the workspace that are stored with the results."""

    include: TextList = Field(default=(), description="Globs of files to store.", examples=[["**/*.md"]])
    exclude: TextList = Field(default=(), description="Globs of files to leave out.")


class Simulation(VallyBlock):
    """Recorded answers in place of real tools."""

    tool_overrides: Any = Field(
        default=None, description="Answers by tool and exact arguments; without a match the real tool runs."
    )


class Stimulus(VallyBlock):
    """One test: a prompt or a conversation, and the graders of its answer."""

    place: ClassVar = "stimulus"
    at_least_one: ClassVar = {"prompt": Given.PRESENT, "turns": Given.LISTED}
    conflicts: ClassVar = (Conflict(("prompt",), ("turns",), "a stimulus has `prompt` or `turns`, not both"),)
    misspellings: ClassVar = misspelt(
        {
            "name": "id",
            "prompt": "input",
            "graders": ("assertions", "evaluators"),
            "environment": "setup",
            "turns": "prompts",
            "rubric": "rubrics",
            "constraints": "limits",
        }
    )
    uncertain: ClassVar = frozenset({"assertions", "setup", "id"})

    name: RequiredText = Field(
        description="The name of the stimulus, unique in the file: results are joined by it.",
        examples=["explains-recursion"],
    )
    description: Text = Field(default="", description="The subject of the stimulus, for readers.")
    prompt: Annotated[RequiredText, kind("prompt.text")] | None = Field(
        default=None, description="The prompt for the agent.", examples=["Explain what this function does."]
    )
    turns: ListOfBlocks[Annotated[TextOrBlock[Text, Turn], Alternatives("prompt.text")]] = Field(
        default=(),
        description="The prompts of a conversation, instead of `prompt`.",
        examples=[["Write a parser.", "Now add tests."]],
    )
    graders: ListOfBlocks[VallyGrader] = Field(default=(), description="The graders of this stimulus.")
    rubric: TextList = Field(
        default=(),
        description="Criteria for `prompt` and `panel` graders, one sentence each.",
        examples=[["Names the base case."]],
    )
    constraints: Constraints | None = Field(
        default=None, description="Limits of a trial.", examples=[{"max_turns": 10}]
    )
    tags: Tags = Field(
        default_factory=dict[str, Any],
        description="Tags by name, for the filters of suites in `.vally.yaml`.",
        examples=[{"area": "docs"}],
    )
    environment: EnvironmentOrName = Field(
        default="", description="An environment that is added to that of the file."
    )
    config: Defaults | None = Field(
        default=None,
        description="Settings of this stimulus in place of the `defaults`.",
        examples=[{"runs": 3}],
    )
    runs: Annotated[WholeNumber, NotNegative] | None = Field(
        default=None, description="How many trials this stimulus gets.", examples=[3]
    )
    timeout: Duration | None = Field(
        default=None, description="Time limit of a trial of this stimulus.", examples=["5m"]
    )
    expect_activation: Switch | None = Field(
        default=None, description="`true`: the skill must be loaded. `false`: it must not."
    )
    artifacts: Artifacts | None = Field(default=None, description="Files that are stored with the results.")
    attachments: Annotated[tuple[Any, ...], ListOf(texts=False)] = Field(
        default=(), description="Files that go with the first prompt."
    )
    simulation: Simulation | None = Field(default=None, description="Recorded answers in place of tools.")


class Scoring(VallyBlock):
    """How the results of graders become the verdict on a trial and on the run."""

    place: ClassVar = "scoring"
    misspellings: ClassVar = misspelt({"weights": "weight", "threshold": ("min_score", "pass_threshold")})

    weights: Annotated[
        dict[str, Number],
        SchemaKeywords({"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}),
    ] = Field(
        default_factory=dict[str, float],
        description="Weight by grader type. Since 0.7 they name every used type, and their sum is 1.",
        examples=[{"output-matches": 0.6, "prompt": 0.4}],
    )
    threshold: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=None,
        description=(
            "The score that a trial, and the run, must reach, 0 to 1. Without it every grader must pass."
        ),
        examples=[0.8],
    )
    timeout: Duration | None = Field(
        default=None, description="Time limit of all graders of a trial.", examples=["5m"]
    )


class VallyEval(VallyBlock):
    """A Vally eval file."""

    place: ClassVar = "file"
    conflicts: ClassVar = (
        Conflict(("config",), ("defaults",), "`config` is the older name of `defaults`; keep one of them"),
    )
    misspellings: ClassVar = misspelt(
        {
            "name": "title",
            "stimuli": ("tests", "stimulus", "cases"),
            "defaults": "default",
            "scoring": "score",
            "environment": "env",
        }
    )

    name: Text = Field(default="", description="The name of the eval in reports.", examples=["my-skill-eval"])
    description: Text = Field(default="", description="The subject of the eval, for readers.")
    version: Text = Field(default="", description="The version of the eval, free text.", examples=["1.0"])
    type: Literal["capability", "regression"] | None = Field(
        default=None, description="The purpose: to explore what an agent can do, or to guard what it could."
    )
    defaults: Defaults | None = Field(
        default=None, description="How stimuli run, unless they say otherwise.", examples=[{"runs": 3}]
    )
    config: Defaults | None = Field(
        default=None, description="The name of `defaults` before 0.7; refused since 0.15."
    )
    environment: EnvironmentOrName = Field(
        default="",
        description="The environment of the agent: a block, or the name of one of `.vally.yaml`.",
        examples=["dotnet", {"skills": ["../skills/my-skill"]}],
    )
    agent_environment: EnvironmentOrName = Field(default="", description="The newer name of `environment`.")
    grading_environment: EnvironmentOrName = Field(
        default="", description="The environment of graders, if they have another one."
    )
    graders: ListOfBlocks[VallyGrader] = Field(
        default=(), description="Graders that are added to every stimulus."
    )
    tags: Tags = Field(
        default_factory=dict[str, Any],
        description="Tags of every stimulus.",
        examples=[{"area": "docs"}],
    )
    scoring: Scoring | None = Field(
        default=None, description="Weights and threshold.", examples=[{"threshold": 0.8}]
    )
    stimuli: Annotated[ListOfBlocks[Stimulus], Field(min_length=1)] = Field(
        description="The tests, at least one.", examples=[[{"name": "a", "prompt": "Say hello."}]]
    )
