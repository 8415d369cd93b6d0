"""A recorded run for graders: the output, calls and usage of each trial's agent.

Reads this engine's documents and journals, upstream's ``results.json``, captures and trials of
agent-eval-harness, and files of the Python era (which hold no tool calls beyond their transcript). Everything
may be missing or null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from waza_engine.files import FileError, is_named, read_beginning
from waza_engine.results.attachments import with_attachments
from waza_engine.results.codec.run_documents import header_of
from waza_engine.results.codec.summary_blocks import task_of
from waza_engine.results.codec.trials import trial_of
from waza_engine.results.json_values import Block, blocks_of, text_of
from waza_engine.results.reading.formats import (
    read_document,
    todays_layout,
    unknown_version,
    why_unreadable,
)
from waza_engine.results.reading.journals import goes_on, unended_document
from waza_engine.results.reading.scores import TaskResult, task_result
from waza_engine.results.record import RunHeader, TrialOutcome
from waza_engine.results.result_file_names import (
    JOURNAL_SUFFIX,
    LONGEST_BYTES,
    record_boundary,
)
from waza_engine.results.reviews import with_reviews


class RecordingError(Exception):
    """The file is not a record of a run; the message is for the user."""


@dataclass(frozen=True)
class RecordedTrial:
    """One trial as recorded, the one at a ``position`` from 1.

    ``document`` is the element of ``runs`` itself, which may say more; its long strings are next to
    ``results``.
    """

    document: Block
    position: int
    results: Path

    @cached_property
    def outcome(self) -> TrialOutcome:
        """Return the agent's output and calls, long strings included."""
        return trial_of(with_attachments(self.document, self.results), self.position)

    @property
    def gradable(self) -> bool:
        """Return whether there is an answer to grade: a trial that broke before it was graded has none.

        Neither has one that did not end: its answer may be incomplete.
        """
        found = self.outcome
        if found.stopped:
            return False
        return bool(found.validations) or not (found.error or found.status == "error")


@dataclass(frozen=True)
class RecordedTask:
    """One task of a run that ``started`` then; ``document`` is the element of ``tasks`` itself."""

    document: Block
    id: str
    trials: Sequence[RecordedTrial]
    started: datetime

    @cached_property
    def scores(self) -> TaskResult:
        """Return its graders' results in the run, over all trials."""
        return task_result(task_of(self.document, resampled=False), self.started)


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run; ``document`` is its content, in the current layout and with its reviews.

    ``goes_on`` says that it has not ended: the record holds what is finished so far.
    """

    path: Path
    document: Block
    header: RunHeader
    tasks: Sequence[RecordedTask]
    goes_on: bool = False

    @property
    def eval_file(self) -> str:
        """Return the name of its eval file, "" if unknown."""
        # The name alone: a record must not lead to a file elsewhere.
        return Path(self.header.eval_file).name


def read_recording(path: Path) -> Recording:
    """Return the run of a result file or journal. Raises ``RecordingError``."""
    if not is_named(path):
        raise RecordingError(f"There is no result file {path}.")
    try:
        read_beginning(path, 1, within=record_boundary(path))
    except FileError as error:
        raise RecordingError(f"The result file {path} cannot be read: {error.why}.") from None
    found = read_document(path)
    if found is None or not isinstance(found.get("tasks"), list):
        raise RecordingError(why_unreadable(path))
    if version := unknown_version(found):
        raise RecordingError(f"{path} has the format version {version}; only version 1 can be read.")
    under_way = False
    if path.name.endswith(JOURNAL_SUFFIX):
        under_way = goes_on(found)
        why = "the run goes on" if under_way else "the run was interrupted; what was finished is kept"
        found = unended_document(found, why)
    document = with_reviews(todays_layout(found), path)
    header = header_of(document)
    tasks = [_recorded_task(task, header.started, path) for task in blocks_of(document.get("tasks"))]
    # A shard may have no task: there are more of them than tasks.
    if not (tasks or blocks_of(document.get("trigger_results")) or "shard" in header.settings):
        raise RecordingError(f"{path} holds no task.")
    return Recording(path, document, header, tasks, under_way)


def _recorded_task(task: Block, started: datetime, results: Path) -> RecordedTask:
    runs = blocks_of(task.get("runs"))
    return RecordedTask(
        document=task,
        id=text_of(task.get("test_id")),
        trials=[RecordedTrial(run, position, results) for position, run in enumerate(runs, 1)],
        started=started,
    )


def why_no_scores(path: Path) -> str | None:
    """Return why an editor has no scores from a result file, without its folders; None if it is missing."""
    try:
        size = path.stat().st_size
    except OSError:
        return None
    if size > LONGEST_BYTES:
        return (
            f"{path.name} has {-(-size // 2**20)} MB; results of up to {LONGEST_BYTES // 2**20} MB are read."
        )
    try:
        read_recording(path)
    except RecordingError as error:
        return (
            str(error)
            .replace(f"The result file {path} cannot be read", path.name)
            .replace(str(path), path.name)
        )
    return f"{path.name} holds more values than a run leaves."
