"""``requirements`` of a task: its goals, and the graders that check them. They describe and grade nothing.

So nothing in them keeps a task from running; mistakes only cause a warning.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from waza_engine.spec.block import Block
from waza_engine.spec.fields import Text, WholeNumber
from waza_engine.spec.values import ListOfBlocks, kind, severity

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
            "What kind it is: a result, a line not to cross, getting on after a fault, or how well it is "
            "done."
        ),
        examples=["outcome"],
    )
    description: Text = Field(
        description="What is wanted, for readers.", examples=["The record is still there."]
    )
    checks: ListOfBlocks[RequirementCheck] = Field(
        default=(),
        description="The graders that check it. Without any the requirement is not covered.",
        examples=[[{"scope": "task", "grader": "record-present"}]],
    )
