"""A result document with its reviews: verdicts of people, the resulting numbers, and pending verdicts.

Reviews of `human_calibration` graders are labels: each is compared with the verdict of the grader named by
``calibrate_grader`` on the same trial, where positive means passed. Light, no models.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from waza_engine.boundary import repository_around, suite_boundary
from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.files import opened_to_append, read_bytes
from waza_engine.results.codec.run_documents import counted_document
from waza_engine.results.codec.summary_blocks import counted_run, counted_task
from waza_engine.results.codec.trials import verdict_blocks, verdict_of, verdicts_of
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, text_of, whole
from waza_engine.results.record import Validation
from waza_engine.results.result_file_names import results_directory
from waza_engine.spec.reading.searched_folders import EVAL_NAMES
from waza_engine.terminal import json_text
from waza_engine.vocabulary import checkpoint_grader


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


REVIEWS_NAME = "reviews.jsonl"
_LEVELS = 6
LONGEST_BYTES = 64 * 1024 * 1024
MOST_LINES = 50_000

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

    Lines that cannot be read are skipped, with one warning.
    """
    stamp = reviews_stamp(results)
    if stamp is None:
        return NONE
    return _reviews_in(*stamp)


@lru_cache(maxsize=64)
def _reviews_in(file: Path, modified: int, size: int) -> Reviews:
    del modified, size
    found: dict[ReviewKey, Review] = {}
    broken: list[str] = []
    for number, review, why in _lines(file):
        if review is None:
            broken.append(f"{file}:{number} is no review: {why}")
        else:
            found[review[0]] = review[1]
        checkpoint()
    if broken:
        more = f" (and {counted(len(broken) - 1, 'more line')})" if broken[1:] else ""
        log.warning("%s%s", broken[0], more)
    return MappingProxyType(found)


def reviews_stamp(results: Path) -> tuple[Path, int, int] | None:
    """Return the review file of a result file with its time and size, for caches; None without one."""
    for folder in _folders(results):
        place = folder / REVIEWS_NAME
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
    line = json_text({**asdict(key), "passed": review.passed, **asdict(review)}).encode()
    with opened_to_append(file, within=suite_boundary(file.parent)) as opened:
        # Somebody may have edited the file and left its last line open.
        if opened.seek(0, os.SEEK_END) > 0:
            opened.seek(-1, os.SEEK_END)
            if opened.read(1) != b"\n":
                line = b"\n" + line
        opened.write(line + b"\n")
        os.fsync(opened.fileno())


def _lines(file: Path) -> Iterator[tuple[int, tuple[ReviewKey, Review] | None, str]]:
    """Yield the number of each line, its review, or else its error."""
    try:
        content = read_bytes(file, LONGEST_BYTES, within=suite_boundary(file.parent))
    except OSError as error:
        log.warning("Reviews in %s are not read: %s.", file, error.strerror or error)
        return
    lines = content.split(b"\n", MOST_LINES)
    if len(lines) > MOST_LINES and lines.pop():
        log.warning("Reviews after line %s of %s are not read.", MOST_LINES, file)
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
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise ValueError("`score` must be a number from 0 to 1")
    key = ReviewKey(block["run"], block["task"], trial, block["grader"])
    strings = {name: str(block.get(name) or "") for name in ("reviewer", "comments", "time")}
    return key, Review(float(score), passed, **strings)


def _folders(results: Path) -> list[Path]:
    """Return the folder of a result file and those above it in its repository, as far as a suite reaches."""
    above = Path(os.path.abspath(results)).parents[:_LEVELS]  # noqa: PTH100 - links stay as they are
    repository = repository_around(above[0])
    return [folder for folder in above if repository is None or folder.is_relative_to(repository)]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A verdict for a person: still pending, or reviewed already.

    ``output`` is the whole answer, at a checkpoint the part stored in its verdict.
    """

    key: ReviewKey
    task_name: str
    type: str
    verdict: Block
    output: str

    @property
    def pending(self) -> bool:
        """Return whether it has no review yet."""
        return verdict_of(self.key.grader, self.verdict).status == "pending"


@dataclass(frozen=True, slots=True)
class RunReviews:
    """The reviews of one run."""

    run: str
    reviews: Reviews

    def over_task(self, task: Block, *, resampled: bool = True) -> tuple[Block, bool]:
        """Return a task with its reviews applied, and whether there are any.

        Its numbers are computed again, the interval of its score only when ``resampled``.
        """
        identifier = text_of(task.get("test_id"))
        trials: list[Block] = []
        changed = False
        for position, trial in enumerate(blocks_of(task.get("runs")), 1):
            found = self._over_trial(trial, identifier, _number(trial, position))
            changed = changed or found is not trial
            trials.append(found)
        return (counted_task(task, trials, resampled=resampled), True) if changed else (task, False)

    def _over_trial(self, trial: Block, task: str, number: int) -> Block:
        parts = list(_parts(trial))
        end, *checkpoints = (self._over_part(*part, task, number) for part in parts)
        if all(now is then for now, (then, _) in zip([end, *checkpoints], parts, strict=True)):
            return trial
        return _counted({**end, "checkpoints": checkpoints} if checkpoints else end)

    def _over_part(self, part: Block, shown_name: Callable[[str], str], task: str, number: int) -> Block:
        reviewed = {
            name: _reviewed(verdict, self.reviews[key])
            for name, verdict in verdict_blocks(part).items()
            if (key := ReviewKey(self.run, task, number, shown_name(name))) in self.reviews
            and _is_for_people(verdict)
        }
        return _counted({**part, "validations": {**part["validations"], **reviewed}}) if reviewed else part


def reviews_of(document: Block, results: Path) -> RunReviews | None:
    """Return the reviews of a document's run, None when there are none."""
    known = reviews(results)
    run = run_id(document, results) if known else ""
    mine = {key: review for key, review in known.items() if key.run == run}
    return RunReviews(run, mine) if mine else None


def with_reviews(document: Block, results: Path) -> Block:
    """Return a document of the current layout with the reviews of its suite laid over it.

    Figures are counted again for what changed. Without reviews it is the same document.
    """
    reviews = reviews_of(document, results)
    if reviews is None:
        return document
    tasks = [reviews.over_task(task) for task in blocks_of(document.get("tasks"))]
    if not any(changed for _, changed in tasks):
        return document
    counted = counted_document(document, [task for task, _ in tasks])
    if "summary" not in document:
        # A journal has no summary yet.
        del counted["summary"]
    return with_calibration(counted)


def review_items(document: Block, results: Path) -> Iterator[ReviewItem]:
    """Yield every verdict that is for a person, in the order of the document."""
    run = run_id(document, results)
    for task in blocks_of(document.get("tasks")):
        for position, trial in enumerate(blocks_of(task.get("runs")), 1):
            number = _number(trial, position)
            for part, shown_name in _parts(trial):
                for name, verdict in verdict_blocks(part).items():
                    if _is_for_people(verdict):
                        yield ReviewItem(
                            key=ReviewKey(run, text_of(task.get("test_id")), number, shown_name(name)),
                            task_name=text_of(task.get("display_name")),
                            type=text_of(verdict.get("type")),
                            verdict=verdict,
                            output=_answer(part, verdict),
                        )


def run_id(document: Block, results: Path) -> str:
    """Return the name of a run in reviews: its id, or the name of its file when it has none."""
    return text_of(document.get("eval_id")) or results.name


def _parts(trial: Block) -> Iterator[tuple[Block, Callable[[str], str]]]:
    """Yield the objects with verdicts, a trial and its checkpoints, and how their names are shown."""
    yield trial, str
    for part in blocks_of(trial.get("checkpoints")):
        yield part, partial(checkpoint_grader, turn=whole(part.get("after_turn")))


def _answer(part: Block, verdict: Block) -> str:
    """Return the answer to review: that of a checkpoint differs from the last one."""
    return text_of(part.get("final_output")) or text_of(block_of(verdict, "details").get("output_preview"))


def _counted(trial: Block) -> Block:
    return counted_run(trial, execution_error=bool(text_of(trial.get("error_msg"))))


def _reviewed(verdict: Block, review: Any) -> Block:
    changed = {**verdict, **review_changes(block_of(verdict, "details"), review)}
    del changed["status"]
    return changed


def _is_for_people(verdict: Block) -> bool:
    """Return whether a verdict is a person's, from its status: older versions did not write types."""
    return block_of(verdict, "details").get("status") in ("pending", "calibration_pending", "reviewed")


def _number(trial: Block, position: int) -> int:
    number = trial.get("run_number")
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else position


def agreement(pairs: Sequence[tuple[bool, bool]], differences: Sequence[float] = ()) -> Json:
    """Return the agreement of (person passed, judge passed) pairs: labels of people, verdicts of one judge.

    Rates are 0..1 and None where nothing can be counted: ``false_positive_rate`` is the share that the judge
    passed of what people failed, ``false_negative_rate`` the share that it failed of what they passed.
    ``kappa`` is Cohen's, None when one of the two is constant and chance explains all.
    ``mean_score_difference`` is the judge's score less the person's, on average.
    """
    total = len(pairs)
    agreed = sum(person == judge for person, judge in pairs)
    human_passes = sum(person for person, _ in pairs)
    judge_passes = sum(judge for _, judge in pairs)
    false_positives = sum(judge and not person for person, judge in pairs)
    false_negatives = sum(person and not judge for person, judge in pairs)
    kappa = None
    if total:
        # The agreement expected by chance, given how often each of the two passes.
        chance = (human_passes * judge_passes + (total - human_passes) * (total - judge_passes)) / total**2
        kappa = None if chance == 1 else (agreed / total - chance) / (1 - chance)
    return {
        "labels": total,
        "agreed": agreed,
        "false_positives": false_positives,
        "false_negatives": false_negatives,
        "agreement": _share(agreed, total),
        "false_positive_rate": _share(false_positives, total - human_passes),
        "false_negative_rate": _share(false_negatives, human_passes),
        "kappa": kappa,
        "mean_score_difference": mean(differences) if differences else None,
    }


def calibrations(document: Block) -> dict[str, dict[str, Any]]:
    """Return, by the name of each `human_calibration` grader that has labels, its judge and the agreement."""
    labels: dict[tuple[str, str], list[tuple[Validation, Validation]]] = {}
    trials = (trial for task in blocks_of(document.get("tasks")) for trial in blocks_of(task.get("runs")))
    for verdicts in map(verdicts_of, trials):
        for name, label in verdicts.items():
            judge = label.details.get("calibrate_grader")
            if not isinstance(judge, str) or label.details.get("status") != "reviewed":
                continue
            if not (verdict := verdicts.get(judge)):
                continue
            pairs = labels.setdefault((name, judge), [])
            # A judge that could not judge has said nothing that a person could contradict.
            if verdict.status == "graded":
                pairs.append((label, verdict))
    return {name: {"calibrate_grader": judge, **_agreement(pairs)} for (name, judge), pairs in labels.items()}


def with_calibration(document: Block) -> Block:
    """Return a document with the agreement of its judges; the same document without labels."""
    found = calibrations(document)
    return {**document, "calibration": found} if found else document


def describe_agreement(numbers: Block) -> str:
    """Return one line on how far a judge agrees with people; ``numbers`` are those of a document."""
    judge, labels = numbers.get("calibrate_grader"), numbers.get("labels")
    if not labels:
        return f"`{judge}` has not judged what people labelled"
    rates = [
        f"{label} {numbers[key]:.0%}"
        for label, key in (
            ("wrongly passed", "false_positive_rate"),
            ("wrongly failed", "false_negative_rate"),
        )
        if numbers.get(key) is not None
    ]
    kappa = [] if numbers.get("kappa") is None else [f"kappa {numbers['kappa']:.2f}"]
    agreed = f"agrees with people on {numbers.get('agreed')} of {labels} ({numbers.get('agreement', 0):.0%})"
    return f"`{judge}` " + ", ".join([agreed, *rates, *kappa])


def _agreement(pairs: Sequence[tuple[Validation, Validation]]) -> Json:
    passes = [(label.passed, verdict.passed) for label, verdict in pairs]
    return agreement(passes, [verdict.score - label.score for label, verdict in pairs])


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
