"""The score of one trial: the plain and the weighted mean of its graders' scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TrialStatus = Literal["passed", "failed", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Graded:
    """One grader's verdict, for scoring. ``weight`` is as written.

    Zero and below count as 1. One that is not ``required`` counts in the score and never in the status.
    """

    score: float
    passed: bool
    weight: float = 1.0
    status: Literal["graded", "pending", "error"] = "graded"
    required: bool = True


@dataclass(frozen=True, slots=True)
class Composite:
    """The two means of a trial, both 0.0 when nothing was graded."""

    score: float
    weighted_score: float


def composite(graded: Sequence[Graded]) -> Composite:
    """Return the means over all graders except those that wait for a person.

    A grader in error counts with score 0: it was requested and gave no verdict.
    """
    counted = [grader for grader in graded if grader.status != "pending"]
    if not counted:
        return Composite(0.0, 0.0)
    weights = [effective_weight(grader.weight) for grader in counted]
    scores = [0.0 if grader.status == "error" else grader.score for grader in counted]
    weighted = sum(score * weight for score, weight in zip(scores, weights, strict=True)) / sum(weights)
    return Composite(sum(scores) / len(scores), weighted)


def effective_weight(weight: float) -> float:
    """Return the weight that counts: zero and below mean 1."""
    return weight if weight > 0 else 1.0


def trial_status(
    graded: Sequence[Graded], checkpoints: Sequence[TrialStatus] = (), *, execution_error: bool = False
) -> TrialStatus:
    """Return whether a trial passed: all its required graders must have passed, whatever their weights.

    A failed grader outranks one in error: ``failed`` says that the answer is wrong, ``error`` only that it
    could not be judged completely. A trial whose graders all wait for a person is ``skipped``; one without
    graders has passed. ``checkpoints`` are the statuses of those in the middle of its conversation: they can
    fail it if it has a score, and it waits for people with those at its end.
    """
    if execution_error:
        return "error"
    graded = [said for said in graded if said.required]
    if "failed" in checkpoints or any(said.status == "graded" and not said.passed for said in graded):
        return "failed"
    if "error" in checkpoints or any(said.status == "error" for said in graded):
        return "error"
    asked = [said.status == "pending" for said in graded] or [said == "skipped" for said in checkpoints]
    return "skipped" if asked and all(asked) else "passed"


def borne_out(written: TrialStatus, said: Sequence[TrialStatus]) -> TrialStatus:
    """Return the written status, or for ``passed`` the worst of the statuses below it.

    A file may have been edited by hand; upstream writes a worse one for reasons of its own.
    """
    if written != "passed":
        return written
    return "failed" if "failed" in said else "error" if "error" in said else written
