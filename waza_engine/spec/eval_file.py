"""``eval.yaml``: the suite, its run settings, its graders and where its tasks are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from annotated_types import Le
from pydantic import AfterValidator, Field, model_validator

from waza_engine.spec.block import Block, Conflict, Discouraged, Given, misspelt
from waza_engine.spec.command_mocks import (
    COMMAND_MOCKS_EXAMPLE,
    SEQUENCE_NEEDS,
    CommandMock,
    StepNumber,
    WithSequence,
    has_sequence,
    sequence_rules,
    without_twins,
)
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.spec.fields import (
    Alternatives,
    AnyMap,
    ListOf,
    ListOfBlocks,
    NotNegative,
    Number,
    PlainText,
    RequiredText,
    SchemaKeywords,
    Switch,
    Text,
    TextList,
    TextOrBlock,
    WholeNumber,
    WordMap,
    kind,
    matching,
    severity,
)
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.limits import LONGEST_MILLISECONDS
from waza_engine.spec.schema_version import (
    NEWEST_VERSION,
    SINCE,
    SchemaVersion,
    since,
    version_fault,
    version_rules,
)
from waza_engine.spec.task_file import TaskElement


class Metric(Block):
    """A metric of the whole suite. Only `trigger_accuracy` decides anything; the others are informative."""

    recommended: ClassVar = ({"key": "name", "severity": "warning", "why": "a metric is known by its name"},)
    misspellings: ClassVar = misspelt({"threshold": ("pass_threshold", "min_score"), "weight": "importance"})

    name: Text = Field(
        default="",
        description=(
            "The name of the metric. `trigger_accuracy` is the share of trigger prompts answered rightly; "
            "below its `threshold` the run fails. The others inform: `task_completion` is the share of tasks "
            "that passed in some trial, `behavior_quality` the mean score of all trials, `pass_at_k` "
            "(`pass@k`) and `pass_exp_k` (`pass^k`) the chance that one, or every one, of as many new trials "
            "passes."
        ),
        examples=["trigger_accuracy", "task_completion", "behavior_quality", "pass_at_k", "pass_exp_k"],
        json_schema_extra={"x-waza-kind": "metric"},
    )
    weight: Annotated[Number, severity("warning", exclusiveMinimum=0)] = Field(
        default=1.0, description="Its share in the suite's composite figure.", examples=[0.4]
    )
    threshold: Annotated[Number, severity("warning", minimum=0, maximum=1)] = Field(
        default=0.0, description="The value to reach, 0 to 1. `0` asks for nothing.", examples=[0.8]
    )
    enabled: Switch = Field(
        default=True,
        description="Let the metric count.",
        json_schema_extra={"x-waza-inert": "Upstream reads this key and never uses it."},
    )
    description: Text = Field(default="", description="The meaning of the metric, for readers.")


class Hook(Block):
    """A command that runs before or after the suite or a task."""

    misspellings: ClassVar = misspelt(
        {"command": ("cmd", "run", "script"), "working_directory": ("cwd", "workdir")}
    )

    command: Annotated[RequiredText, kind("command")] = Field(
        description=(
            "The command with its arguments, split at white space and started **without a shell**: "
            "quotes, pipes and `$VARIABLES` have no meaning. Write `sh script.sh` when you need them."
        ),
        examples=["python prepare.py"],
    )
    working_directory: Text = Field(
        default="",
        description="Where the command runs. Without it: the directory in which the run was started.",
        examples=["."],
    )
    exit_codes: Annotated[tuple[WholeNumber, ...], ListOf(texts=False)] = Field(
        default=(0,),
        description=(
            "Exit codes that count as success. Without `0` in the list an exit code of 0 is a failure."
        ),
        examples=[[0, 1]],
    )
    error_on_fail: Switch = Field(default=False, description="Let a failure stop the run (or fail the task).")


class Hooks(Block):
    """Commands around the run and around each task."""

    misspellings: ClassVar = misspelt(
        {
            "before_run": ("before", "before_all", "beforeAll", "setup", "pre_run"),
            "after_run": ("post_run", "after", "after_all", "afterAll", "teardown"),
            "before_task": ("pre_task", "before_each", "beforeEach"),
            "after_task": ("post_task", "after_each", "afterEach"),
        }
    )
    # Around the run, or around each task?
    uncertain: ClassVar = frozenset({"before", "setup", "after", "teardown"})

    before_run: ListOfBlocks[Hook] = Field(
        default=(), description="Before the first task. A failure can stop the whole run."
    )
    after_run: ListOfBlocks[Hook] = Field(
        default=(), description="After the last task, also when the run failed."
    )
    before_task: ListOfBlocks[Hook] = Field(
        default=(), description="Before each task. A failure can fail that task."
    )
    after_task: ListOfBlocks[Hook] = Field(default=(), description="After each task.")


_STEP_NEEDS = "a step needs `return`, or an `error` that is not empty"


class McpStep(Block):
    """The result of one call of several."""

    conflicts: ClassVar = (Conflict(("return",), ("error",), "a step has `return` or `error`, not both"),)
    misspellings: ClassVar = misspelt({"return": ("response", "result"), "delay_ms": "delay"})
    rules: ClassVar = (
        {
            "anyOf": [
                {"required": ["return"]},
                {"required": ["error"], "properties": {"error": {"type": "string", "minLength": 1}}},
            ],
            "x-waza-message": _STEP_NEEDS,
        },
    )

    return_value: Any = Field(default=None, alias="return", description="The result, any JSON value.")
    error: Text = Field(default="", description="Answer with this tool error instead of a result.")
    delay_ms: Annotated[StepNumber, NotNegative, Le(LONGEST_MILLISECONDS)] = Field(
        default=0, description="How long it takes before it answers, in milliseconds.", examples=[200]
    )

    @model_validator(mode="before")
    @classmethod
    def _check_answer(cls, value: Any) -> Any:
        step = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None
        if step is not None and "return" not in step and step.get("error") in (None, ""):
            raise ValueError(_STEP_NEEDS)
        return cast("Any", value)


class McpResponse(WithSequence):
    """One canned answer. The first whose conditions all hold is used; without conditions it always holds."""

    misspellings: ClassVar = misspelt(
        {
            "return": ("response", "result", "returns", "output"),
            "match": ("arguments", "when"),
            "sequence": "steps",
        }
    )
    conflicts: ClassVar = (
        Conflict(
            ("sequence",),
            ("return", "error"),
            "with a `sequence` its steps say what is answered, nothing else",
        ),
    )

    match: AnyMap | None = Field(
        default=None, description="Arguments that must be equal as a whole.", examples=[{"path": "README.md"}]
    )
    match_regex: (
        Annotated[
            dict[str, PlainText],
            SchemaKeywords({"additionalProperties": {"type": "string", "x-waza-kind": "regex"}}),
        ]
        | None
    ) = Field(
        default=None,
        description="Pattern by argument name, searched in the argument's text.",
        examples=[{"path": r"\.md$"}],
    )
    match_schema: AnyMap | None = Field(
        default=None,
        description="A JSON Schema for the arguments.",
        examples=[{"type": "object", "required": ["path"]}],
    )
    return_value: Any = Field(
        default=None, alias="return", description="The result, any JSON value.", examples=[{"ok": True}]
    )
    error: Text = Field(
        default="", description="Answer with this tool error instead of a result.", examples=["not found"]
    )
    sequence: Annotated[ListOfBlocks[McpStep], Field(min_length=1)] | None = Field(
        default=None,
        description=(
            "The results of the first, second, … call of a task; every call after the last fails. For suites "
            "with a `scenario`."
        ),
        examples=[[{"error": "busy", "delay_ms": 100}, {"return": {"ok": True}}]],
        json_schema_extra=since("2.0"),
    )


class McpTool(Block):
    """A mocked tool: its description for the agent and its answers."""

    description: Text = Field(default="", description="The tool's description, as the agent reads it.")
    input_schema: AnyMap = Field(
        default_factory=lambda: {"type": "object"}, description="JSON Schema of the tool's arguments."
    )
    responses: Annotated[ListOfBlocks[McpResponse], Field(min_length=1)] = Field(
        description=(
            "The canned answers, tried in order. A tool without any makes upstream drop the whole mock."
        ),
        examples=[[{"return": {"ok": True}}]],
    )


class McpMock(Block):
    """An MCP server that answers from canned responses, so that a run needs no network.

    One that is broken is left out with a warning, and so is a real server of its name.
    """

    at_least_one: ClassVar = {"fixtures": Given.WRITTEN, "tools": Given.PRESENT}

    name: RequiredText = Field(
        description="The server's name; every mock has its own. It replaces a real server of that name."
    )
    fixtures: Annotated[Text, kind("path.suite")] = Field(
        default="",
        description=(
            "Directory of JSON files, relative to `eval.yaml`, searched through all levels. "
            "Each file is one tool named after the file, or holds `tools`."
        ),
        examples=["mocks/github"],
    )
    tools: dict[str, McpTool] = Field(
        default_factory=dict[str, McpTool],
        description="Tools by name. They replace fixture tools of the same name.",
        examples=[{"search": {"responses": [{"return": {"items": []}}]}}],
    )


def _distinct_packs(packs: tuple[str, ...]) -> tuple[str, ...]:
    names = [pack.strip() for pack in packs]
    if "" in names:
        raise ValueError("must not contain a blank name")
    if len(set(names)) < len(names):
        raise ValueError("must not name a pack twice")
    return packs


class Adversarial(Block):
    """Attack packs for the `adversarial` command. A normal run does not use them."""

    packs: Annotated[
        TextList,
        Field(min_length=1),
        AfterValidator(_distinct_packs),
        SchemaKeywords(
            {"uniqueItems": True, "items": {"type": ["string", "number", "boolean"], "pattern": r"\S"}}
        ),
    ] = Field(
        description="The packs, each once: `prompt-injection`, `scope-bypass`.",
        examples=[["prompt-injection", "scope-bypass"]],
    )
    on_unsafe_outcome: Literal["fail", "warn"] = Field(
        default="fail",
        description="The effect of an unsafe answer: fail the command (`fail`), or only report it (`warn`).",
    )


def without_duplicates(mocks: tuple[McpMock, ...]) -> tuple[McpMock, ...]:
    """Return the mocks; raises ``ValueError`` when two have the same name."""
    names = [mock.name.strip() for mock in mocks]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise ValueError(f"the name `{name}` occurs twice; give every mock its own name")
    return mocks


_RANGE_MESSAGE = "must be two row numbers, the first not greater than the second, such as `[1, 10]`"


def _rows(value: tuple[int, ...]) -> tuple[int, ...]:
    if value != (0, 0) and not 0 < value[0] <= value[1]:
        raise ValueError(_RANGE_MESSAGE)
    return value


class EvalFile(Block):
    """An evaluation suite: which skill is tested, how it is run and how the answers are graded."""

    at_least_one: ClassVar = {"tasks": Given.LISTED, "tasks_from": Given.WRITTEN}
    discouraged: ClassVar = (Discouraged(("tasks",), ("tasks_from",), "the tasks are those of the dataset"),)
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
    misspellings: ClassVar = misspelt(
        {
            "schemaVersion": "schema_version",
            "tasks": ("task_patterns", "task", "test_cases", "tests", "scenarios", "cases", "task_files"),
            "skill": "skill_name",
            "name": "title",
            "graders": (
                "testing_criteria",
                "evaluators",
                "scorers",
                "assert",
                "assertions",
                "checks",
                "grader",
            ),
            "config": "settings",
            "description": "summary",
            "metrics": "metric",
            "hooks": "hook",
            "mcp_mocks": "mcpMocks",
            "command_mocks": "commandMocks",
            "inputs": "variables",
        }
    )
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
    description: Text = Field(default="", description="The subject of the suite, for readers.")
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
    version: Annotated[Text, SchemaKeywords({"type": "string", "x-waza-severity": "warning"})] = Field(
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
    tasks: ListOfBlocks[Annotated[TextOrBlock[Text, TaskElement], Alternatives("task.glob")]] = Field(
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
        SchemaKeywords(
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
