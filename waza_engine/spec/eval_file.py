"""``eval.yaml``: the suite, its run settings, its graders and where its tasks are."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from waza_engine.spec.block import Block, Given
from waza_engine.spec.command_mocks import (
    COMMAND_MOCKS_EXAMPLE,
    SEQUENCE_NEEDS,
    CommandMock,
    has_sequence,
    sequence_rules,
    without_twins,
)
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.spec.fields import (
    Alternatives,
    ListOf,
    Switch,
    Text,
    WholeNumber,
    text_or_block,
)
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.schema_version import (
    NEWEST_VERSION,
    SINCE,
    SchemaVersion,
    since,
    version_fault,
    version_rules,
)
from waza_engine.spec.suite_parts import Adversarial, Hooks, McpMock, Metric, without_duplicates
from waza_engine.spec.task_file import TaskElement
from waza_engine.spec.values import ListOfBlocks, Shown, WordMap, kind, matching

_RANGE_MESSAGE = "must be two row numbers, the first not greater than the second, such as `[1, 10]`"


def _rows(value: tuple[int, ...]) -> tuple[int, ...]:
    if value != (0, 0) and not 0 < value[0] <= value[1]:
        raise ValueError(_RANGE_MESSAGE)
    return value


class EvalFile(Block):
    """An evaluation suite: which skill is tested, how it is run and how the answers are graded."""

    at_least_one: ClassVar = {"tasks": Given.LISTED, "tasks_from": Given.WRITTEN}
    recommended: ClassVar = (
        {"key": "name", "severity": "hint", "why": "results and the dashboard show the suite by its name"},
        {
            "key": "skill",
            "severity": "hint",
            "why": "without it the result does not say which skill was tested",
            "unless": "scenario",
        },
    )
    rules: ClassVar = (*version_rules(), *sequence_rules())
    misspellings: ClassVar = {
        "schema_version": "schemaVersion",
        "task_patterns": "tasks",
        "task": "tasks",
        "test_cases": "tasks",
        "tests": "tasks",
        "scenarios": "tasks",
        "cases": "tasks",
        "task_files": "tasks",
        "skill_name": "skill",
        "title": "name",
        "testing_criteria": "graders",
        "settings": "config",
        "evaluators": "graders",
        "scorers": "graders",
        "assert": "graders",
        "assertions": "graders",
        "checks": "graders",
        "summary": "description",
        "grader": "graders",
        "metric": "metrics",
        "hook": "hooks",
        "mcpMocks": "mcp_mocks",
        "commandMocks": "command_mocks",
        "variables": "inputs",
    }
    uncertain: ClassVar = frozenset(
        {"tests", "scenarios", "testing_criteria", "scorers", "assert", "assertions", "checks"}
    )

    schema_version: SchemaVersion = Field(
        default=NEWEST_VERSION,
        alias="schemaVersion",
        description=(
            "The version of the file format, the newest 1.x without it. `2.0` is needed for a `scenario` and "
            "for nothing else; `mcp_mocks` needs 1.1, `adversarial` 1.2, `command_mocks` 1.3."
        ),
        examples=["1.5", "2.0"],
    )
    name: Text = Field(
        default="", description="The suite's name in results and reports.", examples=["code-explainer-eval"]
    )
    description: Text = Field(default="", description="What the suite is about, for readers.")
    scenario: Annotated[Text, matching(r"\S", "must not be blank")] | None = Field(
        default=None,
        description=(
            "The workflow under test, by a name of its own; `skill` may be left out then. A suite without "
            "`skill` and without `skill_directories` loads no skill at all, and nothing of it is cached."
        ),
        examples=["inventory-report"],
        json_schema_extra=since("2.0"),
    )
    skill: Annotated[Text, kind("skill.name")] = Field(
        default="",
        description="The skill under test: the `name` in its `SKILL.md`.",
        examples=["code-explainer"],
    )
    version: Annotated[Text, Shown({"type": "string", "x-waza-severity": "warning"})] = Field(
        default="",
        description=(
            "The version of the suite, free text. "
            "Quote it: an unquoted `1.10` is the number 1.1 to other tools."
        ),
        examples=["1.0"],
    )
    config: EvalConfig = Field(
        description="How the suite runs: trials, time limit, executor, model.",
        examples=[{"trials_per_task": 1, "timeout_seconds": 300, "executor": "mock"}],
    )
    hooks: Hooks = Field(
        default_factory=Hooks,
        description="Commands that run before and after the suite and each task.",
        examples=[{"before_run": [{"command": "python prepare.py", "error_on_fail": True}]}],
    )
    inputs: WordMap = Field(
        default_factory=dict[str, str],
        description=(
            "Values for `{{.Vars.name}}` in the prompts of a CSV dataset; a column of the same name wins."
        ),
        examples=[{"language": "Python"}],
    )
    tasks: Annotated[
        tuple[
            Annotated[
                Annotated[Text, Tag("text")] | Annotated[TaskElement, Tag("block")],
                Discriminator(text_or_block),
                Alternatives("task.glob"),
            ],
            ...,
        ],
        ListOf(texts=False),
    ] = Field(
        default=(),
        description=(
            "The task files: paths or patterns relative to `eval.yaml`. `*`, `?` and `[…]` "
            "match within one directory; `**` is no more than `*`. A file matched twice is loaded twice."
        ),
        examples=[["tasks/*.yaml"]],
    )
    tasks_from: Annotated[Text, kind("path.suite")] = Field(
        default="",
        description=(
            "A file of tasks inside the directory of `eval.yaml`; `tasks` is not read then. A CSV file has "
            "one a row, with the columns `id`, `name`, `prompt`; every column is a value in the prompt, "
            "`{{.Vars.column}}`. A file `.jsonl` has one a line, with `id`, `input` (a list is a "
            "conversation), `hint`, `reference`, `metadata`, `timeout`; upstream reads CSV only."
        ),
        examples=["dataset.csv", "prompts.jsonl"],
    )
    range: Annotated[
        tuple[WholeNumber, ...],
        Field(min_length=2, max_length=2),
        AfterValidator(_rows),
        ListOf(texts=False),
        Shown(
            {
                "allOf": [{"if": {"not": {"const": [0, 0]}}, "then": {"items": {"minimum": 1}}}],
                "x-waza-ascending": True,
                "x-waza-message": _RANGE_MESSAGE,
            }
        ),
    ] = Field(
        default=(0, 0),
        description="First and last row (or prompt) of `tasks_from`, counted from 1. `[0, 0]` takes all.",
        examples=[[1, 10]],
    )
    graders: ListOfBlocks[GraderEntry] = Field(
        default=(), description="Graders of every task; a task may add its own."
    )
    metrics: ListOfBlocks[Metric] = Field(
        default=(),
        description="Figures of the whole suite.",
        examples=[[{"name": "task_completion", "weight": 1.0, "threshold": 0.8}]],
    )
    baseline: Switch = Field(
        default=False,
        description=(
            "Run everything a second time without skills and report what the skill adds. "
            "Needs `skill_directories` or `required_skills`."
        ),
    )
    mcp_mocks: Annotated[ListOfBlocks[McpMock], AfterValidator(without_duplicates)] = Field(
        default=(),
        description="MCP servers that answer from canned responses.",
        examples=[[{"name": "github", "fixtures": "mocks/github"}]],
        json_schema_extra=since("1.1"),
    )
    command_mocks: Annotated[ListOfBlocks[CommandMock], AfterValidator(without_twins)] = Field(
        default=(),
        description=(
            "Programs that answer from canned responses whenever the agent calls them. A list of a task "
            "replaces this one."
        ),
        examples=[COMMAND_MOCKS_EXAMPLE],
        json_schema_extra=since("1.3"),
    )
    adversarial: Adversarial | None = Field(
        default=None,
        description="Attack packs for the `adversarial` command. A normal run does not use them.",
        examples=[{"packs": ["prompt-injection"]}],
        json_schema_extra=since("1.2"),
    )

    def _has_sequence(self) -> bool:
        tools = (tool for mock in self.mcp_mocks for tool in mock.tools.values())
        return has_sequence(self.command_mocks) or any(
            response.sequence is not None for tool in tools for response in tool.responses
        )

    @model_validator(mode="after")
    def _check_version(self) -> EvalFile:
        config = self.config
        fault = version_fault(
            self.schema_version,
            self.scenario,
            {key: getattr(self, key, None) for key in SINCE},
            lost_skills=bool(config.required_skills) and not config.skill_directories,
        )
        if fault is None and self.scenario is None and self._has_sequence():
            fault = SEQUENCE_NEEDS
        if fault is not None:
            raise ValueError(fault)
        return self
