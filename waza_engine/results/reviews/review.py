"""Apply a person's review to a pending verdict. Light, no models: readers of results use it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Review:
    """A person's verdict on one grader of one trial.

    ``score`` is 0..1; ``time`` is an ISO 8601 time stamp with its zone.
    """

    score: float
    passed: bool
    reviewer: str
    comments: str = ""
    time: str = ""


def review_changes(details: Mapping[str, Any], review: Review) -> dict[str, Any]:
    """Return the new values of a reviewed verdict: its score, verdict, feedback, details and status.

    The wording is that of the first version's review form.
    """
    word = "Passed" if review.passed else "Failed"
    by = f"{word} the review of {review.reviewer}" if review.reviewer else f"{word} the review"
    return {
        "score": review.score,
        "passed": review.passed,
        "feedback": review.comments or by,
        "details": {
            **details,
            "status": "reviewed",
            "reviewer": review.reviewer,
            "review_comments": review.comments,
            **({"reviewed_at": review.time} if review.time else {}),
        },
        "status": "graded",
    }


def recorded_review(score: float, details: Mapping[str, Any], *, passed: bool) -> Review | None:
    """Return the review that a recorded verdict holds, None when it holds none."""
    if details.get("status") != "reviewed":
        return None
    return Review(
        score=score,
        passed=passed,
        reviewer=str(details.get("reviewer") or ""),
        comments=str(details.get("review_comments") or ""),
        time=str(details.get("reviewed_at") or ""),
    )
