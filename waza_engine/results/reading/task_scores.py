"""The scores of one task of a result document, over all its trials. Light, no models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from waza_engine.checkpoint import checkpoint
from waza_engine.results.codec.figures import pass_rate_of
from waza_engine.results.codec.trials import status_borne_out, was_stopped_as_wrong
from waza_engine.results.codec.verdicts import passed_unjudged, verdict_blocks, verdict_of, verdicts_of
from waza_engine.results.json_values import Block, block_of, blocks_of, moment, number, text_of, whole
from waza_engine.results.reading.scores import CheckResult, GraderResult, RunOrigin, TaskResult
from waza_engine.results.record import Validation
from waza_engine.results.reviews.reviewed import recorded_review
from waza_engine.results.task_conclusion import conclude_grader
from waza_engine.scoring.tasks import TrialStatus, borne_out, composite, task_status
from waza_engine.vocabulary import Check, checkpoint_grader

_VALUES_PER_CHECKPOINT = 1_000
_STATUSES = {"errored": "error", "pending": "pending", "advisory": "advisory"}


def task_result(task: Block, timestamp: datetime, origin: RunOrigin | None = None) -> TaskResult:
    """Return an element of ``tasks`` over all its trials."""
    runs = blocks_of(task.get("runs"))
    # Trials that a limit or the end of the run cut off do not count.
    ended = [run for run in runs if run.get("stopped") is not True]
    said = _verdicts(map(verdict_blocks, ended))
    graders = _graders(said, timestamp, origin)
    at_checkpoints = _verdicts(map(_at_checkpoints, ended))
    checkpoints = _graders(at_checkpoints, timestamp, origin)
    score = _score(task, ended, said)
    against = list(_against(graders, checkpoints))
    errors = (text_of(run.get("error_msg")) for run in runs)
    status = text_of(task.get("status"))
    if status == "passed" and runs and all(map(passed_unjudged, runs)):
        # Upstream lets it pass; but no answer was graded.
        status = "skipped"
    elif status == "passed" and (against or any(run.get("status") != "passed" for run in ended)):
        # For a file that was edited by hand the worse counts, as in ``task_conclusion``.
        statuses: list[TrialStatus] = [status_borne_out(run, verdicts_of(run)) for run in ended]
        status = borne_out("passed", [task_status(statuses, pass_rate_of(task))])
    elif status == "error" and runs:
        broke = [run for run in ended if run.get("status") == "error"]
        # Upstream calls it broken; but an answer was found wrong.
        status = "failed" if broke and all(map(was_stopped_as_wrong, broke)) else status
    return TaskResult(
        id=text_of(task.get("test_id")),
        name=text_of(task.get("display_name")),
        status=status,
        score=score,
        trials=len(runs),
        passed_trials=sum(run.get("status") == "passed" and (not against or _stands(run)) for run in runs),
        graders=graders,
        timestamp=timestamp,
        origin=origin,
        error=text_of(task.get("error_msg")) or next((error for error in errors if error), ""),
        checkpoints=checkpoints,
    )


def _stands(run: Block) -> bool:
    """Return whether no verdict contradicts a trial that is written as passed."""
    return status_borne_out(run, verdicts_of(run)) == "passed"


def _against(*said: Mapping[str, GraderResult]) -> Iterator[GraderResult]:
    return (
        grader
        for graders in said
        for grader in graders.values()
        if not grader.passed and grader.status != "advisory"
    )


def _score(task: Block, ended: Sequence[Block], said: Sequence[Mapping[str, Validation]]) -> float:
    """Return the mean over the trials of their weighted scores; without any verdict, the written score."""
    means: list[float] = []
    judged = False
    for run, verdicts in zip(ended, said, strict=True):
        if run.get("status") == "skipped":
            continue
        graded = [verdict.graded for verdict in verdicts.values()]
        broke = run.get("status") not in ("passed", "failed") and text_of(run.get("error_msg"))
        means.append(0.0 if broke else composite(graded).weighted_score)
        judged = judged or any(one.status != "pending" for one in graded)
    if not judged or not isinstance(task.get("stats", {}), Mapping):
        figures = block_of(task, "stats")
        return number(figures.get("avg_weighted_score", figures.get("avg_score")))
    return sum(means) / len(means)


def _verdicts(trials: Iterable[Mapping[str, Block]]) -> list[dict[str, Validation]]:
    found: list[dict[str, Validation]] = []
    done = 0
    for trial in trials:
        verdicts: dict[str, Validation] = {}
        for name, block in trial.items():
            verdicts[name] = verdict = verdict_of(name, block)
            done += 1 + len(verdict.checks)
            if done > _VALUES_PER_CHECKPOINT:
                done = 0
                checkpoint()
        found.append(verdicts)
    return found


def _at_checkpoints(run: Block) -> dict[str, Block]:
    return {
        checkpoint_grader(name, whole(checkpoint.get("after_turn"))): block
        for checkpoint in blocks_of(run.get("checkpoints"))
        for name, block in verdict_blocks(checkpoint).items()
    }


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
