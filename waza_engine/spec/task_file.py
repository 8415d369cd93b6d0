"""A task file: one prompt for the agent, and how its answer is judged."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from waza_engine.spec.block import Block, Conflict, Given, PlacedError, forbidden, misspelt
from waza_engine.spec.command_mocks import COMMAND_MOCKS_EXAMPLE, CommandMock, without_twins
from waza_engine.spec.expected import Expected
from waza_engine.spec.fields import (
    Alternatives,
    AnyMap,
    FixtureList,
    InsidePath,
    ListOf,
    ListOfBlocks,
    Number,
    PathList,
    Positive,
    PromptList,
    RequiredText,
    SchemaKeywords,
    Seconds,
    SecondsOrOff,
    Switch,
    TagList,
    Text,
    TextOrBlock,
    WholeNumber,
    WordMap,
    kind,
    severity,
)
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.reading.csv_table import OTHER_PROMPT_NAMES
from waza_engine.spec.schema_version import after_0_38, since


class Checkpoint(Block):
    """Graders that run after a turn, on the conversation so far; the trial's score leaves them out."""

    misspellings: ClassVar = misspelt(
        {"after_turn": "turn", "graders": ("grader", "checks", "evaluators"), "on_failure": "on_fail"}
    )

    after_turn: Annotated[WholeNumber, Positive] = Field(
        description="The turn after which they run. Turn 1 is the first prompt.", examples=[1]
    )
    graders: Annotated[ListOfBlocks[GraderEntry], Field(min_length=1)] = Field(
        description="The graders to run at this point.",
        examples=[[{"type": "text", "name": "asks_back", "config": {"regex_match": [r"\?"]}}]],
    )
    on_failure: Literal["continue", "stop"] = Field(
        default="continue",
        description=(
            "`continue` goes on and fails the trial at the end; `stop` ends the conversation with an error."
        ),
    )


CATEGORIES = ("outcome", "boundary", "recovery", "quality")
SCOPES = ("eval", "task", "checkpoint")


class RequirementCheck(Block):
    """A grader that checks a requirement, named by its location."""

    scope: Annotated[Text, severity("warning", enum=list(SCOPES))] = Field(
        description="Where the grader stands: in `eval.yaml`, in this task, or in one of its checkpoints.",
        examples=["task"],
    )
    grader: Annotated[Text, kind("grader.name")] = Field(
        description="The name of the grader.", examples=["report-outcome"]
    )
    after_turn: Annotated[WholeNumber, severity("warning", minimum=1)] | None = Field(
        default=None, description="The turn of the checkpoint, for the scope `checkpoint`.", examples=[1]
    )


class Requirement(Block):
    """One thing that is wanted of the agent, and the graders that look for it."""

    id: Text = Field(description="Its name, unique in the task.", examples=["record-retained"])
    category: Annotated[Text, severity("warning", enum=list(CATEGORIES))] = Field(
        description=(
            "Its kind: a result, a line not to cross, getting on after a fault, or how well it is done."
        ),
        examples=["outcome"],
    )
    description: Text = Field(
        description="A description for readers.", examples=["The record is still there."]
    )
    checks: ListOfBlocks[RequirementCheck] = Field(
        default=(),
        description="The graders that check it. Without any the requirement is not covered.",
        examples=[[{"scope": "task", "grader": "record-present"}]],
    )


_FIXTURE = {
    "description": "A file or directory, relative to `eval.yaml`, that is copied into the workspace.",
    "x-waza-kind": "path.suite",
}
_BOTH_PROMPTS = "give `prompt` or `prompt_file`, not both"
_BOTH_REPOSITORIES = "give `git` or `repos`, not both"
_BOTH_PARTNERS = "give `follow_up_prompts` or a `responder`, not both"


class InputFile(Block):
    """A file that is put into the agent's workspace."""

    at_least_one: ClassVar = {"path": Given.WRITTEN}
    misspellings: ClassVar = misspelt(
        {"path": ("source", "src", "filename", "file", "name"), "content": ("text", "contents")}
    )
    uncertain: ClassVar = frozenset({"name", "text"})

    path: Annotated[Text, kind("path.fixture")] = Field(
        default="",
        description=(
            "The file's path in the workspace. Without `content` it is copied from "
            "the same path below the fixture directory (`fixtures` beside `eval.yaml`, or `context_dir`)."
        ),
        examples=["src/app.py"],
    )
    content: Text = Field(
        default="", description="The file's text. Nothing is copied then.", examples=["print('hello')\n"]
    )
    copy_from: Annotated[Text, kind("path.suite")] = Field(
        default="",
        description=(
            "A file, or a folder with all in it, that is copied to `path`, in place of one in the fixture "
            "directory. It is relative to `eval.yaml`. Upstream does not know this key."
        ),
        examples=["../shared/app"],
    )


class Repository(Block):
    """A local git repository, checked out into the workspace."""

    type: Literal["worktree"] = Field(
        description=(
            "How it gets there; only `worktree` is known: detached at the commit, with its branches and "
            "tags. Changes by the agent do not reach the source."
        )
    )
    source: RequiredText = Field(
        description=(
            "Path of the local repository, looked for beside `eval.yaml`, in the directory in which the run "
            "is started, and in the directories above the suite."
        ),
        examples=["../app"],
    )
    dest: InsidePath = Field(description="Where it lies in the workspace.", examples=["app"])
    commit: Text = Field(
        default="", description="The commit, tag or branch. Without it: the current one.", examples=["v1.2.0"]
    )


class Responder(Block):
    """A model that plays the user: after every answer of the agent it replies, stops or abstains."""

    misspellings: ClassVar = misspelt(
        {"max_followups": ("max_follow_ups", "max_turns"), "instructions": "prompt"}
    )

    instructions: RequiredText = Field(
        description="The user: who they are, what they know and when they are satisfied.",
        examples=[
            "You are a developer who wants a REST API. Answer questions briefly; stop when the code runs."
        ],
    )
    max_followups: Annotated[WholeNumber, Positive] = Field(
        description="How many answers it may give; the conversation ends after the agent's next one.",
        examples=[3],
    )
    model: Annotated[Text, kind("model")] = Field(
        default="", description="Its model. Without it: the suite's `model`."
    )


class TaskInputs(Block):
    """The agent's input. A prompt is needed: `prompt`, or `prompt_file` for a long one."""

    at_least_one: ClassVar = {"prompt": Given.PRESENT, "prompt_file": Given.WRITTEN}
    misspellings: ClassVar = misspelt(
        {
            "prompt": OTHER_PROMPT_NAMES,
            "follow_up_prompts": ("prompts", "followup_prompts", "followups"),
            "context": ("vars", "variables"),
            "workdir": ("cwd", "working_directory"),
            "files": "file",
            "environment": "env",
        }
    )
    uncertain: ClassVar = frozenset({"vars", "variables", "text", "content"})
    rules: ClassVar = (
        forbidden(
            _BOTH_PROMPTS,
            prompt={"type": ["string", "number", "boolean"], "not": {"const": ""}},
            prompt_file={"not": {"type": "null"}},
        ),
        forbidden(
            _BOTH_PARTNERS, follow_up_prompts={"type": "array", "minItems": 1}, responder={"type": "object"}
        ),
        forbidden(_BOTH_REPOSITORIES, git={"const": True}, repos={"type": "array", "minItems": 1}),
    )

    prompt: Annotated[Text, kind("prompt.text")] = Field(
        default="",
        description=(
            "The prompt for the agent, sent as written. A path such as `./src` in it needs `files` "
            "(or another source of files): upstream refuses the trial otherwise."
        ),
        examples=["Explain what this function does."],
    )
    prompt_file: Annotated[InsidePath, kind("path.suite")] | None = Field(
        default=None,
        description="A file that holds the prompt, relative to the task file.",
        examples=["prompts/long.md"],
    )
    files: ListOfBlocks[Annotated[TextOrBlock[Text, InputFile], Alternatives("path.fixture")]] = Field(
        default=(),
        description="Files for the workspace. A plain path is an older way to write `{path: …}`.",
        examples=[[{"path": "app.py"}, {"path": "note.txt", "content": "hello"}]],
    )
    context: Annotated[AnyMap, SchemaKeywords({"properties": {"fixture": _FIXTURE}})] = Field(
        default_factory=dict[str, Any],
        description=(
            "Free facts about the task. `fixture` has a meaning: "
            "a file or directory, relative to `eval.yaml`, that is copied into the workspace."
        ),
        examples=[{"fixture": "fixtures/app"}],
    )
    environment: WordMap = Field(
        default_factory=dict[str, str],
        description="Environment variables.",
        json_schema_extra={"x-waza-inert": "Upstream reads these variables and gives them to nobody."},
    )
    repos: ListOfBlocks[Repository] = Field(
        default=(),
        description="Local git repositories to check out into the workspace.",
        examples=[[{"type": "worktree", "source": ".", "dest": "app"}]],
    )
    git: Switch = Field(
        default=False,
        description=(
            "Make the workspace a git repository with one commit of its files, so that graders see with "
            "`git status` and `git diff` what the agent did. Upstream does not know this key."
        ),
        examples=[True],
    )
    workdir: Annotated[InsidePath, kind("path.workspace")] | None = Field(
        default=None,
        description=(
            "Directory below the workspace in which the agent starts; it is made when it is missing. "
            "Graders still see the whole workspace."
        ),
        examples=["app"],
    )
    follow_up_prompts: PromptList = Field(
        default=(),
        description="Further prompts of the same conversation, one after the other.",
        examples=[["Now add tests.", "Explain the tests."]],
    )
    responder: Responder | None = Field(
        default=None,
        description="A model that plays the user, instead of fixed follow-up prompts.",
        examples=[{"instructions": "You want a REST API. Answer briefly.", "max_followups": 3}],
    )

    @model_validator(mode="after")
    def _check_alternatives(self) -> TaskInputs:
        if self.prompt and self.prompt_file is not None:
            raise ValueError(_BOTH_PROMPTS)
        if self.follow_up_prompts and self.responder is not None:
            raise ValueError(_BOTH_PARTNERS)
        if self.git and self.repos:
            raise ValueError(_BOTH_REPOSITORIES)
        return self


INPUTS_DESCRIPTION = "The prompt of the agent, and the files it works on."

_TASK_MISSPELLINGS = misspelt(
    {
        "inputs": "input",
        "expected": ("expect", "expectations"),
        "timeout_seconds": "timeout",
        "name": ("display_name", "title"),
        "id": "task_id",
        "tags": ("tag", "labels"),
        "graders": ("grader", "evaluators", "scorers", "assert", "assertions", "checks"),
        "description": "summary",
        "enabled": ("skip", "skipped", "disabled"),
    }
)
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
        default="", description="The name in reports.", examples=["Explain a recursive function"]
    )
    description: Text = Field(default="", description="The subject of the task, for readers.")
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
            "The share of its trials that the task needs to pass, instead of the suite's: `0.66` is 2 of 3. "
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
            "The content of a good answer, for grading programs and judges; `inline`, `program` and "
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
        description="Programs with canned responses for this task, instead of the suite's; `[]` means none.",
        examples=[COMMAND_MOCKS_EXAMPLE],
        json_schema_extra=since("1.3"),
    )
    requirements: ListOfBlocks[Requirement] = Field(
        default=(),
        description=(
            "The expected behavior of the agent, and the graders that check it. It describes the task and "
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
