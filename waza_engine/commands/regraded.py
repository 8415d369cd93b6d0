"""Results of a re-grading for programs: an object for answers, a document for the disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from waza_engine.counting import counted
from waza_engine.executors.executor import Cancellation
from waza_engine.results.codec.run_documents import counted_document, run_of
from waza_engine.results.codec.summary_blocks import counted_run, counted_task, required_pass_rate, task_of
from waza_engine.results.codec.trials import verdict_blocks, verdict_document
from waza_engine.results.conclusion import Conclusion, conclude, leaves_tasks_out
from waza_engine.results.json_values import Block, Json, block_of, nonempty, number, plain, texts_of
from waza_engine.results.metrics import recompute_metrics
from waza_engine.results.reading.recordings import RecordedTrial, Recording
from waza_engine.results.reading.scores import GraderResult, TaskResult, task_result
from waza_engine.results.record import RunOutcome, TaskOutcome, Validation
from waza_engine.results.reviews import with_calibration
from waza_engine.results.task_conclusion import TaskConclusion, conclude_task
from waza_engine.runs.events.stream import failures_of
from waza_engine.runs.grading.recorded_verdicts import is_recorded
from waza_engine.runs.regrading.regrade import RegradedTask, Regrading
from waza_engine.scoring.statistics import mean
from waza_engine.scoring.task_scores import TaskScore, suite_summary
from waza_engine.version import __version__
from waza_engine.vocabulary import unique_names

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskReport:
    """A re-graded task with its record. ``score`` is the mean of its trials' weighted scores.

    A ``doubted`` task passed according to its record, or a trial of it did, but the verdicts contradict that.
    ``part``: only some of its graders ran, so that its result is not compared with its record.
    """

    task: RegradedTask
    now: TaskResult
    recorded: TaskResult
    score: float
    concluded: TaskConclusion
    doubted: bool = False
    part: bool = False

    @property
    def passed(self) -> bool:
        """Return whether the task passes, or has nothing that could fail."""
        return self.concluded.verdict not in ("failed", "errored")


def graded(
    regrading: Regrading, cancellation: Cancellation, tell: Callable[[TaskReport], None] | None = None
) -> list[TaskReport]:
    """Grade every task; ``tell`` gets each one as it is done. Raises ``CancelledRunError``."""
    reports: list[TaskReport] = []
    timestamp = regrading.recording.header.started
    for task in regrading.grade(cancellation):
        written = _written(task)
        outcome = task_of(written)
        # A task without trials keeps the numbers of its record.
        numbers: Block = block_of(written, "stats") if task.trials and not task.error else {}
        report = TaskReport(
            task=task,
            now=task_result(outcome, timestamp),
            recorded=task.recorded.scores,
            score=number(numbers.get("avg_weighted_score")),
            concluded=conclude_task(outcome, regrading.recording.header.executor),
            doubted=task_of(task.recorded.document, resampled=False).doubted,
            part=bool(regrading.request.graders),
        )
        reports.append(report)
        if tell is not None:
            tell(report)
    return reports


def _written(task: RegradedTask, *, kept: bool = False) -> Json:
    """Return a task as a record has it; with ``kept`` the verdicts of graders that were not asked count."""
    trials = [(trial.recorded, trial.validations) for trial in task.trials]
    return regraded_task(
        task.recorded.document, trials, error=task.error, kept=kept, pass_rate=task.pass_rate
    )


def conclusion_of(regrading: Regrading, reports: Sequence[TaskReport]) -> Conclusion:
    """Return the current conclusion of the run, as every report will show it with the new verdicts.

    Parts that are never graded again count as recorded: that it was cut short, trigger prompts, the baseline.
    When only some tasks or graders were requested, it is the conclusion of the re-graded tasks. Tasks that
    the record does not have were not run, and nothing passes without them, unless a part of the suite was
    chosen when it ran.
    """
    run = _run_now(regrading, reports)
    unrun = [conclude_task(task) for task in run.tasks[len(reports) :]]
    return conclude(run, tasks=[*(report.concluded for report in reports), *unrun])


def _run_now(regrading: Regrading, reports: Sequence[TaskReport]) -> RunOutcome:
    scores = [TaskScore(report.concluded.task.status, report.concluded.task.statistics) for report in reports]
    request, document = regrading.request, regrading.recording.document
    recorded = run_of({**document, "tasks": []})
    if request.tasks or request.graders:
        recorded = RunOutcome(recorded.header, "completed", (), recorded.summary)
    elif recorded.status == "failed":
        # It was complete, and failed because of verdicts that differ now.
        recorded = replace(recorded, status="completed")
    outcomes = [report.concluded.task for report in reports]
    metrics = tuple(recompute_metrics(recorded.metrics, outcomes))
    if regrading.unrecorded and not leaves_tasks_out(recorded.header):
        if recorded.status == "completed":
            count = len(regrading.unrecorded)
            words = f"{counted(count, 'task')} of the suite {'was' if count == 1 else 'were'} not recorded"
            recorded = replace(recorded, status="error", message=words)
        outcomes += [
            TaskOutcome(task.source.id, task.source.name, "skipped", error="it was not recorded")
            for task in regrading.unrecorded
        ]
    header = replace(recorded.header, regraded=True, graders=request.graders)
    return replace(recorded, header=header, tasks=outcomes, summary=suite_summary(scores), metrics=metrics)


def answer(regrading: Regrading, reports: Sequence[TaskReport]) -> Answer:
    """Return upstream's object and, per task, every grader with its checks.

    Scores are 0..1; ``recorded`` is the grader's result in the run, null if there was none. ``origin`` is
    ``live``, or ``recorded`` if it was not graded again: a judge, files that are gone. ``judging`` is the
    cost of judges, when some were asked.
    """
    keys = unique_names(report.now.id for report in reports)
    tasks = {key: _task(regrading, report) for key, report in zip(keys, reports, strict=True)}
    return {**_head(regrading, reports), "tasks": tasks}


def document(regrading: Regrading, reports: Sequence[TaskReport]) -> Answer:
    """Return the record with the new verdicts; recorded verdicts stay where none is new."""
    request = regrading.request
    new = {id(report.task.recorded): _written(report.task, kept=bool(request.graders)) for report in reports}
    tasks = [new.get(id(task), dict(task.document)) for task in regrading.recording.tasks]
    is_whole = len(reports) == regrading.task_count
    patterns = request.tasks if is_whole else [report.now.id for report in reports]
    return regraded_document(regrading.recording, tasks, task_patterns=patterns, graders=request.graders)


def _head(regrading: Regrading, reports: Sequence[TaskReport]) -> Answer:
    run, found = _run_now(regrading, reports), conclusion_of(regrading, reports)
    return {
        "record": str(regrading.recording.path),
        "suite": str(regrading.suite.path),
        "overall_score": mean([report.score for report in reports if report.concluded.scored]),
        "passed": all(report.passed for report in reports) and len(run.tasks) == len(reports),
        "conclusion": found.document(),
        "metrics": [asdict(metric) for metric in run.metrics],
        "warnings": list(regrading.warnings),
        **_spent(regrading),
    }


def _spent(regrading: Regrading) -> Answer:
    name, meter = regrading.request.judge_executor, regrading.meter
    if name is None:
        return {}
    cost = meter.cost
    return {
        "judging": {"executor": name, "tokens": meter.tokens, "cost_usd": cost.usd if cost.known else None}
    }


def _task(regrading: Regrading, report: TaskReport) -> Answer:
    now = report.now
    verdicts = [trial.validations or {} for trial in report.task.trials]
    return {
        "name": now.name,
        "status": now.status,
        "overall_score": report.score,
        "avg_score": now.score,
        "passed": report.passed,
        "passed_trials": now.passed_trials,
        **({"error": now.error} if now.error else {}),
        **nonempty(with_recorded=_with_recorded(regrading, report) if report.part else None),
        "conclusion": report.concluded.document(),
        "grader_averages": {name: grader.score for name, grader in now.graders.items()},
        "graders": {
            name: grader_answer(
                grader,
                report.recorded.graders.get(name),
                [validations[name] for validations in verdicts if name in validations],
            )
            for name, grader in now.graders.items()
        },
    }


def _with_recorded(regrading: Regrading, report: TaskReport) -> Answer:
    """Return a task's result with the recorded verdicts of graders that did not run."""
    header, kept = regrading.recording.header, task_of(_written(report.task, kept=True))
    task = task_result(kept, header.started)
    return {
        "status": task.status,
        "avg_score": task.score,
        "passed_trials": task.passed_trials,
        **({"error": task.error} if task.error else {}),
        "conclusion": conclude_task(kept, header.executor).document(),
    }


def grader_answer(now: GraderResult, recorded: GraderResult | None, verdicts: Sequence[Validation]) -> Answer:
    """Return a grader's result on a task with the one in the run.

    ``verdicts`` are those of the trials; ``failures`` are the failed checks of the first one that has any.
    """
    return {
        "type": now.type,
        "origin": "recorded" if any(map(is_recorded, verdicts)) else "live",
        "status": now.status,
        "score": now.score,
        "passed": now.passed,
        "feedback": now.feedback,
        "scores": list(now.scores),
        "passes": list(now.passes),
        "checks": [
            {
                "path": list(check.path),
                "passed": check.passed,
                "passed_trials": check.passed_trials,
                "trials": check.trials,
                **({"message": check.message} if check.message else {}),
            }
            for check in now.checks
        ],
        "recorded": None if recorded is None else {"score": recorded.score, "passed": recorded.passed},
        **nonempty(failures=next((found for found in map(failures_of, verdicts) if found), None)),
    }


# These describe the old verdicts.
_STALE_IN_A_TRIAL = ("failure_artifacts",)


def regraded_task(
    document: Block,
    trials: Sequence[tuple[RecordedTrial, Mapping[str, Validation] | None]],
    *,
    error: str = "",
    kept: bool = False,
    pass_rate: float = 1.0,
) -> Json:
    """Return a task with the new verdicts of its trials, None for a trial that had nothing to grade.

    ``error`` says why the task cannot be graded; its trials stay as recorded then. With ``kept`` the verdicts
    of graders that were not asked stay and count. ``pass_rate`` is what the task asks for now.
    """
    if error:
        return {**document, "status": "error", "error_msg": error}
    runs = [_trial(trial, validations, kept=kept) for trial, validations in trials]
    if not runs:
        return dict(document)
    # It is still true that some trials did not end.
    lost = [trial for trial, _ in trials if trial.outcome.stopped]
    stale = ("skill_impact", "required_pass_rate", *(() if lost else ("error_msg",)))
    rest = {key: value for key, value in document.items() if key not in stale}
    return counted_task({**rest, **required_pass_rate(pass_rate)}, runs)


def regraded_document(
    recording: Recording, tasks: Sequence[Json], *, task_patterns: Sequence[str], graders: Sequence[str]
) -> Json:
    """Return the whole document with these tasks, in the order of the record, and its new numbers."""
    before = {key: value for key, value in recording.document.items() if key != "calibration"}
    document = dict(with_calibration(counted_document(before, tasks)))
    metadata = block_of(document, "metadata")
    engine = dict(block_of(metadata, "engine"))
    engine["regraded"] = {
        "version": __version__,
        "timestamp": datetime.now(UTC).isoformat(),
        "record": recording.path.name,
        **({"tasks": list(task_patterns)} if task_patterns else {}),
        **({"graders": list(graders)} if graders else {}),
    }
    if asked := texts_of(engine.pop("graders", None)):
        # A run of some graders alone is one of all when all have judged its tasks again.
        is_whole = not task_patterns and not graders
        engine |= nonempty(graders=None if is_whole else list(dict.fromkeys([*asked, *graders])))
    document["metadata"] = {**metadata, "engine": engine}
    return cast("Json", plain(document))


def _trial(trial: RecordedTrial, validations: Mapping[str, Validation] | None, *, kept: bool) -> Json:
    if validations is None:
        return dict(trial.document)
    written = {name: plain(verdict_document(verdict)) for name, verdict in validations.items()}
    run = {key: value for key, value in trial.document.items() if key not in _STALE_IN_A_TRIAL}
    run["validations"] = {**verdict_blocks(trial.document), **written} if kept else written
    return counted_run(run, execution_error=bool(trial.outcome.error))
