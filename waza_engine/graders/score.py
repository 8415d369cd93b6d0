"""The `score` grader: the verdict on a trial by the verdicts of its other graders."""

from __future__ import annotations

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GraderError, GradingContext, Verdict
from waza_engine.graders.registry import register
from waza_engine.number_formats import format_below, format_score, reaches
from waza_engine.scoring.task_scores import composite
from waza_engine.spec.fields import Number


class ScoreConfig(GraderConfig):
    """The score that the other graders must reach together."""

    threshold: Number | None = Field(
        default=None,
        ge=0,
        le=1,
        description="The weighted mean that passes, 0 to 1. Without it every other grader must pass.",
        examples=[0.8],
    )


@register
class ScoreGrader(Grader[ScoreConfig]):
    """Judges the verdicts of the graders before it: it makes a trial pass by its score.

    **Scoring:** the weighted mean of the scores before it, so it changes no mean. It passes when that reaches
    `threshold` or, without one, when all of them passed.

    **Worth knowing:**

    - Write it as the last grader, and `required: false` in the others, which then cannot fail the trial.
    - A grader in error makes it an error: what could not be judged is neither a pass nor a fail.
    - Upstream does not know this type. Vally decides trials in this way.
    """

    type = "score"
    title = "Score of the trial"
    config_model = ScoreConfig
    reads_verdicts = True
    example = """\
- type: score
  name: good-enough
  config:
    threshold: 0.8
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Return the verdict. Raises ``GraderError`` when a grader could not grade, and without any."""
        verdicts = context.verdicts
        if not verdicts:
            raise GraderError("there are no graders before it; write `score` as the last one")
        if broken := [name for name, graded in verdicts.items() if graded.status == "error"]:
            raise GraderError(f"without the verdict of {_named(broken)} the trial has no score")
        score, threshold = composite(tuple(verdicts.values())).weighted_score, self.config.threshold
        failed = [
            name for name, graded in verdicts.items() if graded.status == "graded" and not graded.passed
        ]
        status = "pending" if any(graded.status == "pending" for graded in verdicts.values()) else "graded"
        if threshold is None:
            feedback = f"failed: {_named(failed)}" if failed else "All graders passed"
            return Verdict(score, not failed, feedback, status=status)
        if reaches(score, threshold):
            return Verdict(score, True, f"the score is {format_score(score)}", status=status)
        shown, least = format_below(score, threshold)
        lost = f"; failed: {_named(failed)}" if failed else ""
        return Verdict(score, False, f"the score is {shown}, below {least}{lost}", status=status)


def _named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
