"""The scores of a suite as the editor shows them: per task and grader, over all trials. Light, no models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.results.json_values import moment
from waza_engine.results.record import MetricOutcome, TaskOutcome, Validation, checkpoint_verdicts
from waza_engine.results.reviews import recorded_review
from waza_engine.results.task_conclusion import TaskVerdict, conclude_grader, task_verdict
from waza_engine.scoring.task_scores import TaskStatus
from waza_engine.vocabulary import MEASURES_JUDGES, Check

MOST_SCORES = 50_000
"""Tasks, verdicts and checks of a suite. Beyond them no older file is read, nor more of a small file."""
MOST_SCORES_OF_FILE = 400_000
"""Tasks, verdicts and checks of a large file, which has at least a hundred bytes for each."""


@frozen()
class CheckResult:
    """One check inside a grader, over all trials. ``path`` leads from the grader's ``config`` to the rule."""

    path: tuple[str | int, ...]
    passed: bool
    passed_trials: int
    trials: int
    message: str = ""


@frozen()
class RunOrigin:
    """The run of a verdict: where it is recorded, who answered, and the name of its recorded inputs."""

    results: Path
    executor: str
    model: str
    inputs: str


@frozen()
class GraderResult:
    """One grader of one task, over all trials.

    ``status`` is ``graded``, ``pending``, ``error``, or ``advisory`` if it did not pass and is not required.

    ``score`` is the mean of ``scores`` (one a trial in which it does not wait for a person); ``passed`` means
    that all trials passed. ``feedback`` is that of the first trial that did not pass, or of the last one.
    ``reviewed`` is when a person last gave one of the verdicts, None when no person did.
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
    origin: RunOrigin | None = None
    reviewed: datetime | None = None
    weight: float = 1.0

    @property
    def counts(self) -> bool:
        """Return whether its score counts: it is not pending, and it measures no judge."""
        return self.status != "pending" and self.type != MEASURES_JUDGES

    @property
    def trials(self) -> int:
        """Return how many trials were graded."""
        return len(self.scores)

    @property
    def passed_trials(self) -> int:
        """Return how many of them passed."""
        return sum(self.passes)


@frozen()
class LaterRun:
    """A later run without a result for what an older one judged: not reached, or unreadable.

    ``unread`` is its record if it is truncated, too large, or of an unknown version.
    """

    started: datetime
    unread: Path | None = None


@frozen()
class TaskResult:
    """The newest result of one task.

    ``status`` is ``passed``, ``failed``, ``error`` or ``skipped``; ``""`` while no run has judged it with all
    of its graders. Verdicts of single graders may be newer (``with_newer_graders``). ``checkpoints`` are
    those in the middle of the conversation, by the names of ``vocabulary.checkpoint_grader``. ``later`` is
    the newest run that planned the task and has no result for it, None when there is none.
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
    origin: RunOrigin | None = None
    checkpoints: Mapping[str, GraderResult] = field(default_factory=dict[str, GraderResult])
    later: LaterRun | None = None

    def later_than(self, moment: datetime) -> LaterRun | None:
        """Return the run after a moment that has no result for the task, None if there is none."""
        return self.later if self.later is not None and moment < self.later.started else None

    @property
    def passed(self) -> bool:
        """Return whether the task passed."""
        return self.status == "passed"

    @property
    def plain_score(self) -> float:
        """Return the mean of its graders' scores, without their weights."""
        scores = [grader.score for grader in self.graders.values() if grader.counts]
        return sum(scores) / len(scores) if scores else 0.0

    @property
    def is_unrun(self) -> bool:
        """Return whether a run did not reach it, or finished none of its trials."""
        return self.status == "skipped" and not self.was_run

    @property
    def is_cut_short(self) -> bool:
        """Return whether it has passed only so far: not all of its trials ran."""
        return self.status == "passed" and self.error != ""

    @property
    def was_run(self) -> bool:
        """Return whether it is complete: it was judged, has no grader, or waits for a person."""
        if self.status == "skipped":
            waits = any(grader.status == "pending" for grader in self.graders.values())
            return self.trials > 0 and (waits or self.passed_trials == self.trials)
        return self.status != ""

    @property
    def rejudged(self) -> bool:
        """Return whether one of its graders was run again alone since."""
        verdicts = (*self.graders.values(), *self.checkpoints.values())
        return any(grader.timestamp > self.timestamp for grader in verdicts)

    @property
    def size(self) -> int:
        """Return how many values it holds: itself, its verdicts and their checks."""
        verdicts = (*self.graders.values(), *self.checkpoints.values())
        return 1 + sum(1 + len(grader.checks) for grader in verdicts)


@frozen()
class PromptResult:
    """A trigger prompt: its expected and actual result; ``error`` when it could not be tried.

    ``later`` is as for a task, ``skills`` are those that it invoked, in order.
    """

    prompt: str
    should_trigger: bool
    did_trigger: bool
    error: str
    timestamp: datetime
    origin: RunOrigin | None = None
    later: LaterRun | None = None
    skills: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Return whether the skill was used, or not used, as it should be."""
        return not self.error and self.should_trigger == self.did_trigger


@frozen()
class RunResult:
    """The last known results of a suite. The header is the newest run's.

    ``complete`` is false while a run is active. ``partial`` is true if only the graders in
    ``graders`` were run.

    ``status`` is ``completed``, ``failed``, ``canceled``, ``error``, or ``""`` when the file does not say.
    ``verdict`` is the engine's conclusion (``results/conclusion.py``), with its ``reasons`` for not passing;
    ``""`` in files of other tools. There are no reasons where reviews have changed the verdict. ``lasting``
    are those that no run of a part refutes, such as a score below the requested one. ``tools`` are those that
    the newest run called, in the order of their first call. ``metrics`` are those of this run, ``prompts``
    the newest result of each, of runs since the newest that tried all; with ``chosen_prompts`` this run tried
    only some. With ``score_decides`` failed tasks alone do not fail it. ``whole`` is the newest run of the
    whole suite, ``later`` a newer run of anything in the suite whose record cannot be read. ``cut`` is, if
    there is no ``whole``, the newest run of the whole suite that was ended before its end; ``planned`` is
    then how many tasks it was to run, 0 when ``tasks`` are all of them.
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
    partial: bool
    tasks: Mapping[str, TaskResult]
    tools: tuple[str, ...] = ()
    metrics: tuple[MetricOutcome, ...] = ()
    prompts: tuple[PromptResult, ...] = ()
    whole: RunResult | None = None
    origin: RunOrigin | None = None
    chosen_prompts: bool = False
    score_decides: bool = False
    verdict: str = ""
    reasons: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    graders: tuple[str, ...] = ()
    later: LaterRun | None = None
    cut: RunResult | None = None
    planned: int = 0

    def is_older_than(self, judged: TaskResult | PromptResult) -> bool:
        """Return whether a task, a grader of it or a trigger prompt was judged after this run began."""
        verdicts = (
            (*judged.graders.values(), *judged.checkpoints.values()) if isinstance(judged, TaskResult) else ()
        )
        return any(one.timestamp > self.timestamp for one in (judged, *verdicts))

    @property
    def size(self) -> int:
        """Return how many tasks, verdicts and checks it holds."""
        return sum(task.size for task in self.tasks.values()) + len(self.metrics) + len(self.prompts)


def run_of_nothing(path: Path, timestamp: datetime, eval_file: str, reason: str) -> RunResult:
    """Return a run without results, with the reason why it is broken."""
    return RunResult(
        path=path,
        timestamp=timestamp,
        eval_name="",
        skill="",
        eval_file=eval_file,
        executor="",
        model="",
        status="error",
        complete=True,
        partial=False,
        tasks={},
        verdict="broken",
        reasons=(reason,),
    )


_STATUSES = {"errored": "error", "pending": "pending", "advisory": "advisory"}
_TASK_STATUSES: Mapping[TaskVerdict, TaskStatus] = {
    "passed": "passed",
    "failed": "failed",
    "errored": "error",
    "skipped": "skipped",
    "lost": "skipped",
    "not run": "skipped",
}


def task_result(task: TaskOutcome, timestamp: datetime, origin: RunOrigin | None = None) -> TaskResult:
    """Return the scores of a task over all its trials; those that did not end do not count."""
    ended = [trial for trial in task.trials if not trial.stopped]
    numbers = task.statistics
    return TaskResult(
        id=task.id,
        name=task.name,
        status=_TASK_STATUSES[task_verdict(task)],
        score=task.written_score if numbers is None else task.written_score or numbers.avg_weighted_score,
        trials=len(task.trials),
        passed_trials=sum(trial.status == "passed" for trial in task.trials),
        graders=_graders([trial.validations or {} for trial in ended], timestamp, origin),
        timestamp=timestamp,
        origin=origin,
        error=task.error or next((trial.error for trial in task.trials if trial.error), ""),
        checkpoints=_graders(map(checkpoint_verdicts, ended), timestamp, origin),
    )


def _graders(
    trials: Iterable[Mapping[str, Validation]], timestamp: datetime, origin: RunOrigin | None
) -> dict[str, GraderResult]:
    """Return each grader's result, over all trials that it graded."""
    by_grader: dict[str, list[Validation]] = {}
    for trial in trials:
        for name, verdict in trial.items():
            by_grader.setdefault(name, []).append(verdict)
    graders: dict[str, GraderResult] = {}
    for name, verdicts in by_grader.items():
        graders[name] = grader_result(name, verdicts, timestamp, origin)
        checkpoint()
    return graders


def grader_result(
    name: str, verdicts: Sequence[Validation], timestamp: datetime, origin: RunOrigin | None = None
) -> GraderResult:
    """Return a grader's result over the trials of a task; there is at least one."""
    found = conclude_grader(name, verdicts)
    decided = [verdict for verdict in verdicts if verdict.status != "pending"]
    return GraderResult(
        name=name,
        type=found.type,
        status=_STATUSES.get(found.verdict, "graded"),
        score=found.score,
        passed=found.verdict == "passed",
        scores=tuple([verdict.score for verdict in decided]),
        passes=tuple([verdict.passed for verdict in decided]),
        feedback=found.feedback,
        checks=tuple(_checks(verdicts)),
        timestamp=timestamp,
        origin=origin,
        reviewed=max(filter(None, map(_reviewed, verdicts)), default=None),
        weight=verdicts[0].weight,
    )


def _reviewed(verdict: Validation) -> datetime | None:
    """Return the time of a person's review, None without a review or if its time is unknown."""
    if not verdict.details:
        return None
    review = recorded_review(verdict.score, verdict.details, passed=verdict.passed)
    return moment(review.time) if review is not None and review.time else None


def _checks(verdicts: Sequence[Validation]) -> Iterator[CheckResult]:
    """Yield each check once, in its first order, with the message of the first trial in which it failed."""
    outcomes: dict[tuple[str | int, ...], list[Check]] = {}
    for verdict in verdicts:
        for check in verdict.checks:
            outcomes.setdefault(check.path, []).append(check)
    for path, found in outcomes.items():
        passes = [check.passed for check in found]
        passed = all(passes)
        message = "" if passed else found[passes.index(False)].message
        yield CheckResult(path, passed, sum(passes), len(found), message)
