"""``waza-engine review``: what waits for a person, and recording what the person says."""

from __future__ import annotations

import getpass
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from waza_engine.commands.conclusion_text import MARKS
from waza_engine.commands.printer import Printer
from waza_engine.counting import counted
from waza_engine.figures import shown_score
from waza_engine.results.json_values import Block, block_of, plain
from waza_engine.results.reading.formats import read_document, todays_layout, why_unreadable
from waza_engine.results.reading.missing import no_results_words
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.results.reviews.calibration import agreement_words, calibrations
from waza_engine.results.reviews.review import Review
from waza_engine.results.reviews.review_file import add_review, broken_lines, review_file
from waza_engine.results.reviews.reviewed import ReviewItem, review_items, with_reviews
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.terminal import complain, say, say_json

DONE, NOT_DONE = 0, 2
_SHOWN_CHARACTERS = 600


class ReviewError(Exception):
    """A review cannot be listed or recorded; the text is for the user."""


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What to review. ``results`` is a result file, an eval file, or the directory of a suite.

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
class Found:
    """A verdict for a person, and the result file that it stands in."""

    item: ReviewItem
    results: Path


def review_command(request: ReviewRequest, *, as_json: bool, everything: bool) -> int:
    """List what waits (with ``everything`` also what does not), or record a verdict; return the exit code."""
    try:
        if request.passed is not None:
            _tell_recorded(*record_review(request), as_json=as_json)
            return DONE
        if request.score is not None or request.comment:
            raise ReviewError("A review needs a verdict: add `--pass` or `--fail`.")
        files = _result_files(request.results)
    except ReviewError as error:
        complain(str(error))
        return NOT_DONE
    for warning in dict.fromkeys(line for path in files for line in broken_lines(path)):
        complain(f"warning: {warning}")
    documents = {path: document for path in files if (document := _document(path)) is not None}
    for path in files:
        if path not in documents:
            complain(f"warning: {why_unreadable(path)}")
    found = [
        each for each in _found(files) if (everything or each.item.pending) and _is_meant(each.item, request)
    ]
    agreements = {name: figures for path in files[::-1] if path in documents
                  for name, figures in calibrations(documents[path]).items()}  # fmt: skip
    if as_json:
        answer = {"items": [_answer(each) for each in found], "calibration": agreements}
        say_json(plain(answer))
    else:
        _tell(found, agreements)
    return DONE


def record_review(request: ReviewRequest) -> tuple[Found, Review, Path]:
    """Record a verdict and return what it is about, the review, and the file it went to.

    Raises ``ReviewError`` when the request does not name one verdict, or the file cannot be written.
    """
    assert request.passed is not None
    score = float(request.passed) if request.score is None else request.score
    if not 0 <= score <= 1:
        raise ReviewError(f"The score is {score:g}; it must lie between 0 and 1.")
    candidates = [found for found in _found(_result_files(request.results)) if _is_meant(found.item, request)]
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
    return found, review, file


def _which(found: Sequence[Found]) -> str:
    if not found:
        return "Nothing waits for a review there."
    names = "; ".join(_options(each.item) for each in found[:10])
    more = f" and {len(found) - 10} more" if len(found) > 10 else ""
    return f"{len(found)} verdicts fit; name one of them: {names}{more}."


def _options(item: ReviewItem) -> str:
    return f"--task {item.key.task} --trial {item.key.trial} --grader {item.key.grader}"


def _found(files: Sequence[Path]) -> list[Found]:
    """Return what is for people: of each trial of a task the newest, by the name of the grader."""
    found: list[Found] = []
    newest: dict[tuple[str, str], Path] = {}
    for path in files:
        document = _document(path)
        if document is None:
            continue
        # A task that was run again is reviewed anew; its earlier answers do not count any more.
        found += [
            Found(item, path)
            for item in review_items(document, path)
            if newest.setdefault((item.key.task, item.key.grader), path) == path
        ]
    return found


def _document(path: Path) -> Block | None:
    document = read_document(path)
    return None if document is None else with_reviews(todays_layout(document), path)


def _result_files(given: Path) -> list[Path]:
    """Return result files, newest first. Raises ``ReviewError`` when there is none."""
    if given.is_dir() or given.suffix in (".yaml", ".yml"):
        try:
            suite = eval_file_of(given).parent
        except SuiteError as error:
            raise ReviewError(str(error)) from None
        files = result_files(suite)
        if not files:
            raise ReviewError(no_results_words(suite, suite, "run the suite first"))
        return files
    document = read_document(given)
    if document is None and given.is_file():
        raise ReviewError(why_unreadable(given))
    if document is None or not isinstance(document.get("tasks"), list):
        raise ReviewError(f"{given} is not a result file.")
    return [given]


def _is_meant(item: ReviewItem, request: ReviewRequest) -> bool:
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


def _answer(found: Found) -> dict[str, Any]:
    item, details = found.item, block_of(found.item.verdict, "details")
    return {
        "results": str(found.results),
        "run": item.key.run,
        "task": item.key.task,
        "trial": item.key.trial,
        "grader": item.key.grader,
        "type": item.type,
        "pending": item.pending,
        "instructions": details.get("instructions"),
        "criteria": details.get("criteria") or [],
        "output": item.output,
        **(
            {}
            if item.pending
            else {
                "passed": item.verdict.get("passed"),
                "score": item.verdict.get("score"),
                "reviewer": details.get("reviewer"),
                "comments": details.get("review_comments"),
            }
        ),
    }


def _tell_recorded(found: Found, review: Review, file: Path, *, as_json: bool) -> None:
    if as_json:
        document = _document(found.results) or {}
        item = next(each for each in review_items(document, found.results) if each.key == found.item.key)
        answer = {**_answer(Found(item, found.results)), "file": str(file)}
        say_json(plain(answer))
        return
    word = "passed" if review.passed else "failed"
    by = f" by {review.reviewer}" if review.reviewer else ""
    key = found.item.key
    say(f"{key.task}, trial {key.trial}, {key.grader}: {word} with {shown_score(review.score)}{by}")
    say(f"reviews: {file}")


def _tell(found: Sequence[Found], agreements: Block) -> None:
    printer = Printer()
    for each in found:
        _tell_item(printer, each)
    pending = sum(each.item.pending for each in found)
    printer.line(f"{counted(pending, 'review')} pending")
    for name, figures in agreements.items():
        printer.line(f"{name}: {agreement_words(figures)}")


def _tell_item(printer: Printer, found: Found) -> None:
    item, details = found.item, block_of(found.item.verdict, "details")
    mark = MARKS["pending" if item.pending else "passed" if item.verdict.get("passed") else "failed"]
    where = f"  trial {item.key.trial}  {item.key.grader}"
    printer.line(mark, " ", (item.key.task, "bold"), where, (f"  {item.type}", "dim"))
    if details.get("instructions"):
        printer.lines(str(details["instructions"]), "    ")
    criteria: object = details.get("criteria")
    for criterion in cast("list[object]", criteria) if isinstance(criteria, list) else []:
        printer.line(f"    – {criterion}")
    if not item.pending:
        printer.line(f"    {details.get('reviewer') or 'somebody'}: {details.get('review_comments') or ''}")
    text = item.output if len(item.output) <= _SHOWN_CHARACTERS else item.output[:_SHOWN_CHARACTERS] + "…"
    if text:
        printer.lines(text, "    │ ", "dim")
    printer.line()
