"""The effect of skills on a run, over the tasks that were judged with and without them. Light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waza_engine.counting import counted
from waza_engine.figures import shown_percent
from waza_engine.results.record import RunOutcome
from waza_engine.results.task_conclusion import TaskConclusion, conclude_task, tasks_by_name, trial_changes
from waza_engine.scoring.impact import compared_rates, improves
from waza_engine.scoring.statistics import SIGNIFICANT, paired_p


@dataclass(frozen=True, slots=True)
class BaselineConclusion:
    """The run compared with one without skills, over the tasks judged in both.

    ``worth_it`` is None when there are none. ``p`` is that of the paired test over their trials.
    """

    words: str
    worth_it: bool | None
    p: float | None = None


def conclude_baseline(
    tasks: Sequence[TaskConclusion], baseline: RunOutcome, *, regraded: bool = False
) -> BaselineConclusion:
    """Return how the tasks compare with the run without skills; tasks without a verdict are skipped.

    ``regraded`` says that the tasks were graded again since; those without skills never are.
    """
    with_skills, without = (
        {name: task for name, task in tasks_by_name(found).items() if task.judged}
        for found in (tasks, list(map(conclude_task, baseline.tasks)))
    )
    found = compared_rates(
        {name: task.verdict for name, task in with_skills.items()},
        {name: task.verdict for name, task in without.items()},
    )
    if found is None:
        return BaselineConclusion(
            "with skills and without cannot be compared: no task was judged both times", None
        )
    p = paired_p(
        [
            difference
            for name, task in with_skills.items()
            if name in without
            for difference in trial_changes(without[name], task)
        ]
    )
    every = found.tasks == len(tasks)
    which = "tasks" if every else f"{counted(found.tasks, 'task')} judged both times, of {len(tasks)},"
    said = (
        f"{_percent(found.with_skills)} of the {which} pass with skills, {_percent(found.baseline)} without"
        f"{' (those were not graded again)' if regraded else ''}"
    )
    return BaselineConclusion(
        f"{said}: {_difference_words(found.with_skills - found.baseline, found.baseline, p)}",
        improves(found.with_skills, found.baseline),
        p,
    )


def _difference_words(difference: float, baseline: float, p: float) -> str:
    if difference == 0:
        return "there is nothing to improve" if baseline == 1 else "the skills do not help"
    if p > SIGNIFICANT:
        return f"too few trials to tell this from chance (p = {p:.2g})"
    return f"the skills {'help' if difference > 0 else 'do harm'} (p = {p:.2g})"


def _percent(rate: float) -> str:
    return f"{shown_percent(rate)} %"
