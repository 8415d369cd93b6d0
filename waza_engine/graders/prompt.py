"""The `prompt` grader: a model judges the answer."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict
from waza_engine.graders.config import Discouraged, Given
from waza_engine.graders.fields import Number, PlainText, Switch
from waza_engine.graders.judges import JudgedConfig, no_judge
from waza_engine.graders.registry import register


class PromptConfig(JudgedConfig):
    """What the judge is asked: a prompt with verdict tools, or a rubric with a rating."""

    prompt: PlainText | None = Field(
        default=None,
        description=(
            "What the judge is told. It answers by calling `set_waza_grade_pass` or `set_waza_grade_fail`, "
            "as often as there are criteria."
        ),
        examples=[
            "Is the explanation correct? Call set_waza_grade_pass, or set_waza_grade_fail with your reason."
        ],
        json_schema_extra={"x-waza-kind": "prompt.text"},
    )
    rubric: PlainText | None = Field(
        default=None,
        description=(
            "A rubric: its text, a file (`.md` or `.yaml`), or a built-in name (`groundedness`, "
            "`helpfulness`, `instruction-following`, `refusal-correctness`, `tool-use-appropriateness`)."
        ),
        examples=["Rate the correctness from 1 to 5.", "rubrics/quality.md"],
        json_schema_extra={"x-waza-kind": "prompt.text"},
    )
    continue_session: Switch = Field(
        default=False,
        description="Judge inside the agent's own session, so that the judge sees all that happened.",
    )
    mode: Literal["independent", "pairwise"] = Field(
        default="independent",
        description=(
            "`independent` judges this answer; `pairwise` compares it with the answer of a baseline run."
        ),
    )
    reasoning_effort: PlainText | None = Field(
        default=None,
        description="How long the judge may think, as the model names it.",
        examples=["low", "high"],
    )
    threshold: Number | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Rating form: the least score that passes, 0 to 1; 0.75 when it is left out.",
        examples=[0.75],
    )
    score_type: Literal["normalized", "raw"] | None = Field(
        default=None,
        description=(
            "Rating form: "
            "`normalized` (the default) turns a rating of 1 to 5 into 0 to 1; `raw` is 0 to 1 already."
        ),
    )
    response_format: Literal["json", "text"] | None = Field(
        default=None, description="Rating form: what the judge answers; `json` is the default."
    )

    at_least_one: ClassVar = {"prompt": Given.WRITTEN, "rubric": Given.WRITTEN}
    discouraged: ClassVar = (
        Discouraged(
            ("threshold", "score_type", "response_format"),
            ("prompt", "continue_session", "mode"),
            "it belongs to the rating form, which has a `rubric` and none of the others",
        ),
    )
    misspellings: ClassVar = {
        "instructions": "prompt",
        "text": "prompt",
        "question": "prompt",
        "judge_model": "model",
        "pass_threshold": "threshold",
        "min_score": "threshold",
    }


@register
class PromptGrader(Grader[PromptConfig]):
    """Asks a second model to judge the run. There are two forms; what does not belong to one has no effect.

    **Verdict form** (`prompt`, or a named or Markdown `rubric`): the judge calls `set_waza_grade_pass` or
    `set_waza_grade_fail`, once or for every criterion. Score = passes / all verdicts; it passes when there is
    at least one pass and no fail.

    **Rating form** (`rubric` as text or YAML file, with `threshold` and so on): the judge answers with a
    rating from 1 to 5. Score = (rating − 1) / 4; it passes from `threshold` on.

    **Worth knowing:**

    - Without `continue_session` the judge sees the files of the workspace, and what your prompt tells it.
    - A judge costs tokens and its verdict may differ from run to run. Write whatever a pattern or an
      assertion can decide as `text` or `code`.
    - This version has no executor that can judge: the grader reports an error instead of a score.
    """

    type = "prompt"
    title = "Judge"
    config_model = PromptConfig
    entry_keys = ("rubric", "model")
    example = """\
- type: prompt
  name: explanation_quality
  config:
    prompt: |
      Check that the explanation is correct and easy to follow.
      If it is, call set_waza_grade_pass; otherwise call set_waza_grade_fail with your reason.
    model: gpt-4o-mini
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Raise ``GraderError``: nothing can judge yet."""
        no_judge(self.type)
