"""A result document with its reviews: verdicts of people, the resulting numbers, and pending verdicts.

Light, no models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from waza_engine.results.codec.figures import counted_run, counted_task
from waza_engine.results.codec.recounting import counted_document
from waza_engine.results.codec.verdicts import verdict_blocks, verdict_of
from waza_engine.results.json_values import Block, block_of, blocks_of, text_of, whole
from waza_engine.results.reviews.calibration import with_calibration
from waza_engine.results.reviews.review import review_changes
from waza_engine.results.reviews.review_file import ReviewKey, Reviews, reviews
from waza_engine.vocabulary import checkpoint_grader


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

    def _over_part(self, part: Block, told: Callable[[str], str], task: str, number: int) -> Block:
        said = {
            name: _reviewed(verdict, self.reviews[key])
            for name, verdict in verdict_blocks(part).items()
            if (key := ReviewKey(self.run, task, number, told(name))) in self.reviews
            and _is_for_people(verdict)
        }
        return _counted({**part, "validations": {**part["validations"], **said}}) if said else part


def reviews_of(document: Block, results: Path) -> RunReviews | None:
    """Return the reviews of a document's run, None when there are none."""
    run = run_id(document, results)
    mine = {key: review for key, review in reviews(results).items() if key.run == run}
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
            for part, told in _parts(trial):
                for name, verdict in verdict_blocks(part).items():
                    if _is_for_people(verdict):
                        yield ReviewItem(
                            key=ReviewKey(run, text_of(task.get("test_id")), number, told(name)),
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
    for checkpoint in blocks_of(trial.get("checkpoints")):
        yield checkpoint, partial(checkpoint_grader, turn=whole(checkpoint.get("after_turn")))


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
