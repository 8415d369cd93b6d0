"""The `llm` grader of older suites: a model rates the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GraderError, GradingContext, Verdict
from waza_engine.graders.judging.judges import JudgedConfig, limit_seconds
from waza_engine.graders.judging.ratings import DEFAULT_THRESHOLD, Rating, rate
from waza_engine.graders.judging.rubrics import Rubric, RubricError, load_rubric
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import Number, PlainText, kind
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles

_USUAL = Rubric(
    """\
Rate how well the agent did its task, from 1 to 5:

- Correctness: is what it says and does right?
- Completeness: is nothing missing that the prompt requests?
- Quality: is it clear, and no more than is needed?

1 means that it failed, 3 that it did half of it, 5 that nothing is left to wish for.""",
    source="builtin:llm",
)


class LlmConfig(JudgedConfig):
    """The rubric and the model of the judge."""

    rubric: Annotated[PlainText, kind("prompt.text")] | None = Field(
        default=None,
        description=(
            "The rubric of the ratings from 1 to 5: the text, a file, or the name of a rubric of the engine. "
            "Without one it rates correctness, completeness and quality."
        ),
        examples=["Rate the correctness of the answer from 1 to 5."],
    )
    threshold: Number = Field(
        default=DEFAULT_THRESHOLD,
        ge=0,
        le=1,
        description="The least score that passes, 0 to 1.",
        examples=[0.75],
    )

    misspellings: ClassVar = misspelt({"rubric": ("prompt", "criteria"), "threshold": "pass_threshold"})
    uncertain: ClassVar = frozenset({"prompt", "criteria"})


# It keeps its own `grade`: `prompt` has no default rubric, takes a single word for the name of a rubric, and
# asks for verdicts where a rubric does.
@register
class LlmGrader(Grader[LlmConfig]):
    """Asks a model for a rating from 1 to 5. Write `prompt` instead: upstream no longer runs `llm`.

    **Scoring:** score = (rating − 1) / 4, so 1 is 0.0, 3 is 0.5 and 5 is 1.0; it passes from `threshold` on.
    The judge's own verdict does not count. Another scale applies only if the rubric names it. A reply
    without a rating, or with one that is not on the scale, is an error of the grader.

    **Worth knowing:** `rubric` and `model` may be next to `type` or inside `config`; `config` wins. The
    judge is asked as for `prompt`, and an executor without a model cannot judge.
    """

    type = "llm"
    title = "Judge by rating (older form)"
    config_model = LlmConfig
    entry_keys = ("rubric", "model")
    replaced_by = "prompt"
    judged = True
    example = """\
- type: llm
  name: quality_judge
  config:
    model: gpt-4o-mini
    rubric: |
      Rate the answer from 1 to 5: is it correct and complete?
"""

    @property
    def longest_seconds(self) -> float:
        """One question."""
        return limit_seconds()

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return what is wrong with the rubric."""
        try:
            self._rubric(suite_directory, files)
        except GraderError as error:
            return (str(error),)
        return ()

    def grade(self, context: GradingContext) -> Verdict:
        """Ask the judge. Raises ``GraderError`` when it gives no rating."""
        rubric = self._rubric(context.suite_directory, context.files)
        return rate(Rating(rubric, model=self.config.model, threshold=self.config.threshold), context)

    def _rubric(self, suite_directory: Path, files: SuiteFiles) -> Rubric:
        if not (self.config.rubric or "").strip():
            return _USUAL
        try:
            written = self.config.rubric or ""
            return load_rubric(written, suite_directory, words_are_names=False, files=files)
        except RubricError as error:
            raise GraderError(str(error)) from None
