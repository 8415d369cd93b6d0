"""The record of a run: its tasks, their trials, the verdicts of graders, typed.

Journals, result files, reviews, comparisons, reports and the editor's hints are made from it or read into it;
``codec/`` writes and reads it. Light, no models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from waza_engine.frozen import frozen
from waza_engine.number_formats import reaches
from waza_engine.results.json_values import whole
from waza_engine.scoring.task_scores import Graded, TrialScore, TrialStatus, composite
from waza_engine.scoring.trigger_scores import TriggerAnswer
from waza_engine.spec.executors import asked_model
from waza_engine.vocabulary import DECIDES_TRIALS, MEASURES_JUDGES, checkpoint_grader

if TYPE_CHECKING:
    from datetime import datetime

    from waza_engine.scoring.cost import Cost, Spending
    from waza_engine.scoring.impact import Recommendation, SkillImpact
    from waza_engine.scoring.task_scores import SuiteSummary, TaskStatistics, TaskStatus
    from waza_engine.scoring.trigger_scores import TriggerMetrics
    from waza_engine.vocabulary import (
        Check,
        CommandInvocation,
        Commit,
        SkillInvocation,
        ToolCall,
        ToolDenial,
        Usage,
    )

MOST_FILES_NAMED = 100
"""Files of a workspace that a record names for one trial."""

VerdictStatus = Literal["graded", "pending", "error"]
"""The status of a verdict: the grader judged, waits for a person, or could not grade."""

Answerer = Literal["agent", "judge", "responder"]
"""The author of an answer."""

RunStatus = Literal["completed", "failed", "canceled", "error"]
"""The status of a run: all tasks passed, some did not, it was stopped, or it could not run (to its end)."""


@frozen()
class Validation:
    """One grader's verdict on one trial. ``duration_ms`` is its own wall clock in milliseconds.

    One that is not ``required`` is advisory: it counts in the score and fails no trial.
    """

    name: str
    type: str
    score: float
    passed: bool
    feedback: str
    weight: float = 1.0
    status: VerdictStatus = "graded"
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    checks: Sequence[Check] = ()
    duration_ms: int = 0
    required: bool = True

    @property
    def graded(self) -> Graded:
        """Return its values for scoring; a label that measures a judge counts in no score."""
        status = "pending" if self.type == MEASURES_JUDGES else self.status
        return Graded(
            self.score, self.passed, self.weight, status, self.required, self.type == DECIDES_TRIALS
        )

    @property
    def shown_status(self) -> VerdictStatus | Literal["advisory"]:
        """The status that people see: ``advisory`` of a grader that did not pass and need not."""
        advises = not self.required and not self.passed and self.status != "pending"
        return "advisory" if advises else self.status


@frozen()
class CheckpointOutcome:
    """The verdicts of a checkpoint's graders after its turn."""

    after_turn: int
    status: TrialStatus
    validations: Mapping[str, Validation]
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class ResponderOutcome:
    """The result of a conversation with a model that plays the user: its number of answers, its end."""

    followups_sent: int
    outcome: Literal["cap_exhausted", "stopped", "abstained", "error"]
    reason: str = ""


@frozen()
class FilesChanged:
    """Files of the workspace that the agent created, changed or deleted, by their paths with ``/``.

    ``changed`` ones have another size or time. ``more`` counts those that are not named.
    """

    created: Sequence[str] = ()
    changed: Sequence[str] = ()
    deleted: Sequence[str] = ()
    more: int = 0

    @classmethod
    def of(cls, created: Sequence[str], changed: Sequence[str], deleted: Sequence[str]) -> FilesChanged:
        """Name as many as a record holds: of each kind the first, those that were created last of all."""
        left = MOST_FILES_NAMED
        named: dict[str, Sequence[str]] = {}
        for kind, paths in (("changed", changed), ("deleted", deleted), ("created", created)):
            named[kind] = tuple(paths[:left])
            left -= len(named[kind])
        named_all = MOST_FILES_NAMED - left
        more = len(created) + len(changed) + len(deleted) - named_all
        return cls(named["created"], named["changed"], named["deleted"], more)

    def __bool__(self) -> bool:
        """Return whether any change is known."""
        return bool(self.created or self.changed or self.deleted)


@frozen()
class UnjudgedAnswer:
    """An answer that was paid for and has no verdict. Its tool calls are lines of ``text``.

    ``prompt`` is the trigger prompt that it answers, "" in a trial. ``text`` is empty when a prompt was sent
    and nothing of its answer had arrived.
    """

    by: Answerer
    text: str
    prompt: str = ""


@frozen()
class ArrivedAnswer:
    """An answer that has arrived during its trial, or its trigger ``prompt``: it is paid for.

    ``calls`` are its tool calls, in words.
    """

    by: Answerer
    text: str = ""
    calls: tuple[str, ...] = ()
    usage: Usage | None = None
    cost: Cost | None = None
    task: str = ""
    trial: int = 0
    prompt: str = ""
    baseline: bool = False

    @property
    def unjudged(self) -> UnjudgedAnswer:
        """Return its record if no verdict uses it."""
        return UnjudgedAnswer(self.by, "\n".join(filter(None, (self.text, *self.calls))), self.prompt)


@frozen()
class TrialOutcome:
    """One trial.

    ``validations`` is None when nothing could be graded, ``tool_calls`` when no session is known. ``error``
    is the error of the execution. ``usage`` is that of the agent alone, in the attempt that counts;
    ``judge_usage`` that of the graders' judges, ``other_usage`` that of earlier attempts and of a responder.
    ``cost`` is that of all three, None when nothing was spent. A trial is ``stopped`` when the run reached
    its limit, or was cancelled, before it was done: it has no verdict and counts for nothing. ``tool_policy``
    is what the tested agent file allows (``unrestricted``, ``deny_all``, ``allow_list``, "" without one),
    ``tool_denials`` the calls that upstream denied for it. ``files_changed`` are the changes to the workspace
    before anything was graded. A ``lost`` trial was cut off while the agent was asked, and its run went on
    later without it: it may have been paid for. ``captured_at`` is when a trial that failed or broke had
    ended, in ISO 8601; "" for all others. ``unjudged`` are answers that were paid for and have no verdict,
    those of judges included.
    """

    number: int
    status: TrialStatus
    validations: Mapping[str, Validation] | None
    attempts: int = 1
    duration_ms: int = 0
    output: str = ""
    events: Sequence[Mapping[str, Any]] = ()
    tool_calls: Sequence[ToolCall] | None = ()
    skill_invocations: Sequence[SkillInvocation] = ()
    usage: Usage | None = None
    session: str = ""
    error: str = ""
    workspace: str = ""
    checkpoints: Sequence[CheckpointOutcome] = ()
    responder: ResponderOutcome | None = None
    judge_usage: Usage | None = None
    other_usage: Usage | None = None
    cost: Cost | None = None
    stopped: bool = False
    command_invocations: Sequence[CommandInvocation] = ()
    tool_policy: str = ""
    tool_denials: Sequence[ToolDenial] = ()
    captured_at: str = ""
    files_changed: FilesChanged = field(default_factory=FilesChanged)
    unjudged: Sequence[UnjudgedAnswer] = ()
    lost: bool = False

    @property
    def graded(self) -> list[Graded]:
        """The verdicts as scoring reads them."""
        return [validation.graded for validation in (self.validations or {}).values()]

    @property
    def broke(self) -> bool:
        """Return whether the agent broke, and not a grader."""
        return self.status == "error" and bool(self.error)

    @property
    def was_stopped_as_wrong(self) -> bool:
        """Return whether a checkpoint failed the answer and ended it: upstream calls that an error."""
        return self.status == "error" and any(
            checkpoint.stopped and checkpoint.status == "failed" for checkpoint in self.checkpoints
        )

    @property
    def score(self) -> TrialScore:
        """Return the trial's score for its task: none if it broke, regardless of its verdicts."""
        means = composite([] if self.broke else self.graded)
        return TrialScore(self.status, means.score, means.weighted_score, self.duration_ms)


@frozen()
class TaskOutcome:
    """One task with its trials; ``error`` says why it could not run, or not to its end.

    ``cached`` trials were taken from an earlier run. ``impact`` compares with the baseline, if there is one.
    ``pass_rate`` is the share of its trials that it needs to pass. A ``doubted`` task passed according to its
    file, or a trial of it did, but the verdicts contradict that. ``written_score`` is the weighted score in
    its file, for a task without verdicts.
    """

    id: str
    name: str
    status: TaskStatus
    trials: Sequence[TrialOutcome] = ()
    statistics: TaskStatistics | None = None
    golden: bool = False
    file: str = ""
    error: str = ""
    group: str = ""
    cached: bool = False
    impact: SkillImpact | None = None
    doubted: bool = False
    pass_rate: float = 1.0
    written_score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerOutcome(TriggerAnswer):
    """The result of one trigger prompt, with its text and the agent's output.

    ``skills`` are the invoked skills, in order, by the names that the agent used. The prompt was sent
    ``asked`` times and triggered the skill ``triggered`` times: ``did_trigger`` is true from half of these
    on. ``output`` is the first answer.
    """

    prompt: str
    output: str = ""
    skills: tuple[str, ...] = ()
    asked: int = 1
    triggered: int = 0


@dataclass(frozen=True, slots=True)
class MetricOutcome:
    """A metric of the whole suite and whether it reaches its threshold."""

    name: str
    value: float
    threshold: float
    passed: bool
    weight: float = 1.0

    @property
    def reached(self) -> bool:
        """Return whether the value is not below the threshold; one of 0 or less is always reached."""
        return self.threshold <= 0 or reaches(self.value, self.threshold)


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The facts of a run before its first task. ``started`` has a time zone; times are seconds.

    ``graders`` are the requested ones, empty for all of them. ``settings`` are the other values that decide
    the numbers, by name; it holds no credentials. ``inputs`` names the record of the files that decided the
    run (``inputs.py``), "" when there is none. ``commit`` is that of the suite's repository, None without
    one. ``regraded`` is true when the verdicts are newer than the run.
    """

    run_id: str
    started: datetime
    eval_file: str
    eval_name: str
    skill: str
    executor: str
    model: str
    judge_model: str
    trials_per_task: int
    timeout_seconds: int
    tasks: Sequence[str] = ()
    graders: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: str = ""
    commit: Commit | None = None
    regraded: bool = False

    @property
    def graders_of(self) -> int:
        """Return how many graders its tasks have, 0 if unknown."""
        return whole(self.settings.get("graders_of"))

    @property
    def leaves_graders_out(self) -> bool:
        """Return whether some graders of its tasks were not run: then they have no verdict of their own."""
        asks_all = len(set(self.graders)) == self.graders_of
        return bool(self.settings.get("skip_graders")) or (bool(self.graders) and not asks_all)

    @property
    def asked_model(self) -> str:
        """The model that was asked, "" when the executor asks none."""
        return asked_model(self.executor, self.model)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A finished run, with any status. ``message`` explains an error.

    ``limit`` says which limit of cost or tokens ended it, "" when none did. ``baseline`` is the same run
    without skills. ``unjudged`` are answers to trigger prompts that were sent, and not tried to their end.
    ``suite_conclusion`` is the verdict of a suite of which this run is a part, with its description, in a
    report of the suite.
    """

    header: RunHeader
    status: RunStatus
    tasks: Sequence[TaskOutcome]
    summary: SuiteSummary
    usage: Usage | None = None
    metrics: Sequence[MetricOutcome] = ()
    triggers: Sequence[TriggerOutcome] = ()
    trigger_metrics: TriggerMetrics | None = None
    message: str = ""
    spending: Spending | None = None
    limit: str = ""
    baseline: RunOutcome | None = None
    recommendation: Recommendation | None = None
    unjudged: Sequence[UnjudgedAnswer] = ()
    suite_conclusion: tuple[str, str] = ("", "")


def verdicts_of(trial: TrialOutcome) -> Iterator[tuple[str, Validation]]:
    """Yield the verdicts on a trial by grader name, those of checkpoints with their turn."""
    yield from (trial.validations or {}).items()
    yield from checkpoint_verdicts(trial).items()


def checkpoint_verdicts(trial: TrialOutcome) -> dict[str, Validation]:
    """Return the verdicts of a trial's checkpoints, by grader name with the turn."""
    return {
        checkpoint_grader(name, checkpoint.after_turn): verdict
        for checkpoint in trial.checkpoints
        for name, verdict in checkpoint.validations.items()
    }
