"""The document of a run that was graded again: the record with new verdicts and new figures.

Whatever was not graded again stays as it was written: other tasks, sessions, ``golden``, groups, triggers,
metrics, the baseline, and keys that this engine does not know (upstream drops most of them: reference
waza_0_38.md §8.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import waza_engine
from waza_engine.results.documents import (
    Json,
    plain,
    statistics_document,
    summary_document,
    validation_document,
)
from waza_engine.results.formats import Block
from waza_engine.results.outcomes import Validation
from waza_engine.results.recordings import RecordedTrial, Recording
from waza_engine.scoring.composite import Graded, TrialStatus, composite, trial_status
from waza_engine.scoring.statistics import mean
from waza_engine.scoring.tasks import (
    TaskScore,
    TaskStatistics,
    TaskStatus,
    TrialScore,
    suite_summary,
    task_statistics,
    task_status,
)

# What describes the verdicts of then.
_STALE_IN_A_TRIAL = ("failure_artifacts",)
_STALE_IN_A_TASK = ("skill_impact", "error_msg")


def regraded_task(
    document: Block,
    trials: Sequence[tuple[RecordedTrial, Mapping[str, Validation] | None]],
    *,
    error: str = "",
    kept: bool = False,
) -> Json:
    """Return a task with the new verdicts of its trials, None for a trial that had nothing to grade.

    ``error`` says why the task cannot be graded; its trials stay as recorded then. With ``kept`` the verdicts
    of graders that were not asked stay and count.
    """
    if error:
        return {**document, "status": "error", "error_msg": error}
    runs = [_trial(trial, validations, kept=kept) for trial, validations in trials]
    if not runs:
        return dict(document)
    scores = [trial_score(run) for run in runs]
    statistics = task_statistics(scores)
    rest = {key: value for key, value in document.items() if key not in _STALE_IN_A_TASK}
    return {
        **rest,
        "status": task_status([score.status for score in scores]),
        "runs": runs,
        **({"stats": plain(statistics_document(statistics))} if statistics else {}),
    }


def regraded_document(
    recording: Recording, tasks: Sequence[Json], *, task_patterns: Sequence[str], graders: Sequence[str]
) -> Json:
    """Return the whole document with these tasks, in the order of the record, and the figures over them."""
    document = dict(recording.document)
    config, before = _block(document, "config"), _block(document, "summary")
    scores = [TaskScore(_status(task), task_figures(task)) for task in tasks]
    trials = config.get("runs_per_test")
    summary = suite_summary(scores, trials_per_task=trials if isinstance(trials, int) else 1)
    figures = summary_document(summary, None)
    figures["duration_ms"] = before.get("duration_ms", 0)
    groups = _groups(tasks, scores)
    usage = before.get("usage")
    document["summary"] = {
        **figures,
        **({"groups": groups} if groups else {}),
        **({"usage": usage} if usage else {}),
    }
    document["tasks"] = list(tasks)
    metadata = _block(document, "metadata")
    engine = dict(_block(metadata, "engine"))
    if engine.get("status") in ("completed", "failed"):
        engine["status"] = "completed" if _all_well(document, scores) else "failed"
    engine["regraded"] = {
        "version": waza_engine.__version__,
        "timestamp": datetime.now(UTC).isoformat(),
        "record": recording.path.name,
        **({"tasks": list(task_patterns)} if task_patterns else {}),
        **({"graders": list(graders)} if graders else {}),
    }
    document["metadata"] = {**metadata, "engine": engine}
    return cast("Json", plain(document))


def trial_score(run: Block) -> TrialScore:
    """Return what a trial of a document adds to its task."""
    found = composite(_graded(run))
    duration = run.get("duration_ms")
    return TrialScore(
        _status(run), found.score, found.weighted_score, duration if isinstance(duration, int) else 0
    )


def task_figures(task: Block) -> TaskStatistics | None:
    """Return the figures of a task of a document, counted from the verdicts of its trials."""
    return task_statistics([trial_score(run) for run in _blocks(task.get("runs"))])


def _trial(trial: RecordedTrial, validations: Mapping[str, Validation] | None, *, kept: bool) -> Json:
    if validations is None:
        return dict(trial.document)
    written = {name: plain(validation_document(verdict)) for name, verdict in validations.items()}
    run = {key: value for key, value in trial.document.items() if key not in _STALE_IN_A_TRIAL}
    run["validations"] = {**trial.validations, **written} if kept else written
    broken = bool(trial.error)
    run["status"] = _with_checkpoints(trial_status(_graded(run), execution_error=broken), trial)
    return run


def _with_checkpoints(status: TrialStatus, trial: RecordedTrial) -> TrialStatus:
    """Return the status with what the checkpoints said: as recorded, for nobody can ask them again."""
    if status != "passed":
        return status
    worst = trial.checkpoint_statuses
    return "error" if "error" in worst else "failed" if "failed" in worst else status


def _graded(run: Block) -> list[Graded]:
    found: list[Graded] = []
    for value in _block(run, "validations").values():
        if isinstance(value, Mapping):
            verdict = cast("Block", value)
            status = verdict.get("status")
            found.append(
                Graded(
                    score=_number(verdict.get("score")),
                    passed=verdict.get("passed") is True,
                    weight=_number(verdict.get("weight")),
                    status="pending" if status == "pending" else "error" if status == "error" else "graded",
                )
            )
    return found


def _groups(tasks: Sequence[Block], scores: Sequence[TaskScore]) -> list[Json]:
    members: dict[str, list[TaskScore]] = {}
    for task, score in zip(tasks, scores, strict=True):
        if isinstance(group := task.get("group"), str) and group:
            members.setdefault(group, []).append(score)
    return [
        {
            "name": name,
            "passed": sum(score.status == "passed" for score in found),
            "total": len(found),
            "avg_score": mean([score.statistics.avg_score if score.statistics else 0.0 for score in found]),
        }
        for name, found in members.items()
    ]


def _all_well(document: Block, scores: Sequence[TaskScore]) -> bool:
    metrics = _block(document, "metrics").values()
    missed = any(isinstance(m, Mapping) and cast("Block", m).get("passed") is False for m in metrics)
    return not missed and all(score.status in ("passed", "skipped") for score in scores)


def _status(found: Block) -> TaskStatus:
    match found.get("status"):
        case "passed" | "failed" | "skipped" as known:
            return known
        case _:
            return "error"


def _block(value: Block, key: str) -> Block:
    found = value.get(key)
    return cast("Block", found) if isinstance(found, Mapping) else {}


def _blocks(value: object) -> list[Block]:
    if not isinstance(value, list):
        return []
    return [cast("Block", item) for item in cast("list[Any]", value) if isinstance(item, Mapping)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
