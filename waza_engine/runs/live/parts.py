"""Parts of suite and record for a live session: graders without plug-ins, keys, verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.registry import BUILT_IN_TYPES, AnyGrader, create
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.runs.grading.graders import BuiltGrader
from waza_engine.runs.grading.recorded_verdicts import ORIGIN, RECORDED, has_verdict
from waza_engine.runs.grading.workers import WorkerSet
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.reading.kept_contents import KeptContents
from waza_engine.spec.reading.suite_files import Version
from waza_engine.vocabulary import told_apart

_ELSEWHERE = "graders of other packages are not loaded by an edit"


@dataclass(frozen=True, slots=True)
class LiveTrial:
    """A recorded trial for a grader: ``task`` is its key, ``built`` None for ``expected``."""

    task: str
    grader: str
    written: TrialTask
    built: BuiltGrader | None
    recorded: RecordedTrial
    context: GradingContext


@dataclass(frozen=True, slots=True)
class GraderTrials:
    """The trials of one grader, with warm workers; ``superseded`` returns whether a newer edit waits."""

    trials: Sequence[LiveTrial]
    workers: WorkerSet
    superseded: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class AnsweredTrial:
    """A recorded trial that has an answer, for any grader: ``task`` is the key of its task."""

    task: str
    written: TrialTask
    recorded: RecordedTrial
    context: GradingContext


@dataclass(frozen=True, slots=True)
class AnsweredTrials:
    """Trials of a record, with warm workers; ``superseded`` returns whether a newer edit waits."""

    trials: Sequence[AnsweredTrial]
    workers: WorkerSet
    superseded: Callable[[], bool]


class TaskKeys:
    """The names of the tasks of a record: their ids, with a number for those that occur again."""

    def __init__(self, recording: Recording) -> None:
        names = told_apart(task.id for task in recording.tasks)
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


def verdict_of_then(built: BuiltGrader, trial: RecordedTrial) -> Validation | None:
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
    built: BuiltGrader | None, trial: RecordedTrial, context: GradingContext, contents: KeptContents
) -> Mapping[Path, Version | None] | None:
    """Return the files that the agent left and that a verdict is made of, as they are; None when not sure."""
    if built is None or built.grader is None or not built.grader.needs_workspace:
        return {}
    if context.workspace is None:
        return {}
    try:
        looked_at = built.grader.looks_at(context.workspace)
    except GraderError:
        looked_at = ()
    if looked_at is None:
        return None
    found = {place: contents.version(place) for place in looked_at}
    if not found or None in found.values():
        # Existing files cover their folder as well.
        found[context.workspace] = contents.version(context.workspace)
    return found if all(map(contents.is_settled, found.values())) else None
