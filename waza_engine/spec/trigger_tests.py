"""``trigger_tests.yaml``, prompts that should or should not make the agent use the skill; prompt lines."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from waza_engine.spec.block import Block, Given, misspelt
from waza_engine.spec.fields import (
    AnyMap,
    AtMost,
    ListOfBlocks,
    Number,
    PlainText,
    RequiredText,
    SchemaKeywords,
    Switch,
    Text,
    kind,
    matching,
)
from waza_engine.spec.limits import LONGEST_MILLISECONDS

Turn = Annotated[PlainText, matching(r"\S", "must not be blank")]
Turns = Annotated[
    Turn
    | Annotated[
        tuple[Turn, ...],
        Field(min_length=1),
        SchemaKeywords({"items": {"type": "string", "pattern": r"\S"}, "minItems": 1}),
    ],
    kind("prompt.text"),
]


class PromptLine(Block):
    """One prompt, or one conversation, for the agent."""

    null_is_absent: ClassVar = False
    misspellings: ClassVar = misspelt(
        {"hint": "expected", "input": "prompt", "id": "name", "metadata": "meta"}
    )
    uncertain: ClassVar = frozenset({"prompt", "name"})

    id: PlainText = Field(description="Identifier, unique in the file.", examples=["explain-recursion"])
    input: Turns = Field(
        description="The prompt; a list is a conversation, one turn after the other.",
        examples=["Explain this code", ["Write a function", "Now add tests"]],
    )
    hint: PlainText = Field(default="", description="The content of a good answer, for graders and judges.")
    reference: PlainText | None = Field(
        default=None, description="An answer known to be good, for graders and judges."
    )
    metadata: AnyMap = Field(
        default_factory=dict[str, Any],
        description="Free facts, such as `category` and `difficulty`.",
        examples=[{"category": "basics", "difficulty": "easy"}],
    )
    timeout: Annotated[Number, AtMost(LONGEST_MILLISECONDS)] | None = Field(
        default=None, description="Time limit in milliseconds.", examples=[60000]
    )


class TriggerPrompt(Block):
    """One prompt. Its list decides the expected result."""

    unknown_keys: ClassVar[Literal["warning", "error"]] = "error"
    misspellings: ClassVar = misspelt(
        {
            "prompt": ("text", "input", "query", "question", "message", "utterance", "instruction"),
            "reason": ("why", "rationale"),
        }
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_plain_text(cls, value: object) -> object:
        if isinstance(value, str):
            raise ValueError("must be a block; write `- prompt: …` instead of the text alone")
        return value

    prompt: Annotated[RequiredText, kind("prompt.text")] = Field(
        description="The words of a user.", examples=["Explain this code to me"]
    )
    reason: Text = Field(
        default="", description="Why this prompt should (or should not) trigger, for readers."
    )
    confidence: Literal["", "high", "medium"] = Field(
        default="",
        description="How sure the expectation is: `high` counts fully, `medium` half.",
        examples=["high", "medium"],
    )
    should_trigger: Switch | None = Field(
        default=None,
        description="The list decides. Delete it: upstream refuses the file with this key.",
        json_schema_extra={
            "deprecated": True,
            "x-waza-inert": "The list in which the prompt stands decides.",
        },
    )


class TriggerTests(Block):
    """Prompts that should make the agent use a skill, and prompts that should not."""

    unknown_keys: ClassVar[Literal["warning", "error"]] = "error"
    at_least_one: ClassVar = dict.fromkeys(
        ("should_trigger_prompts", "should_not_trigger_prompts"), Given.LISTED
    )
    misspellings: ClassVar = misspelt(
        {
            "should_trigger_prompts": (
                "shouldTriggerPrompts",
                "should_trigger",
                "positive",
                "positive_prompts",
                "must_trigger_prompts",
            ),
            "should_not_trigger_prompts": (
                "shouldNotTriggerPrompts",
                "should_not_trigger",
                "negative",
                "negative_prompts",
                "must_not_trigger_prompts",
                "negative_tests",
            ),
            "skill": "name",
        }
    )
    uncertain: ClassVar = frozenset({"name"})

    skill: Annotated[RequiredText, kind("skill.name")] = Field(
        description="The skill, spelt exactly as the agent reports it.", examples=["code-explainer"]
    )
    should_trigger_prompts: ListOfBlocks[TriggerPrompt] = Field(
        default=(),
        description="Prompts for which the skill must be used.",
        examples=[[{"prompt": "Explain this code to me"}]],
    )
    should_not_trigger_prompts: ListOfBlocks[TriggerPrompt] = Field(
        default=(),
        description="Prompts for which it must not be used.",
        examples=[[{"prompt": "What is the weather today?"}]],
    )
