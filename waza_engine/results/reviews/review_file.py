"""The review file: people's reviews of pending graders, one JSON object a line, to be committed.

``reviews.jsonl`` lies next to the eval file, not below ``.waza``: results are generated, a review is
somebody's work. Lines are only ever added, so two reviewers never overwrite each other and version control
merges them; of two reviews of one verdict the later line counts. Results files are never edited: readers
apply the reviews to them.

Light, no models.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from waza_engine.boundary import repository_around, suite_boundary
from waza_engine.checkpoint import checkpoint
from waza_engine.figures import is_finite
from waza_engine.files import opened_to_append, read_bytes
from waza_engine.results.places import results_directory
from waza_engine.results.reviews.review import Review
from waza_engine.spec.reading.searched_folders import EVAL_NAMES
from waza_engine.terminal import json_text

REVIEWS_NAME = "reviews.jsonl"
_LEVELS = 6
LONGEST_BYTES = 64 * 1024 * 1024
MOST_LINES = 50_000
_LINES_PER_CHECKPOINT = 100
_MOST_READ = 64

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewKey:
    """The reviewed verdict: ``run`` is the id of the run, ``trial`` its number, from 1."""

    run: str
    task: str
    trial: int
    grader: str


Reviews: TypeAlias = Mapping[ReviewKey, Review]
NONE: Reviews = MappingProxyType({})


def reviews(results: Path) -> Reviews:
    """Return the reviews that may concern a result file: those of its suite, {} when there are none.

    Lines that cannot be read are skipped; ``broken_lines`` names them.
    """
    stamp = reviews_stamp(results)
    if stamp is None:
        return NONE
    known = _read.get(stamp)
    if known is None:
        found: dict[ReviewKey, Review] = {}
        for number, review, _ in _lines(stamp[0]):
            if review is not None:
                found[review[0]] = review[1]
            if not number % _LINES_PER_CHECKPOINT:
                checkpoint()
        known = _read[stamp] = MappingProxyType(found)
        if len(_read) > _MOST_READ:
            del _read[next(iter(_read))]
    return known


def reviews_stamp(results: Path) -> tuple[Path, int, int] | None:
    """Return the review file of a result file with its time and size, for caches; None without one."""
    for place in _candidates(results):
        try:
            state = place.stat()
        except OSError:
            continue
        return place, state.st_mtime_ns, state.st_size
    return None


def review_file(results: Path) -> Path:
    """Return the file for a review of a result file: the existing one, else one next to the eval file."""
    stamp = reviews_stamp(results)
    if stamp is not None:
        return stamp[0]
    above = _folders(results)
    for folder in above:
        if any((folder / name).is_file() for name in EVAL_NAMES) or results_directory(folder) == above[0]:
            return folder / REVIEWS_NAME
    return above[0] / REVIEWS_NAME


def add_review(file: Path, key: ReviewKey, review: Review) -> None:
    """Add a line to a review file. Raises ``OSError``."""
    line = json_text(
        {
            "run": key.run,
            "task": key.task,
            "trial": key.trial,
            "grader": key.grader,
            "passed": review.passed,
            "score": review.score,
            "reviewer": review.reviewer,
            "comments": review.comments,
            "time": review.time,
        }
    ).encode()
    with opened_to_append(file, within=suite_boundary(file.parent)) as opened:
        # Somebody may have edited the file and left its last line open.
        if opened.seek(0, os.SEEK_END) > 0:
            opened.seek(-1, os.SEEK_END)
            if opened.read(1) != b"\n":
                line = b"\n" + line
        opened.write(line + b"\n")
        os.fsync(opened.fileno())


def broken_lines(results: Path) -> list[str]:
    """Return a sentence for each unusable line of the review file."""
    stamp = reviews_stamp(results)
    if stamp is None:
        return []
    return [
        f"{stamp[0]}:{number} is no review: {why}" for number, found, why in _lines(stamp[0]) if found is None
    ]


_read: dict[tuple[Path, int, int], Reviews] = {}
"""A cache of review files, by their state."""


def _lines(file: Path) -> Iterator[tuple[int, tuple[ReviewKey, Review] | None, str]]:
    """Yield the number of each line, its review, or else its error."""
    try:
        content = read_bytes(file, LONGEST_BYTES, within=suite_boundary(file.parent))
    except OSError:
        return
    lines = content.split(b"\n", MOST_LINES)
    if len(lines) > MOST_LINES and lines.pop():
        log.warning("Reviews behind line %s of %s are not read.", MOST_LINES, file)
    del content
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, _review(json.loads(line)), ""
        except (ValueError, RecursionError) as error:
            why = "it is not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            yield number, None, why


def _review(line: object) -> tuple[ReviewKey, Review]:
    """Return the review of a line. Raises ``ValueError`` with the reason."""
    if not isinstance(line, Mapping):
        raise ValueError("it is not an object")
    block = cast("Mapping[str, Any]", line)
    for key in ("run", "task", "grader"):
        if not isinstance(block.get(key), str):
            raise ValueError(f"`{key}` must be text")
    trial, passed, score = block.get("trial", 1), block.get("passed"), block.get("score")
    if not isinstance(trial, int) or isinstance(trial, bool):
        raise ValueError("`trial` must be a whole number")
    if not isinstance(passed, bool):
        raise ValueError("`passed` must be true or false")
    if score is None:
        score = float(passed)
    if isinstance(score, bool) or not isinstance(score, int | float) or not _is_share(score):
        raise ValueError("`score` must be a number from 0 to 1")
    key = ReviewKey(block["run"], block["task"], trial, block["grader"])
    said = {name: str(block.get(name) or "") for name in ("reviewer", "comments", "time")}
    return key, Review(float(score), passed, **said)


def _is_share(score: float) -> bool:
    return is_finite(score) and 0 <= score <= 1


def _candidates(results: Path) -> list[Path]:
    return [folder / REVIEWS_NAME for folder in _folders(results)]


def _folders(results: Path) -> list[Path]:
    """Return the folder of a result file and those above it in its repository, as far as a suite reaches."""
    above = Path(os.path.abspath(results)).parents[:_LEVELS]  # noqa: PTH100 - links stay as they are
    repository = repository_around(above[0])
    return [folder for folder in above if repository is None or folder.is_relative_to(repository)]
