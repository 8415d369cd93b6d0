"""Requests, questions and results of a live session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.registry import BUILT_IN_TYPES, AnyGrader, create
from waza_engine.lab.insight import insight_of
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.runs.grading.grader_workers import WorkerSet
from waza_engine.runs.grading.graders import BuiltGrader
from waza_engine.runs.grading.recorded_verdicts import ORIGIN, RECORDED, has_verdict
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.reading.file_cache import WatchedFiles
from waza_engine.spec.reading.suite_reader import DISK, Version
from waza_engine.vocabulary import unique_names

PATIENCE_SECONDS = 0.3
"""How long a newer edit waits for an assertion of an older one before its worker is ended."""


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """The trials to judge in a session: all of a record, or one of each task (from 1).

    Without ``assertions``, graders that evaluate assertions keep their recorded verdicts.
    """

    record: Path
    suite: Path
    assertions: bool = True
    trial: int | None = None


@dataclass(frozen=True, slots=True)
class LiveTask:
    """A grader's verdicts on the trials of one recorded task, in order; none if it is not judged.

    ``read`` are the files that decided them and that no agent has seen, with the SHA-256 of each, "" for a
    missing one.
    """

    recorded: RecordedTask
    trials: Sequence[tuple[RecordedTrial, Validation]]
    read: Mapping[Path, str]


@dataclass(frozen=True, slots=True)
class LiveVerdicts:
    """A grader's verdicts after an update, by task key, for every task that was judged again.

    Updates count from 1 in a session. The key is the id of the task; if several share an id, the later ones
    get a number.
    """

    update: int
    grader: str
    tasks: Mapping[str, LiveTask]


@dataclass(frozen=True, slots=True)
class LiveUpdate:
    """The result of an update. ``message`` is the read error; ``judged`` counts new verdicts.

    ``silent`` are the tasks without verdicts for now, with the reason; ``files`` those that decided the
    verdicts besides eval file and tasks, whether they exist or not.
    """

    status: Literal["judged", "superseded", "unreadable"]
    judged: int = 0
    message: str = ""
    silent: Mapping[str, str] | None = None
    files: Sequence[Path] = ()


@dataclass(eq=False)
class Work:
    """An active update."""

    number: int
    newer: threading.Event
    ended: RunCancellation

    def supersede(self) -> None:
        """Stop it after the verdict that it is at, or in the midst of it when that takes long."""
        self.newer.set()
        patience = threading.Timer(PATIENCE_SECONDS, self.ended.request)
        patience.daemon = True
        patience.start()


@dataclass(frozen=True, slots=True)
class Made:
    """A verdict and all that decided it: as long as this is the same, it holds.

    ``workspace`` are the files that the agent left, None when a later change of them may not be seen.
    """

    by: object
    key: object
    files: WatchedFiles
    workspace: Mapping[Path, Version | None] | None
    verdict: Validation | None


@dataclass(frozen=True, slots=True)
class Question:
    """One grader of one task, and what decides its verdicts besides the recorded trial.

    ``built`` is None for a list of ``expected``.
    """

    name: str
    position: int
    recorded: RecordedTask
    task: TrialTask
    base: GradingContext
    key: object
    built: BuiltGrader | None

    @property
    def by(self) -> object:
        """Return the judging object: the same or an equal one as long as the source is the same."""
        if self.built is None:
            return self.task.spec.expected
        return self.built.grader if self.built.grader is not None else (self.built.error, self.built.entry)


_ELSEWHERE = "graders of other packages are not loaded by an edit"


@dataclass(frozen=True, slots=True)
class AnsweredTrial:
    """A recorded trial that has an answer: ``task`` is the key of its task."""

    task: str
    written: TrialTask
    recorded: RecordedTrial
    context: GradingContext


@dataclass(frozen=True, slots=True)
class LiveTrial(AnsweredTrial):
    """A recorded trial for one grader; ``built`` is None for the checks of ``expected`` in its task."""

    grader: str
    built: BuiltGrader | None


TrialT = TypeVar("TrialT", bound=AnsweredTrial)


@dataclass(frozen=True, slots=True)
class LentTrials(Generic[TrialT]):
    """Trials of a record, with warm workers; ``superseded`` returns whether a newer edit waits."""

    trials: Sequence[TrialT]
    workers: WorkerSet
    superseded: Callable[[], bool]


class TaskKeys:
    """The names of the tasks of a record: their ids, with a number for those that occur again."""

    def __init__(self, recording: Recording) -> None:
        names = unique_names(task.id for task in recording.tasks)
        self._names = dict(zip(map(id, recording.tasks), names, strict=True))

    def of(self, task: RecordedTask) -> str:
        """Return the name of a task."""
        return self._names[id(task)]


def built_in(entry: GraderEntry) -> AnyGrader:
    """Return the grader of an entry as ``create`` does, but load no plug-in. Raises ``GraderError``."""
    if entry.type and entry.type not in BUILT_IN_TYPES:
        raise GraderError(_ELSEWHERE)
    return create(entry)


def key_of_context(base: GradingContext) -> tuple[Any, ...]:
    """Return a key of a task's data for graders."""
    return (
        base.prompt,
        base.turns,
        base.hint,
        base.reference,
        base.metadata,
        base.task_id,
        base.task_name,
        base.task_description,
        base.fixtures_directory,
        base.suite_directory,
    )


def recorded_verdict_of(built: BuiltGrader, trial: RecordedTrial) -> Validation | None:
    """Return the verdict in the run of a grader of this name and type, None without one."""
    found = (trial.outcome.validations or {}).get(built.name)
    if found is None:
        return None
    if not {found.type, built.entry.type} <= set(BUILT_IN_TYPES):
        # Looking up other types would load their plug-ins.
        if found.type != built.entry.type:
            return None
    elif not has_verdict(built, trial):
        return None
    return replace(
        found,
        type=built.entry.type,
        score=min(1.0, max(0.0, found.score)),
        weight=built.entry.weight,
        required=built.required,
        details={**found.details, ORIGIN: RECORDED},
    )


def files_left(
    built: BuiltGrader | None, trial: RecordedTrial, context: GradingContext
) -> Mapping[Path, Version | None] | None:
    """Return the files that the agent left and that a verdict is made of, as they are; None when not sure."""
    if built is None or built.grader is None or not built.grader.needs_workspace:
        return {}
    if context.workspace is None:
        return {}
    try:
        looked_at = insight_of(built.grader).looks_at(context.workspace)
    except GraderError:
        looked_at = ()
    if looked_at is None:
        return None
    now = time.time_ns()
    found = {place: DISK.version(place) for place in looked_at}
    if not found or None in found.values():
        # Existing files cover their folder as well.
        found[context.workspace] = DISK.version(context.workspace)
    return found if all(each is None or each.is_settled(now) for each in found.values()) else None
