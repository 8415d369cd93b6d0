"""Several votes of a judge on one answer: how they become one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median
from typing import Literal

from pydantic import Field

from waza_engine.figures import reaches, shown_score
from waza_engine.graders.base import Verdict
from waza_engine.graders.config import GraderConfig
from waza_engine.spec.fields import WholeNumber

Aggregate = Literal["majority", "mean", "median"]


class JudgeConfig(GraderConfig):
    """How often the judge is asked about one answer."""

    votes: WholeNumber = Field(
        default=1,
        ge=1,
        le=15,
        description="How often the judge is asked about one answer, each time in a new session; each costs.",
        examples=[3],
    )
    aggregate: Aggregate = Field(
        default="majority",
        description=(
            "How the votes become one verdict. `majority` passes when more than half of them do, and scores "
            "their median; `mean` and `median` compare that score with the `threshold` of a rating, and need "
            "a majority where there is none."
        ),
    )


def decided(votes: Sequence[Verdict], aggregate: Aggregate, threshold: float | None) -> Verdict:
    """Return the verdict of several votes, with their spread in its feedback.

    ``threshold`` is that of a rating, None for votes that only pass or fail.
    """
    scores, passes = [vote.score for vote in votes], sum(vote.passed for vote in votes)
    score = mean(scores) if aggregate == "mean" else median(scores)
    passed = passes * 2 > len(votes)
    if aggregate != "majority" and threshold is not None:
        passed = reaches(score, threshold)
    telling = next((vote for vote in votes if vote.passed == passed), votes[0])
    spread = f"{shown_score(min(scores))}–{shown_score(max(scores))}"
    told = f"{passes} of {len(votes)} votes pass, scores {spread}"
    each = [{"score": vote.score, "passed": vote.passed, "feedback": vote.feedback} for vote in votes]
    details = {**telling.details, "votes": each, "aggregate": aggregate, "spread": max(scores) - min(scores)}
    return replace(
        telling, score=score, passed=passed, feedback=f"{told}: {telling.feedback}", details=details
    )
