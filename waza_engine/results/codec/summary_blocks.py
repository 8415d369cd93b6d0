"""The numbers of a result document, counted from its verdicts and written into it.

Light, no models: the language server recounts after a review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from waza_engine.checkpoint import checkpoint
from waza_engine.results.codec.trials import (
    cost_document,
    trial_document,
    trial_of,
    verdicts_of,
    written_status,
)
from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    blocks_of,
    nonempty,
    number,
    number_or_none,
    plain,
    record_of,
    text_of,
)
from waza_engine.results.record import TaskOutcome, TrialOutcome
from waza_engine.scoring.cost import total_cost
from waza_engine.scoring.impact import PairwiseImpact, SkillImpact
from waza_engine.scoring.pass_estimates import pass_estimates
from waza_engine.scoring.statistics import CONFIDENCE, Interval, RateInterval, wilson
from waza_engine.scoring.task_scores import (
    SuiteSummary,
    TaskScore,
    TaskStatistics,
    TrialScore,
    TrialStatus,
    suite_summary,
    task_statistics,
    task_status,
    trial_status,
    worst_status,
)


def counted_run(run: Block, *, execution_error: bool) -> Json:
    """Return an element of ``runs`` with the status that follows from its verdicts.

    The verdicts of its checkpoints count as recorded: they cannot be graded again.
    """
    checkpoints: list[TrialStatus] = [
        written_status(found) for found in blocks_of(run.get("checkpoints")) if found.get("status")
    ]
    graded = [verdict.graded for verdict in verdicts_of(run).values()]
    return {**run, "status": trial_status(graded, checkpoints, execution_error=execution_error)}


def counted_task(task: Block, runs: Sequence[Block], *, resampled: bool = True) -> Json:
    """Return an element of ``tasks`` with these trials, and the status and numbers that follow from them.

    Unfinished trials do not count. Without ``resampled`` the interval of the score is left out: it costs more
    than all else.
    """
    scores = _scores(runs)
    statistics = task_statistics(scores, resampled=resampled)
    return {
        **task,
        "status": task_status([score.status for score in scores], pass_rate_of(task)),
        "runs": list(runs),
        **({"stats": statistics_document(statistics)} if statistics else {}),
    }


def pass_rate_of(task: Block) -> float:
    """Return the share of its trials that a task of a document needs to pass."""
    written = number_or_none(task.get("required_pass_rate")) or 1.0
    # A share that no suite can request means all of them.
    return written if 0 < written <= 1 else 1.0


def required_pass_rate(pass_rate: float) -> Json:
    """Return that share as an entry of a task; for 1, all trials, nothing is written."""
    return {"required_pass_rate": pass_rate} if pass_rate < 1 else {}


def task_numbers(task: Block) -> TaskStatistics | None:
    """Return the statistics of a document's task, computed from the verdicts of its trials."""
    return task_statistics(_scores(blocks_of(task.get("runs"))))


def _scores(runs: Sequence[Block]) -> list[TrialScore]:
    """Return the scores of the trials that ended."""
    return [trial.score for trial in _trials(runs) if not trial.stopped]


def statistics_document(statistics: TaskStatistics) -> Json:
    """Return the ``stats`` of a task."""
    numbers = asdict(statistics)
    del numbers["interval"]
    if statistics.total_runs > 1:
        found = pass_estimates(statistics.passed_runs, statistics.total_runs)
        numbers["pass_rate_ci"] = _rate(found.rate)
        numbers["pass_at_k_ci"] = _rate(found.pass_at_k)
        numbers["pass_exp_k_ci"] = _rate(found.pass_exp_k)
        fewer = range(1, found.total)
        numbers["unbiased_pass_at"] = [found.unbiased_pass_at(trials) for trials in fewer]
        numbers["unbiased_pass_exp"] = [found.unbiased_pass_exp(trials) for trials in fewer]
    if statistics.interval is not None:
        numbers["bootstrap_ci"] = _interval(statistics.interval)
        numbers["is_significant"] = statistics.interval.is_significant
    return numbers


def summary_numbers(summary: SuiteSummary) -> Json:
    """Return the ``summary`` of a run without its usage."""
    numbers = asdict(summary)
    del numbers["interval"], numbers["pass_hat_k"]
    if summary.interval is not None:
        numbers["statistics"] = {
            "bootstrap_ci": _interval(summary.interval),
            "is_significant": summary.interval.is_significant,
            "success_rate_ci": _rate(wilson(summary.succeeded, summary.total_tests - summary.skipped)),
            "pass_hat_k": list(summary.pass_hat_k),
        }
    return numbers


def group_numbers(tasks: Iterable[tuple[str, TaskScore]]) -> list[Json]:
    """Return the numbers of each group of tasks, by first occurrence of the group; "" is no group."""
    members: dict[str, list[TaskScore]] = {}
    for group, score in tasks:
        if group:
            members.setdefault(group, []).append(score)
    summaries = {name: suite_summary(scores) for name, scores in members.items()}
    return [
        {
            "name": name,
            "passed": summary.succeeded,
            "total": summary.total_tests,
            "avg_score": summary.aggregate_score,
        }
        for name, summary in summaries.items()
    ]


def _rate(interval: RateInterval) -> Json:
    return {
        "lower": interval.lower,
        "upper": interval.upper,
        "mean": interval.rate,
        "confidence_level": CONFIDENCE,
    }


def _interval(interval: Interval) -> Json:
    return {
        "lower": interval.lower,
        "upper": interval.upper,
        "mean": interval.mean,
        "confidence_level": CONFIDENCE,
        "num_bootstraps": interval.resamples,
    }


def task_document(task: TaskOutcome) -> Json:
    """Return an element of ``tasks``."""
    costs = [trial.cost for trial in task.trials if trial.cost is not None]
    impact = {} if task.impact is None else asdict(task.impact)
    return cast(
        "Json",
        plain(
            {
                "test_id": task.id,
                "display_name": task.name,
                **nonempty(golden=task.golden, group=task.group),
                **required_pass_rate(task.pass_rate),
                "status": task.status,
                "runs": [trial_document(trial) for trial in task.trials],
                **({"stats": statistics_document(task.statistics)} if task.statistics else {}),
                **nonempty(skill_impact={key: value for key, value in impact.items() if value is not None}),
                **({"cost": cost_document(total_cost(costs))} if costs and not task.cached else {}),
                **nonempty(error_msg=task.error, file=task.file, cached=task.cached),
            }
        ),
    )


def task_of(document: Block, *, resampled: bool = True) -> TaskOutcome:
    """Return an element of ``tasks``. Its numbers are computed again from its trials.

    Files of upstream may leave them out; where they are null, or nothing was judged, there are none. Without
    ``resampled`` the interval of the score is left out: it costs more than all else.
    """
    runs = blocks_of(document.get("runs"))
    trials = tuple(_trials(runs))
    written = written_status(document)
    ended, pass_rate = [trial for trial in trials if not trial.stopped], pass_rate_of(document)
    status = worst_status(written, [task_status([trial.status for trial in ended], pass_rate)])
    doubted = [run.get("status") == "passed" != trial.status for run, trial in zip(runs, trials, strict=True)]
    scores = [trial.score for trial in ended]
    return TaskOutcome(
        id=text_of(document.get("test_id")),
        name=text_of(document.get("display_name")),
        status=status,
        trials=trials,
        statistics=task_statistics(scores, resampled=resampled) if _has_numbers(document, trials) else None,
        golden=document.get("golden") is True,
        file=text_of(document.get("file")),
        error=text_of(document.get("error_msg")),
        group=text_of(document.get("group")),
        cached=document.get("cached") is True,
        impact=_impact_of(document.get("skill_impact")),
        doubted=status != written or any(doubted),
        pass_rate=pass_rate,
        written_score=0.0 if any(trial.validations for trial in trials) else _written_score(document),
    )


def _trials(runs: Sequence[Block]) -> Iterator[TrialOutcome]:
    for position, run in enumerate(runs, 1):
        checkpoint()
        yield trial_of(run, position)


def _written_score(task: Block) -> float:
    numbers = block_of(task, "stats")
    return number(numbers.get("avg_weighted_score", numbers.get("avg_score")))


def _has_numbers(document: Block, trials: Sequence[TrialOutcome]) -> bool:
    if "stats" in document:
        return isinstance(document["stats"], Mapping)
    return any(trial.validations and not trial.stopped for trial in trials)


def _impact_of(value: object) -> SkillImpact | None:
    if not isinstance(value, Mapping):
        return None
    impact = cast("Block", value)
    pairwise = impact.get("pairwise")
    found = record_of(PairwiseImpact, cast("Block", pairwise)) if isinstance(pairwise, Mapping) else None
    return replace(record_of(SkillImpact, impact), pairwise=found)
