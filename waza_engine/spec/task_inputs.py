"""The ``inputs`` of a task: the agent's prompt and the files in its workspace."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from waza_engine.spec.block import Block, Given
from waza_engine.spec.fields import Alternatives, ListOf, Text, WholeNumber, text_or_block
from waza_engine.spec.reading.csv_table import OTHER_PROMPT_NAMES
from waza_engine.spec.values import (
    AnyMap,
    InsidePath,
    ListOfBlocks,
    Positive,
    PromptList,
    RequiredText,
    Shown,
    WordMap,
    kind,
)

_FIXTURE = {
    "description": "A file or directory, relative to `eval.yaml`, that is copied into the workspace.",
    "x-waza-kind": "path.suite",
}
_BOTH_PROMPTS = "give `prompt` or `prompt_file`, not both"
_BOTH_PARTNERS = "give `follow_up_prompts` or a `responder`, not both"


class InputFile(Block):
    """A file that is put into the agent's workspace."""

    at_least_one: ClassVar = {"path": Given.WRITTEN}
    misspellings: ClassVar = {
        "source": "path",
        "src": "path",
        "filename": "path",
        "file": "path",
        "name": "path",
        "text": "content",
        "contents": "content",
    }
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


class Repository(Block):
    """A local git repository, checked out into the workspace."""

    type: Literal["worktree"] = Field(
        description=(
            "How it gets there; only `worktree` is known: detached at the commit, with its branches and "
            "tags. What the agent does to it does not reach the source."
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

    misspellings: ClassVar = {
        "max_follow_ups": "max_followups",
        "max_turns": "max_followups",
        "prompt": "instructions",
    }

    instructions: RequiredText = Field(
        description="Who the user is, what they know and when they are satisfied.",
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
    misspellings: ClassVar = {
        **dict.fromkeys(OTHER_PROMPT_NAMES, "prompt"),
        "prompts": "follow_up_prompts",
        "followup_prompts": "follow_up_prompts",
        "followups": "follow_up_prompts",
        "vars": "context",
        "variables": "context",
        "cwd": "workdir",
        "working_directory": "workdir",
        "file": "files",
        "env": "environment",
    }
    uncertain: ClassVar = frozenset({"vars", "variables", "text", "content"})
    rules: ClassVar = (
        {
            "not": {
                "type": "object",
                "required": ["prompt", "prompt_file"],
                "properties": {
                    "prompt": {"type": ["string", "number", "boolean"], "not": {"const": ""}},
                    "prompt_file": {"not": {"type": "null"}},
                },
            },
            "x-waza-message": _BOTH_PROMPTS,
        },
        {
            "not": {
                "type": "object",
                "required": ["follow_up_prompts", "responder"],
                "properties": {
                    "follow_up_prompts": {"type": "array", "minItems": 1},
                    "responder": {"type": "object"},
                },
            },
            "x-waza-message": _BOTH_PARTNERS,
        },
    )

    prompt: Annotated[Text, kind("prompt.text")] = Field(
        default="",
        description=(
            "What the agent is asked, sent as it stands. A path such as `./src` in it needs `files` "
            "(or another source of files): upstream refuses the trial otherwise."
        ),
        examples=["Explain what this function does."],
    )
    prompt_file: Annotated[InsidePath, kind("path.suite")] | None = Field(
        default=None,
        description="A file that holds the prompt, relative to the task file.",
        examples=["prompts/long.md"],
    )
    files: Annotated[
        tuple[
            Annotated[
                Annotated[Text, Tag("text")] | Annotated[InputFile, Tag("block")],
                Discriminator(text_or_block),
                Alternatives("path.fixture"),
            ],
            ...,
        ],
        ListOf(texts=False),
    ] = Field(
        default=(),
        description="Files for the workspace. A plain path is an older way to write `{path: …}`.",
        examples=[[{"path": "app.py"}, {"path": "note.txt", "content": "hello"}]],
    )
    context: Annotated[AnyMap, Shown({"properties": {"fixture": _FIXTURE}})] = Field(
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
        return self
