"""Facts determined before a run spends anything: judge models, prices, the tasks of a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from waza_engine.graders.judging.judges import JudgedConfig
from waza_engine.runs.agent.agent_tools import GRADER_NAME as AGENT_TOOLS
from waza_engine.runs.agent.skills import suite_skills, task_skills
from waza_engine.runs.limits.budget import unpriced_models
from waza_engine.runs.loading.suite import Suite, SuiteError, SuiteTask
from waza_engine.runs.passes.suite_pass import Pass
from waza_engine.runs.settings.options import without_skills
from waza_engine.runs.settings.table import Budget
from waza_engine.runs.trials.selection import SelectedTask, without_comparisons


def judge_models(suite: Suite, tasks: Sequence[SelectedTask]) -> tuple[str, ...]:
    """Return the models that judge in a run, each once; the default of the executor is ``""``."""
    config = suite.spec.config
    default = config.judge_model or config.model
    models = [
        built.grader.config.model or default
        for task in tasks
        if task.trial is not None
        for built in task.trial.all_graders
        if built.grader is not None and isinstance(built.grader.config, JudgedConfig)
    ]
    return tuple(dict.fromkeys(models))


def check_prices(budget: Budget, model: str, judges: Sequence[str]) -> list[str]:
    """Return a warning for models without a price, when their cost is limited by their tokens at least.

    Raises ``SuiteError`` when nothing limits it: a limit that cannot be kept is worse than none.
    """
    unpriced = unpriced_models(budget, (model, *judges))
    if not unpriced:
        return []
    names = ", ".join(f"`{name}`" for name in unpriced)
    if budget.max_tokens is None:
        what = f"The price of {names} is not known, so `--max-cost` cannot be kept"
        raise SuiteError(f"{what}; limit the tokens with --max-tokens.")
    return [f"the price of {names} is not known: only --max-tokens limits it"]


def baseline_pass(suite: Suite, tasks: Sequence[SelectedTask]) -> tuple[Pass | None, list[str]]:
    """Return the pass without skills when the suite wants a baseline, and a warning when it has no skills."""
    if not suite.spec.baseline:
        return None, []
    found = suite_skills(suite)
    specs = [task.trial.spec for task in tasks if task.trial is not None]
    if not found.directories and not any(task_skills(suite, spec, found).directories for spec in specs):
        return None, ["`baseline` needs skills, and none is found in `skill_directories`: it is left out"]
    bare = without_skills(suite)
    by_path = {(task.path, task.id): task for task in bare.tasks}
    chosen = [_without_skills(task, by_path[task.source.path, task.source.id]) for task in tasks]
    return Pass(bare, without_comparisons(chosen), baseline=True), []


def _without_skills(task: SelectedTask, source: SuiteTask) -> SelectedTask:
    if task.trial is None or source.task is None:
        return task
    # The tool grader of an agent file applies to that agent, which a baseline does not have.
    graders = tuple(built for built in task.trial.graders if built.name != AGENT_TOOLS)
    return SelectedTask(source, replace(task.trial, spec=source.task, graders=graders, tool_policy=""))
