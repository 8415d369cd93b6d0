"""The `llm` grader of older suites: a model rates the answer."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict
from waza_engine.graders.fields import Number, PlainText
from waza_engine.graders.judges import JudgedConfig, no_judge
from waza_engine.graders.registry import register


class LlmConfig(JudgedConfig):
    """The rubric and the model of the judge."""

    rubric: PlainText | None = Field(
        default=None,
        description=(
            "What the judge rates from 1 to 5: the text, or a file with it. "
            "Without one it rates correctness, completeness and quality."
        ),
        examples=["Rate the correctness of the answer from 1 to 5."],
        json_schema_extra={"x-waza-kind": "prompt.text"},
    )
    threshold: Number = Field(
        default=0.75, ge=0, le=1, description="The least score that passes, 0 to 1.", examples=[0.75]
    )

    misspellings: ClassVar = {"prompt": "rubric", "criteria": "rubric", "pass_threshold": "threshold"}


@register
class LlmGrader(Grader[LlmConfig]):
    """Asks a model for a rating from 1 to 5. Write `prompt` instead: upstream no longer runs `llm`.

    **Scoring:** score = (rating − 1) / 4, so 1 is 0.0, 3 is 0.5 and 5 is 1.0; it passes from `threshold` on.
    What the judge itself says about passing does not count.

    **Worth knowing:** `rubric` and `model` may stand beside `type` or inside `config`; `config` wins. This
    version has no executor that can judge: the grader reports an error instead of a score.
    """

    type = "llm"
    title = "Judge by rating (older form)"
    config_model = LlmConfig
    entry_keys = ("rubric", "model")
    replaced_by = "prompt"
    example = """\
- type: llm
  name: quality_judge
  config:
    model: gpt-4o-mini
    rubric: |
      Rate the answer from 1 to 5: is it correct and complete?
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Raise ``GraderError``: nothing can judge yet."""
        no_judge(self.type)
