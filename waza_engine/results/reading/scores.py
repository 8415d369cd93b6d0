"""The scores of a suite as the editor shows them: per task and grader, over all trials. Light, no models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

MOST_SCORES = 50_000
"""Tasks, verdicts and checks behind which no task of a file, and no older file of a suite, is read."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check inside a grader, over all trials. ``path`` leads from the grader's ``config`` to the rule."""

    path: tuple[str | int, ...]
    passed: bool
    passed_trials: int
    trials: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class GraderResult:
    """One grader of one task, over all trials. ``status`` is ``graded``, ``pending`` or ``error``.

    ``score`` is the mean of ``scores`` (one a trial); ``passed`` means that all trials passed. ``feedback``
    is that of the first trial that did not pass, or of the last one.
    """

    name: str
    type: str
    status: str
    score: float
    passed: bool
    scores: tuple[float, ...]
    passes: tuple[bool, ...]
    feedback: str
    checks: tuple[CheckResult, ...]
    timestamp: datetime

    @property
    def trials(self) -> int:
        """How many trials were graded."""
        return len(self.scores)

    @property
    def passed_trials(self) -> int:
        """How many of them passed."""
        return sum(self.passes)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One task of the newest run that had it.

    ``status`` is ``passed``, ``failed``, ``error`` or ``skipped``.
    """

    id: str
    name: str
    status: str
    score: float
    trials: int
    passed_trials: int
    graders: Mapping[str, GraderResult]
    timestamp: datetime
    error: str = ""

    @property
    def size(self) -> int:
        """How many values are kept of it: itself, its verdicts and their checks."""
        return 1 + sum(1 + len(grader.checks) for grader in self.graders.values())


@dataclass(frozen=True, slots=True)
class RunResult:
    """The last known results of a suite. The header is the newest run's.

    ``complete`` is false while a run goes on.

    ``status`` is ``completed``, ``failed``, ``canceled``, ``error``, or ``""`` when the file does not say.
    ``tools`` are those that the newest run called, in the order of their first call.
    """

    path: Path
    timestamp: datetime
    eval_name: str
    skill: str
    eval_file: str
    executor: str
    model: str
    status: str
    complete: bool
    tasks: Mapping[str, TaskResult]
    tools: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many tasks, verdicts and checks it holds."""
        return sum(task.size for task in self.tasks.values())
