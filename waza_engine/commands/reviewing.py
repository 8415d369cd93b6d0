"""Pending verdicts for people: list those in a suite's records, and store reviews."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from waza_engine.results.json_values import Block, block_of
from waza_engine.results.reading.formats import read_document, todays_layout, why_unreadable
from waza_engine.results.reading.missing_results import describe_missing_results
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.results.reviews import (
    Review,
    ReviewItem,
    add_review,
    review_file,
    review_items,
    with_reviews,
)
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite_on_disk import SuiteError


class ReviewError(SuiteError):
    """A review cannot be listed or recorded; the message is for the user."""


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The verdict to review. ``results`` is a result file, an eval file, or the directory of a suite.

    ``passed`` None lists; otherwise that is the verdict. ``score`` is 0..1, by default that of the verdict.
    """

    results: Path
    task: str | None = None
    trial: int | None = None
    grader: str | None = None
    passed: bool | None = None
    score: float | None = None
    comment: str = ""
    reviewer: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewCandidate:
    """A verdict for a person, and its result file."""

    item: ReviewItem
    results: Path

    def to_json(self) -> dict[str, Any]:
        """Return it for programs, with its review if it has one."""
        item, details = self.item, block_of(self.item.verdict, "details")
        review = {
            "passed": item.verdict.get("passed"),
            "score": item.verdict.get("score"),
            "reviewer": details.get("reviewer"),
            "comments": details.get("review_comments"),
        }
        return {
            "results": str(self.results),
            "run": item.key.run,
            "task": item.key.task,
            "trial": item.key.trial,
            "grader": item.key.grader,
            "type": item.type,
            "pending": item.pending,
            "instructions": details.get("instructions"),
            "criteria": details.get("criteria") or [],
            "output": item.output,
            **({} if item.pending else review),
        }


def for_people(request: ReviewRequest, files: Sequence[Path], *, everything: bool) -> list[ReviewCandidate]:
    """Return the verdicts of a request in result files: pending ones, with ``everything`` also others."""
    matching = (each for each in _candidates(files) if _matches(each.item, request))
    return [each for each in matching if everything or each.item.pending]


def record_review(request: ReviewRequest) -> tuple[ReviewCandidate, Review, Path]:
    """Record a verdict and return its current state, the review, and the file it went to.

    Raises ``ReviewError`` when the request does not name one verdict, or the file cannot be written.
    """
    assert request.passed is not None
    score = float(request.passed) if request.score is None else request.score
    if not 0 <= score <= 1:
        raise ReviewError(f"The score is {score:g}; it must lie between 0 and 1.")
    candidates = for_people(request, recorded_files(request.results), everything=True)
    pending = [found for found in candidates if found.item.pending]
    # A review can be corrected; without a choice to make, the pending ones come first.
    chosen = pending if pending else candidates
    if len(chosen) != 1:
        raise ReviewError(_which(chosen))
    found = chosen[0]
    review = Review(
        score=score,
        passed=request.passed,
        reviewer=request.reviewer or os.environ.get("WAZA_REVIEWER") or _user(),
        comments=request.comment,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    file = review_file(found.results)
    try:
        add_review(file, found.item.key, review)
    except OSError as error:
        raise ReviewError(f"The review cannot be written to {file}: {error.strerror or error}.") from None
    document = reviewed_document(found.results) or {}
    item = next(item for item in review_items(document, found.results) if item.key == found.item.key)
    return ReviewCandidate(item, found.results), review, file


def recorded_files(given: Path) -> list[Path]:
    """Return result files, newest first. Raises ``SuiteError`` without any."""
    if given.is_dir() or given.suffix in (".yaml", ".yml"):
        suite = eval_file_of(given).parent
        files = result_files(suite)
        if not files:
            raise ReviewError(describe_missing_results(suite, suite, "run the suite first"))
        return files
    document = read_document(given)
    if document is None and given.is_file():
        raise ReviewError(why_unreadable(given))
    if document is None or not isinstance(document.get("tasks"), list):
        raise ReviewError(f"{given} is not a result file.")
    return [given]


def reviewed_document(path: Path) -> Block | None:
    """Return a record with its reviews laid over it, None when it cannot be read."""
    document = read_document(path)
    return None if document is None else with_reviews(todays_layout(document), path)


def _which(found: Sequence[ReviewCandidate]) -> str:
    if not found:
        return "Nothing waits for a review there."
    names = "; ".join(_options(each.item) for each in found[:10])
    more = f" and {len(found) - 10} more" if len(found) > 10 else ""
    return f"{len(found)} verdicts fit; name one of them: {names}{more}."


def _options(item: ReviewItem) -> str:
    return f"--task {item.key.task} --trial {item.key.trial} --grader {item.key.grader}"


def _candidates(files: Sequence[Path]) -> list[ReviewCandidate]:
    """Return the verdicts for people: of each trial of a task the newest, by the name of the grader."""
    found: list[ReviewCandidate] = []
    newest: dict[tuple[str, str], Path] = {}
    for path in files:
        document = reviewed_document(path)
        if document is None:
            continue
        # A task that was run again needs a new review; its earlier answers do not count any more.
        found += [
            ReviewCandidate(item, path)
            for item in review_items(document, path)
            if newest.setdefault((item.key.task, item.key.grader), path) == path
        ]
    return found


def _matches(item: ReviewItem, request: ReviewRequest) -> bool:
    return (
        request.task in (None, item.key.task, item.task_name)
        and request.trial in (None, item.key.trial)
        and request.grader in (None, item.key.grader)
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
