"""The `human` grader: a person reviews the run."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import PlainText, TextList

_PREVIEW_CHARACTERS = 500


class HumanConfig(GraderConfig):
    """The question for the reviewer."""

    instructions: PlainText = Field(
        default="Review the answer for correctness",
        description="The instructions for the reviewer.",
        examples=["Review for security best practices"],
    )
    criteria: TextList = Field(
        default=(),
        description="The criteria of the review, one an item.",
        examples=[["Uses managed identity", "No hardcoded secrets"]],
    )

    misspellings: ClassVar = misspelt({"instructions": ("instruction", "prompt"), "criteria": "checklist"})
    uncertain: ClassVar = frozenset({"prompt"})


@register
class HumanGrader(Grader[HumanConfig]):
    """Marks the run for review by a person.

    **Scoring:** none until somebody reviews it. The result is `pending`, and a pending grader counts neither
    in the score nor in whether the task passes. A review gives it a score and a verdict, which count from
    then on.

    **Worth knowing:**

    - `waza-engine review` lists pending graders, and `waza-engine review --task ID --grader NAME --pass` (or
      `--fail`, `--score`, `--comment`) reviews it; in an editor the lens `◷ Review` does. Reviews are kept in
      `reviews.jsonl` next to the eval file: commit it. Every run needs a new review: its answer differs.
    - Upstream no longer runs this type; it has no successor there, except a `prompt` that asks a model
      about the same criteria.
    """

    type = "human"
    title = "Human review"
    config_model = HumanConfig
    reviewed = True
    example = """\
- type: human
  name: expert_review
  config:
    instructions: Review for security best practices
    criteria:
      - Uses managed identity
      - No hardcoded secrets
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Return the pending review."""
        return Verdict(
            score=0.0,
            passed=False,
            feedback=f"Pending: {self.config.instructions}",
            details={
                "status": "pending",
                "instructions": self.config.instructions,
                "criteria": list(self.config.criteria),
                "output_preview": context.output[:_PREVIEW_CHARACTERS],
            },
            status="pending",
        )
