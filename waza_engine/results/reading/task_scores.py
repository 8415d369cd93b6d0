"""The scores of one task of a result document, over all its trials. Light, no models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from waza_engine.checkpoint import checkpoint
from waza_engine.results.json_values import moment
from waza_engine.results.reading.scores import CheckResult, GraderResult, RunOrigin, TaskResult
from waza_engine.results.record import TaskOutcome, Validation, checkpoint_verdicts
from waza_engine.results.reviews.reviewed import recorded_review
from waza_engine.results.task_conclusion import TaskVerdict, conclude_grader, task_verdict
from waza_engine.scoring.tasks import TaskStatus
from waza_engine.vocabulary import Check

_VALUES_PER_CHECKPOINT = 1_000
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
    figures = task.statistics
    return TaskResult(
        id=task.id,
        name=task.name,
        status=_TASK_STATUSES[task_verdict(task)],
        score=task.written_score if figures is None else task.written_score or figures.avg_weighted_score,
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
    done = 0
    graders: dict[str, GraderResult] = {}
    for name, verdicts in by_grader.items():
        graders[name] = grader_result(name, verdicts, timestamp, origin)
        done += sum(1 + len(verdict.checks) for verdict in verdicts)
        if done > _VALUES_PER_CHECKPOINT:
            done = 0
            checkpoint()
    return graders


def grader_result(
    name: str, verdicts: Sequence[Validation], timestamp: datetime, origin: RunOrigin | None = None
) -> GraderResult:
    """Return a grader's result over the trials of a task; there is at least one."""
    found = conclude_grader(name, verdicts)
    said = [verdict for verdict in verdicts if verdict.status != "pending"]
    return GraderResult(
        name=name,
        type=found.type,
        status=_STATUSES.get(found.verdict, "graded"),
        score=found.score,
        passed=found.verdict == "passed",
        scores=tuple([verdict.score for verdict in said]),
        passes=tuple([verdict.passed for verdict in said]),
        feedback=found.feedback,
        checks=tuple(_checks(verdicts)) if any(verdict.checks for verdict in verdicts) else (),
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
    if len(verdicts) == 1 and len({check.path for check in verdicts[0].checks}) == len(verdicts[0].checks):
        for check in verdicts[0].checks:
            yield CheckResult(
                check.path, check.passed, int(check.passed), 1, "" if check.passed else check.message
            )
        return
    outcomes: dict[tuple[str | int, ...], list[Check]] = {}
    for verdict in verdicts:
        for check in verdict.checks:
            outcomes.setdefault(check.path, []).append(check)
    for path, found in outcomes.items():
        passes = [check.passed for check in found]
        passed = all(passes)
        message = "" if passed else found[passes.index(False)].message
        yield CheckResult(path, passed, sum(passes), len(found), message)
