"""A checkpoint: graders in the middle of a conversation."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from waza_engine.spec.block import Block
from waza_engine.spec.fields import WholeNumber
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.values import ListOfBlocks, Positive


class Checkpoint(Block):
    """Graders that run after a turn, on the conversation so far; the trial's score leaves them out."""

    misspellings: ClassVar = {
        "turn": "after_turn",
        "grader": "graders",
        "checks": "graders",
        "evaluators": "graders",
        "on_fail": "on_failure",
    }

    after_turn: Annotated[WholeNumber, Positive] = Field(
        description="The turn after which they run. Turn 1 is the first prompt.", examples=[1]
    )
    graders: Annotated[ListOfBlocks[GraderEntry], Field(min_length=1)] = Field(
        description="What to check at this point.",
        examples=[[{"type": "text", "name": "asks_back", "config": {"regex_match": [r"\?"]}}]],
    )
    on_failure: Literal["continue", "stop"] = Field(
        default="continue",
        description=(
            "`continue` goes on and fails the trial at the end; `stop` ends the conversation with an error."
        ),
    )
