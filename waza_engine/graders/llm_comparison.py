"""The `llm_comparison` grader of older suites: a model compares the answer with a reference."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict
from waza_engine.graders.judging.judges import JudgedConfig, limit_seconds
from waza_engine.graders.judging.ratings import (
    DEFAULT_THRESHOLD,
    Rating,
    ask_for_rating,
    rating_details,
    section,
    task_and_answer,
)
from waza_engine.graders.judging.rubrics import Rubric
from waza_engine.graders.judging.scales import linear
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import PlainText, kind

_QUESTION = """\
Compare the answer of an agent with a reference: an answer that is known to be good, or a description of one.
Rate from 1 to 5 how far they mean the same. Wording, order and form do not matter.

- 1: they have nothing in common, or contradict each other
- 3: the answer has some of what the reference says
- 5: the answer says all that the reference says"""
_ANSWER = """\
Answer with one JSON object and nothing else:
{"reasoning": "<what agrees and what differs>", "score": <a number from 1 to 5>, "passed": <true or false>}"""


class LlmComparisonConfig(JudgedConfig):
    """The reference answer and the model of the judge."""

    reference: Annotated[PlainText, kind("prompt.text")] = Field(
        description="The answer, or a description of it, that the judge compares with.",
        examples=["The URL of the deployed resource and the next steps."],
        min_length=1,
    )

    misspellings: ClassVar = misspelt({"reference": ("expected", "reference_text", "golden")})
    uncertain: ClassVar = frozenset({"expected", "golden"})


# It keeps its own `grade`: in `prompt`, the verdict of the judge never replaces the threshold.
@register
class LlmComparisonGrader(Grader[LlmComparisonConfig]):
    """Asks a model how close the answer is to a given one. Write `prompt`: upstream no longer runs it.

    **Scoring:** the judge rates the likeness of meaning from 1 to 5; score = (rating − 1) / 4. It passes when
    the judge says so, and from 0.75 on when it says nothing. A reply without a rating, or with one that is
    not on the scale, is an error of the grader.

    **Worth knowing:** the judge is asked as for `prompt`, and an executor without a model cannot
    judge.
    """

    type = "llm_comparison"
    title = "Judge by comparison (older form)"
    config_model = LlmComparisonConfig
    entry_keys = ("model",)
    replaced_by = "prompt"
    judged = True
    example = """\
- type: llm_comparison
  name: like_the_reference
  config:
    model: gpt-4o-mini
    reference: |
      Confirms the deployment, gives the URL, and lists the next steps.
"""

    @property
    def longest_seconds(self) -> float:
        """One question."""
        return limit_seconds()

    def grade(self, context: GradingContext) -> Verdict:
        """Ask the judge. Raises ``GraderError`` when it gives no rating."""
        prompt = "\n\n".join(
            [
                _QUESTION,
                section("Reference", "reference", self.config.reference),
                task_and_answer(context),
                _ANSWER,
            ]
        )
        scale = linear(1, 5)
        rating = Rating(Rubric(_QUESTION, rating_field="score"), model=self.config.model)
        reply, response = ask_for_rating(rating, prompt, scale, context)
        score = scale.score(reply.rating)
        passed = score >= DEFAULT_THRESHOLD if reply.passed is None else reply.passed
        rated = f"Rated {reply.rating:g} on the scale {scale.text}"
        feedback = ": ".join(text for text in (rated, reply.reasoning) if text)
        return Verdict(score, passed, feedback, rating_details(reply, scale, prompt, response))
