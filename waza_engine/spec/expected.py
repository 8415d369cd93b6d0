"""The ``expected`` block of a task: simple expectations of the final answer."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, JsonValue

from waza_engine.spec.block import Block, misspelt
from waza_engine.spec.fields import (
    Alternatives,
    AnyMap,
    ListOfBlocks,
    Switch,
    Text,
    TextList,
    TextOrBlock,
    ToolNameList,
    WholeNumber,
    severity,
)
from waza_engine.spec.grader_entry import GraderEntry

_NOT_EVALUATED = "Read and kept for people; no run evaluates it."
_INERT: dict[str, JsonValue] = {"x-waza-inert": _NOT_EVALUATED}


class Outcome(Block):
    """The expected outcome, in words. No run evaluates it."""

    type: Text = Field(
        default="", description="The kind of outcome, such as `task_completed`.", examples=["task_completed"]
    )
    value: Any = Field(default=None, description="The expected value, of any type.", examples=[True])
    condition: Text = Field(default="", description="Under which condition.")


class ExpectedBehavior(Block):
    """Limits and tools, for readers. No run evaluates them: a `behavior` grader does."""

    misspellings: ClassVar = misspelt(
        {"max_response_time_ms": "max_duration_ms", "max_tool_calls": "max_calls"}
    )

    max_tool_calls: Annotated[WholeNumber, severity("warning", minimum=0)] = Field(
        default=0, description="Most tool calls.", examples=[10]
    )
    max_iterations: Annotated[WholeNumber, severity("warning", minimum=0)] = Field(
        default=0, description="Most rounds of the agent.", examples=[5]
    )
    max_tokens: Annotated[WholeNumber, severity("warning", minimum=0)] = Field(
        default=0, description="Most tokens.", examples=[20000]
    )
    max_response_time_ms: Annotated[WholeNumber, severity("warning", minimum=0)] = Field(
        default=0, description="Longest answer time, in milliseconds.", examples=[60000]
    )
    required_tools: ToolNameList = Field(
        default=(), description="Tools that should be used.", examples=[["bash"]]
    )
    forbidden_tools: ToolNameList = Field(
        default=(), description="Tools that should not be used.", examples=[["create"]]
    )


class Expected(Block):
    """Expectations of the final answer. Each `output_…` list is graded, as one more grader with weight 1."""

    misspellings: ClassVar = misspelt(
        {
            "should_trigger": ("skill_activated", "should_not_trigger"),
            "output_not_contains": (
                "output_excludes",
                "should_not_contain",
                "must_not_contain",
                "output_must_not_contain",
                "not_contains",
                "output_contains_none",
                "contains_none",
            ),
            "output_contains": (
                "must_contain",
                "output_must_contain",
                "output_icontains",
                "should_contain",
                "contains",
                "contains_all",
                "output_contains_all",
                "output_includes",
            ),
            "output_contains_any": "contains_any",
            "behavior": "behaviour",
            "outcomes": "outcome",
        }
    )
    uncertain: ClassVar = frozenset({"skill_activated"})

    output_contains: TextList = Field(
        default=(),
        description=(
            "Texts that must all occur in the answer, whatever their case. The score is the share found."
        ),
        examples=[["recursion", "base case"]],
    )
    output_contains_any: TextList = Field(
        default=(),
        description="Texts of which at least one must occur, whatever its case.",
        examples=[["O(n)", "linear"]],
    )
    output_not_contains: TextList = Field(
        default=(),
        description="Texts that must not occur, whatever their case.",
        examples=[["I cannot", "error"]],
    )
    should_trigger: Switch | None = Field(
        default=None,
        description="`true` if the skill should be used for this prompt.",
        json_schema_extra={
            "x-waza-inert": "No run evaluates it; `trigger_tests.yaml` or a `skill_invocation` grader does."
        },
    )
    outcomes: ListOfBlocks[Outcome] = Field(
        default=(),
        description="The expected outcome, in words.",
        examples=[[{"type": "task_completed"}]],
        json_schema_extra=_INERT,
    )
    tool_calls: AnyMap = Field(
        default_factory=dict[str, Any],
        description="Tool calls that should happen, in words; use a `tool_calls` grader to check them.",
        examples=[{"required": [{"pattern": "azd up"}]}],
        json_schema_extra=_INERT,
    )
    behavior: ExpectedBehavior | None = Field(
        default=None,
        description="Limits and tools, for readers; use a `behavior` grader to check them.",
        examples=[{"max_tool_calls": 10}],
        json_schema_extra=_INERT,
    )
    graders: ListOfBlocks[Annotated[TextOrBlock[Text, GraderEntry], Alternatives("grader.name")]] = Field(
        default=(),
        description=(
            "Graders of this task: the name of a grader of `eval.yaml` (which applies to every task anyway), "
            "or a whole grader. Upstream ignores this key; `graders` of the task is understood by both."
        ),
        examples=[["format_check"]],
    )
