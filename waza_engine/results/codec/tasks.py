"""A task in a result file or a journal, with its trials and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from waza_engine.results.codec.figures import pass_rate_of, required_pass_rate, statistics_document
from waza_engine.results.codec.trials import trial_document, trial_of
from waza_engine.results.codec.usage import cost_document
from waza_engine.results.json_values import Block, Json, blocks_of, figures_of, given, number, plain, text_of
from waza_engine.results.record import TaskOutcome, TrialOutcome
from waza_engine.scoring.cost import total_cost
from waza_engine.scoring.impact import PairwiseImpact, SkillImpact
from waza_engine.scoring.tasks import TrialStatus, borne_out, task_statistics, task_status

_STATUSES: dict[str, TrialStatus] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}


def task_document(task: TaskOutcome) -> Json:
    """Return an element of ``tasks``."""
    costs = [trial.cost for trial in task.trials if trial.cost is not None]
    return cast(
        "Json",
        plain(
            {
                "test_id": task.id,
                "display_name": task.name,
                **given(golden=task.golden, group=task.group),
                **required_pass_rate(task.pass_rate),
                "status": task.status,
                "runs": [trial_document(trial) for trial in task.trials],
                **({"stats": statistics_document(task.statistics)} if task.statistics else {}),
                **({"skill_impact": _impact(task.impact)} if task.impact else {}),
                **({"cost": cost_document(total_cost(costs))} if costs and not task.cached else {}),
                **given(error_msg=task.error, file=task.file, cached=task.cached),
            }
        ),
    )


def task_of(document: Block, *, resampled: bool = True) -> TaskOutcome:
    """Return an element of ``tasks``. Its numbers are computed again from its trials.

    Files of upstream may leave them out; where they are null, or nothing was judged, there are none. Without
    ``resampled`` the interval of the score is left out: it costs more than all else.
    """
    runs = blocks_of(document.get("runs"))
    trials = tuple(trial_of(run, position) for position, run in enumerate(runs, 1))
    written = _STATUSES.get(text_of(document.get("status")), "error")
    ended, pass_rate = [trial for trial in trials if not trial.stopped], pass_rate_of(document)
    status = borne_out(written, [task_status([trial.status for trial in ended], pass_rate)])
    doubted = [run.get("status") == "passed" != trial.status for run, trial in zip(runs, trials, strict=True)]
    scores = [trial.score for trial in ended]
    return TaskOutcome(
        id=text_of(document.get("test_id")),
        name=text_of(document.get("display_name")),
        status=status,
        trials=trials,
        statistics=task_statistics(scores, resampled=resampled) if _has_figures(document, trials) else None,
        golden=document.get("golden") is True,
        file=text_of(document.get("file")),
        error=text_of(document.get("error_msg")),
        group=text_of(document.get("group")),
        cached=document.get("cached") is True,
        impact=_impact_of(document.get("skill_impact")),
        doubted=status != written or any(doubted),
        pass_rate=pass_rate,
    )


def _has_figures(document: Block, trials: Sequence[TrialOutcome]) -> bool:
    if "stats" in document:
        return isinstance(document["stats"], Mapping)
    return any(trial.validations and not trial.stopped for trial in trials)


def _impact(impact: SkillImpact) -> Json:
    return {key: value for key, value in asdict(impact).items() if value is not None}


def _impact_of(value: object) -> SkillImpact | None:
    if not isinstance(value, Mapping):
        return None
    impact = cast("Block", value)
    pairwise = impact.get("pairwise")
    found = figures_of(PairwiseImpact, cast("Block", pairwise)) if isinstance(pairwise, Mapping) else None
    known = {
        name: number(impact[name])
        for name in ("pass_rate_baseline", "delta", "percent_change")
        if impact.get(name) is not None
    }
    return replace(figures_of(SkillImpact, impact), pairwise=found, **known)
