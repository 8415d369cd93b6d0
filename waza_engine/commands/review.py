"""``waza-engine review``: list pending verdicts, and record a person's reviews."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from waza_engine.commands.conclusion_text import MARKS
from waza_engine.commands.printer import Printer
from waza_engine.commands.reviewing import (
    ReviewCandidate,
    ReviewError,
    ReviewRequest,
    for_people,
    record_review,
    recorded_files,
    reviewed_document,
)
from waza_engine.counting import counted, cut
from waza_engine.number_formats import format_score
from waza_engine.results.json_values import Block, block_of, plain
from waza_engine.results.reading.formats import why_unreadable
from waza_engine.results.reviews import Review, calibrations, describe_agreement
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.terminal import complain, say, say_json

DONE, NOT_DONE = 0, 2
_SHOWN_CHARACTERS = 600


def review_command(request: ReviewRequest, *, as_json: bool, everything: bool) -> int:
    """List pending verdicts (with ``everything`` also reviewed ones), or record one; return the exit code."""
    try:
        if request.passed is not None:
            found, review, file = record_review(request)
            if as_json:
                say_json(plain({**found.to_json(), "file": str(file)}))
            else:
                _print_recorded(found, review, file)
            return DONE
        if request.score is not None or request.comment:
            raise ReviewError("A review needs a verdict: add `--pass` or `--fail`.")
        files = recorded_files(request.results)
    except SuiteError as error:
        complain(str(error))
        return NOT_DONE
    documents = {path: document for path in files if (document := reviewed_document(path)) is not None}
    for path in files:
        if path not in documents:
            complain(f"warning: {why_unreadable(path)}")
    found = for_people(request, files, everything=everything)
    agreements = {name: numbers for path in files[::-1] if path in documents
                  for name, numbers in calibrations(documents[path]).items()}  # fmt: skip
    if as_json:
        answer = {"items": [each.to_json() for each in found], "calibration": agreements}
        say_json(plain(answer))
    else:
        _print_reviews(found, agreements)
    return DONE


def _print_recorded(found: ReviewCandidate, review: Review, file: Path) -> None:
    word = "passed" if review.passed else "failed"
    by = f" by {review.reviewer}" if review.reviewer else ""
    key = found.item.key
    say(f"{key.task}, trial {key.trial}, {key.grader}: {word} with {format_score(review.score)}{by}")
    say(f"reviews: {file}")


def _print_reviews(found: Sequence[ReviewCandidate], agreements: Block) -> None:
    printer = Printer()
    for each in found:
        _print_item(printer, each)
    pending = sum(each.item.pending for each in found)
    printer.line(f"{counted(pending, 'review')} pending")
    for name, numbers in agreements.items():
        printer.line(f"{name}: {describe_agreement(numbers)}")


def _print_item(printer: Printer, found: ReviewCandidate) -> None:
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
    if item.output:
        printer.lines(cut(item.output, _SHOWN_CHARACTERS), "    │ ", "dim")
    printer.line()
