"""``prompts.jsonl``: one task a line, as JSON."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from waza_engine.spec.block import Block
from waza_engine.spec.fields import Number, PlainText
from waza_engine.spec.limits import LONGEST_MILLISECONDS
from waza_engine.spec.values import AnyMap, AtMost, Shown, kind, matching, severity

Turn = Annotated[PlainText, matching(r"\S", "must not be blank")]
Turns = Annotated[
    Turn
    | Annotated[
        tuple[Turn, ...],
        Field(min_length=1),
        Shown({"items": {"type": "string", "pattern": r"\S"}, "minItems": 1}),
    ],
    kind("prompt.text"),
]


class PromptLine(Block):
    """One prompt, or one conversation, for the agent."""

    null_is_absent: ClassVar = False
    misspellings: ClassVar = {"expected": "hint", "prompt": "input", "name": "id", "meta": "metadata"}
    uncertain: ClassVar = frozenset({"expected", "prompt", "name"})

    id: PlainText = Field(description="Identifier, unique in the file.", examples=["explain-recursion"])
    input: Turns = Field(
        description="The prompt; a list is a conversation, one turn after the other.",
        examples=["Explain this code", ["Write a function", "Now add tests"]],
    )
    hint: PlainText = Field(default="", description="What a good answer contains, for graders and judges.")
    reference: PlainText | None = Field(
        default=None, description="An answer known to be good, for graders and judges."
    )
    metadata: AnyMap = Field(
        default_factory=dict[str, Any],
        description="Free facts, such as `category` and `difficulty`.",
        examples=[{"category": "basics", "difficulty": "easy"}],
    )
    timeout: (
        Annotated[Number, AtMost(LONGEST_MILLISECONDS), severity("warning", exclusiveMinimum=0)] | None
    ) = Field(default=None, description="Time limit in milliseconds.", examples=[60000])
