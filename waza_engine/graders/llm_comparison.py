"""The `llm_comparison` grader of older suites: a model compares the answer with a reference."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict
from waza_engine.graders.fields import PlainText
from waza_engine.graders.judges import JudgedConfig, no_judge
from waza_engine.graders.registry import register


class LlmComparisonConfig(JudgedConfig):
    """The reference answer and the model of the judge."""

    reference: PlainText = Field(
        description="The answer, or a description of it, that the judge compares with.",
        examples=["The URL of the deployed resource and the next steps."],
        min_length=1,
        json_schema_extra={"x-waza-kind": "prompt.text"},
    )

    misspellings: ClassVar = {"expected": "reference", "reference_text": "reference", "golden": "reference"}


@register
class LlmComparisonGrader(Grader[LlmComparisonConfig]):
    """Asks a model how close the answer is to a given one. Write `prompt`: upstream no longer runs it.

    **Scoring:** the judge rates the likeness of meaning from 1 to 5; score = (rating − 1) / 4. It passes when
    the judge says so, and from 0.75 on when it says nothing.

    **Worth knowing:** this version has no executor that can judge: the grader reports an error instead of a
    score.
    """

    type = "llm_comparison"
    title = "Judge by comparison (older form)"
    config_model = LlmComparisonConfig
    entry_keys = ("model",)
    replaced_by = "prompt"
    example = """\
- type: llm_comparison
  name: like_the_reference
  config:
    model: gpt-4o-mini
    reference: |
      Confirms the deployment, gives the URL, and lists the next steps.
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Raise ``GraderError``: nothing can judge yet."""
        no_judge(self.type)
