"""The `human_calibration` grader: a person's labels to compare a judge with."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import PlainText, kind


class HumanCalibrationConfig(GraderConfig):
    """The judge that is compared with a person."""

    calibrate_grader: Annotated[PlainText, kind("grader.name")] | None = Field(
        default=None,
        description="The `name` of the judge whose verdicts are compared with the person's.",
        examples=["quality_judge"],
    )
    instructions: PlainText | None = Field(
        default=None, description="The instructions for the person.", examples=["Rate the answer from 1 to 5"]
    )

    recommended: ClassVar = (
        {
            "key": "calibrate_grader",
            "severity": "warning",
            "why": "without it no grader is compared with the person",
        },
    )
    misspellings: ClassVar = misspelt({"calibrate_grader": ("grader", "calibrates")})


@register
class HumanCalibrationGrader(Grader[HumanCalibrationConfig]):
    """Collects a person's labels, to see how far a judge can be trusted.

    **Scoring:** none until somebody labels it. The result is `pending`, and a pending grader counts neither
    in the score nor in whether the task passes. A label (`waza-engine review`, as for `human`) measures the
    judge: it counts in no score, and one that fails fails no task.

    **Worth knowing:** `waza-engine review` also reports how far the labels and the judge agree: the share of
    equal verdicts, what the judge wrongly passed and wrongly failed, and Cohen's kappa. `calibrate_grader` is
    the name of another grader of the same suite. Upstream no longer runs this type.
    """

    type = "human_calibration"
    title = "Human calibration"
    config_model = HumanCalibrationConfig
    reviewed = True
    example = """\
- type: human_calibration
  name: calibrate_quality
  config:
    calibrate_grader: quality_judge
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Return the pending labels."""
        name = self.config.calibrate_grader
        return Verdict(
            score=0.0,
            passed=False,
            feedback=f"Pending: labels for {name}" if name else "Pending: labels",
            details={
                "status": "calibration_pending",
                "calibrate_grader": name,
                "instructions": self.config.instructions,
            },
            status="pending",
        )
