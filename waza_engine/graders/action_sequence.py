"""The `action_sequence` grader: the order of the agent's tool calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import ListOf, Text
from waza_engine.vocabulary import Check

Order = Literal["exact", "in_order", "any_order"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Order-blind agreement of two sequences, counting repetitions; every number is 0..1."""

    precision: float
    recall: float
    f1: float


def agreement(wanted: Sequence[str], actual: Sequence[str]) -> Agreement:
    """Compare two sequences as multisets."""
    hits = (Counter(wanted) & Counter(actual)).total()
    precision = hits / len(actual) if actual else 0.0
    recall = hits / len(wanted) if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Agreement(precision, recall, f1)


def follows(order: Order, wanted: Sequence[str], actual: Sequence[str]) -> bool:
    """Return whether the recorded sequence has the wanted names in the wanted order."""
    if order == "exact":
        return list(wanted) == list(actual)
    if order == "any_order":
        return Counter(wanted) <= Counter(actual)
    remaining = iter(actual)
    return all(name in remaining for name in wanted)


def why_not(order: Order, what: str, wanted: Sequence[str], actual: Sequence[str]) -> str:
    """Return the sentence for a sequence that does not follow; ``what`` is "actions" or "skills"."""
    got = f"got {', '.join(actual) or 'none'}"
    if order == "exact":
        return f"expected exactly the {what} {', '.join(wanted)}; {got}"
    if order == "in_order":
        return f"the {what} {', '.join(wanted)} do not appear in this order; {got}"
    missing = Counter(wanted) - Counter(actual)
    counts = [f"{name} (needed {Counter(wanted)[name]}, got {Counter(actual)[name]})" for name in missing]
    return f"missing {what}: {', '.join(counts)}"


_ORDERS: dict[str, Order] = {
    "exact_match": "exact",
    "in_order_match": "in_order",
    "any_order_match": "any_order",
}


class ActionSequenceConfig(GraderConfig):
    """The wanted tool calls and how strictly they are compared."""

    expected_actions: Annotated[tuple[Text, ...], ListOf("tool.name")] = Field(
        description=(
            "The names of the tools, in the order they should be called. Repeat a name to want it twice."
        ),
        examples=[["bash", "edit", "bash"]],
        min_length=1,
    )
    matching_mode: Literal["exact_match", "in_order_match", "any_order_match"] = Field(
        description=(
            "`exact_match`: these calls and no others, in this order. `in_order_match`: in this order, "
            "others may stand between. `any_order_match`: all of them, as often as listed, in any order."
        ),
        examples=["in_order_match"],
    )

    misspellings: ClassVar = misspelt(
        {
            "expected_actions": (
                "expected_order",
                "expected_sequence",
                "expected_tools",
                "actions",
                "sequence",
            ),
            "matching_mode": ("mode", "match_mode"),
        }
    )
    uncertain: ClassVar = frozenset({"expected_tools"})


@register
class ActionSequenceGrader(Grader[ActionSequenceConfig]):
    """Compares the tools that the agent called with an expected sequence.

    **Scoring:** precision = wanted calls among all calls, recall = wanted calls found, score = F1 = 2·P·R /
    (P + R), counting repetitions and ignoring the order. `matching_mode` alone decides whether it *passes*,
    so a low score can pass (`in_order_match` with many other calls) and a score of 1.0 can fail (right calls,
    wrong order).

    **Worth knowing:** tool names are exact, upper and lower case included. Expected `bash, edit` and called
    `bash, view, edit`: F1 = 0.8, which passes in order but not exactly.
    """

    type = "action_sequence"
    title = "Action sequence"
    config_model = ActionSequenceConfig
    example = """\
- type: action_sequence
  name: edit_then_test
  config:
    matching_mode: in_order_match
    expected_actions:
      - edit
      - bash
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Compare the recorded tool names."""
        if context.tool_calls is None:
            return Verdict(0.0, False, "the run recorded no agent session")
        wanted, order = self.config.expected_actions, _ORDERS[self.config.matching_mode]
        actual = [call.name for call in context.tool_calls]
        measure = agreement(wanted, actual)
        passed = follows(order, wanted, actual)
        feedback = "Action sequence matched" if passed else why_not(order, "actions", wanted, actual)
        return Verdict(
            score=measure.f1,
            passed=passed,
            feedback=feedback,
            details={
                "matching_mode": self.config.matching_mode,
                "expected_actions": list(wanted),
                "actual_actions": actual,
                "precision": measure.precision,
                "recall": measure.recall,
                "f1": measure.f1,
            },
            checks=(
                Check.of_texts(
                    ("expected_actions",), "" if passed else feedback, "\n".join(wanted), "\n".join(actual)
                ),
            ),
        )
