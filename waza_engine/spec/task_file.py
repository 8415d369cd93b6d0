"""A task file: one prompt for the agent, and how its answer is judged."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, model_validator

from waza_engine.spec.block import Block, Conflict, Given, PlacedError
from waza_engine.spec.checkpoint import Checkpoint
from waza_engine.spec.command_mocks import COMMAND_MOCKS_EXAMPLE, CommandMock, without_twins
from waza_engine.spec.expected import Expected
from waza_engine.spec.fields import ListOf, Number, Switch, Text
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.requirements import Requirement
from waza_engine.spec.schema_version import after_0_38, since
from waza_engine.spec.task_inputs import TaskInputs
from waza_engine.spec.values import (
    AnyMap,
    FixtureList,
    ListOfBlocks,
    PathList,
    Seconds,
    SecondsOrOff,
    TagList,
    kind,
)

INPUTS_DESCRIPTION = "What the agent gets: the prompt, and the files it works on."

_TASK_MISSPELLINGS = {
    "input": "inputs",
    "expect": "expected",
    "expectations": "expected",
    "timeout": "timeout_seconds",
    "display_name": "name",
    "title": "name",
    "task_id": "id",
    "tag": "tags",
    "grader": "graders",
    "evaluators": "graders",
    "scorers": "graders",
    "assert": "graders",
    "assertions": "graders",
    "checks": "graders",
    "labels": "tags",
    "summary": "description",
    "skip": "enabled",
    "skipped": "enabled",
    "disabled": "enabled",
}
_UNCERTAIN = frozenset({"skip", "skipped", "disabled", "scorers", "assert", "assertions", "checks", "labels"})


class TaskKeys(Block):
    """The keys that a task file and a task inside `eval.yaml` share."""

    recommended: ClassVar = (
        {
            "key": "id",
            "severity": "warning",
            "why": "results are joined by task id, and `--task` selects by it",
        },
        {"key": "name", "severity": "warning", "why": "reports and the mock agent show the task by its name"},
    )
    misspellings: ClassVar = _TASK_MISSPELLINGS
    uncertain: ClassVar = _UNCERTAIN
    first_keys: ClassVar[tuple[str, ...]] = ("id", "name", "description", "inputs", "expected", "graders")

    id: Annotated[Text, kind("task.id")] = Field(
        default="",
        description="Stable identifier of the task, unique in the suite.",
        examples=["explain-recursion"],
    )
    name: Text = Field(
        default="", description="What people read in reports.", examples=["Explain a recursive function"]
    )
    description: Text = Field(default="", description="What the task is about, for readers.")
    enabled: Switch = Field(default=True, description="`false` leaves the task out of every run.")
    golden: Switch = Field(
        default=False,
        description=(
            "A task that must always pass: the `gate` command fails when it does not. "
            "A run treats it like any other."
        ),
    )
    tags: TagList = Field(
        default=(), description="Words for selecting tasks with `--tags`.", examples=[["basic", "smoke"]]
    )
    pass_rate: Number | None = Field(
        default=None,
        gt=0,
        le=1,
        description=(
            "Which share of its trials the task needs to pass, instead of the suite's: `0.66` is 2 of 3. "
            "Upstream does not know this key."
        ),
        examples=[0.66],
    )
    context_dir: Annotated[Text, kind("path.suite")] = Field(
        default="",
        description=(
            "The directory in which this task's `inputs.files` are found, instead of `fixtures` "
            "beside `eval.yaml`. Upstream takes it relative to the directory in which the run was started."
        ),
        examples=["evals/my-skill/fixtures"],
    )
    timeout_seconds: Seconds | None = Field(
        default=None,
        description="Time limit of one agent call of this task, in seconds, instead of the suite's.",
        examples=[120],
    )
    first_event_timeout_seconds: SecondsOrOff | None = Field(
        default=None,
        description=(
            "Give up when no event arrives within this many seconds, instead of the suite's value. "
            "`0` switches the check off."
        ),
        examples=[30],
    )
    skill_directories: PathList = Field(
        default=(),
        description="Skill directories of this task, relative to `eval.yaml`; they replace the suite's list. "
        "In a suite with a `scenario` an empty list loads no skill; elsewhere it means the suite's list.",
        examples=[["../../skills"]],
    )
    instruction_files: FixtureList = Field(
        default=(),
        description=(
            "Instruction files of this task, below the fixture directory; they come after the suite's."
        ),
        examples=[["STYLE.md"]],
    )
    hint: Text = Field(
        default="",
        description=(
            "What a good answer contains, for grading programs and judges; `inline`, `program` and "
            "`script` graders read it. Upstream does not know this key."
        ),
        examples=["Dario Amodei"],
    )
    reference: Text | None = Field(
        default=None,
        description="An answer known to be good, for graders. Upstream does not know this key.",
        examples=["The answer is 4."],
    )
    metadata: AnyMap = Field(
        default_factory=dict[str, Any],
        description="Free facts about the task, for graders. Upstream does not know this key.",
        examples=[{"category": "basics", "difficulty": "easy"}],
    )
    expected: Expected = Field(
        default_factory=Expected,
        description="Simple expectations of the final answer, checked beside the graders.",
        examples=[{"output_contains": ["recursion"]}],
    )
    graders: ListOfBlocks[GraderEntry] = Field(
        default=(), description="Graders of this task only; they run after the suite's."
    )
    checkpoints: ListOfBlocks[Checkpoint] = Field(
        default=(),
        description="Graders in the middle of a conversation, after a given turn.",
        examples=[
            [
                {
                    "after_turn": 1,
                    "graders": [{"type": "text", "name": "greets", "config": {"contains": ["hello"]}}],
                }
            ]
        ],
        json_schema_extra=since("1.1"),
    )
    command_mocks: Annotated[ListOfBlocks[CommandMock], AfterValidator(without_twins)] | None = Field(
        default=None,
        description="Programs with canned responses for this task, in place of the suite's; `[]` is none.",
        examples=[COMMAND_MOCKS_EXAMPLE],
        json_schema_extra=since("1.3"),
    )
    requirements: ListOfBlocks[Requirement] = Field(
        default=(),
        description=(
            "What is wanted of the agent, and which graders check it. It describes the task and "
            "changes no grade."
        ),
        examples=[
            [
                {
                    "id": "record-retained",
                    "category": "outcome",
                    "description": "The record is still there.",
                    "checks": [{"scope": "task", "grader": "record-present"}],
                }
            ]
        ],
        json_schema_extra=after_0_38(),
    )


class TaskFile(TaskKeys):
    """One task: a prompt, the files it needs, and the graders of its answer."""

    inputs: TaskInputs = Field(description=INPUTS_DESCRIPTION, examples=[{"prompt": "Explain this code"}])

    @model_validator(mode="after")
    def _check_turns(self) -> TaskFile:
        check_turns(self.checkpoints, self.inputs)
        return self


class TaskElement(TaskKeys):
    """A task inside `eval.yaml`, or a block that lists task files. Upstream reads neither; we do."""

    at_least_one: ClassVar = {"inputs": Given.PRESENT, "task_files": Given.PRESENT}
    conflicts: ClassVar = (
        Conflict(
            ("task_files",),
            (*TaskKeys.model_fields, "inputs"),
            "a block with `task_files` takes no other key",
        ),
    )
    recommended: ClassVar = ()

    inputs: TaskInputs | None = Field(
        default=None, description=INPUTS_DESCRIPTION, examples=[{"prompt": "Explain this code"}]
    )
    task_files: Annotated[tuple[Text, ...], ListOf("task.glob")] = Field(
        default=(),
        description="Patterns of task files. The same patterns may stand directly in `tasks`.",
        examples=[["tasks/*.yaml"]],
    )

    @model_validator(mode="after")
    def _check_turns(self) -> TaskElement:
        if self.inputs is not None:
            check_turns(self.checkpoints, self.inputs)
        return self


def check_turns(checkpoints: tuple[Checkpoint, ...], inputs: TaskInputs) -> None:
    """Raise ``PlacedError`` for two checkpoints at one turn, or one at a turn that never comes."""
    turns = [checkpoint.after_turn for checkpoint in checkpoints]
    last = 1 + len(inputs.follow_up_prompts)
    for position, turn in enumerate(turns):
        place = ("checkpoints", position, "after_turn")
        if turn in turns[:position]:
            raise PlacedError(
                place, f"is turn {turn}, as that of another checkpoint; put the graders of both into one"
            )
        if turn > last and inputs.responder is None:
            raise PlacedError(
                place,
                f"is turn {turn}, but the conversation has {last}: add `follow_up_prompts` or a `responder`",
            )
