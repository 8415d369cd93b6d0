"""Requests, questions and results of a live session."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from waza_engine.graders.base import GradingContext
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial
from waza_engine.results.record import Validation
from waza_engine.runs.grading.graders import BuiltGrader
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.reading.suite_files import Version
from waza_engine.spec.reading.watched_files import WatchedFiles

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
