"""The suite as the settings of a run want it: an option outranks what the suite says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from waza_engine.runs.loading.suite import Suite, SuiteError, SuiteTask
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.project_config import ProjectConfig


def given_settings(settings: RunSettings) -> dict[str, object]:
    """Return the options that a suite need not say then itself: keys of ``config`` and their values."""
    return _given(
        {
            "executor": settings.executor,
            "trials_per_task": settings.trials,
            "timeout_seconds": settings.timeout_seconds,
        }
    )


def with_options(suite: Suite, settings: RunSettings, project: ProjectConfig) -> Suite:
    """Return the suite as the settings and then the project's defaults want it.

    Raises ``SuiteError`` for an option that makes no sense.
    """
    _check(settings)
    config = suite.spec.config
    given = config.model_fields_set
    defaults = project.defaults
    changes = {
        "trials_per_task": settings.trials,
        "executor": settings.executor,
        "model": settings.model,
        "judge_model": settings.judge_model or (config.judge_model or defaults.judge_model or None),
        "workers": settings.workers or (None if "workers" in given else defaults.workers or None),
        "parallel": _parallel(settings, None if "parallel" in given else defaults.parallel or None),
        "timeout_seconds": settings.timeout_seconds,
        "fail_fast": settings.fail_fast,
    }
    spec = suite.spec.model_copy(update={"config": config.model_copy(update=_given(changes))})
    if settings.baseline is not None:
        spec = spec.model_copy(update={"baseline": settings.baseline})
    suite = replace(suite, spec=spec, tasks=tuple(_task(task, settings) for task in suite.tasks))
    return without_skills(suite) if settings.no_skills else suite


def without_skills(suite: Suite) -> Suite:
    """Return the suite for a baseline, or ``no_skills``: no skill of any kind, whoever names it.

    Upstream leaves those of the working directory and of single tasks in.
    """
    config = suite.spec.config.model_copy(
        update={
            "skill_directories": (),
            "required_skills": (),
            "disabled_skills": ("*",),
            "inject_skill_body": False,
        }
    )
    none = {"skill_directories": ()}
    tasks = tuple(
        task if task.task is None else replace(task, task=task.task.model_copy(update=none))
        for task in suite.tasks
    )
    return replace(suite, spec=suite.spec.model_copy(update={"config": config}), tasks=tasks)


def check_executor(name: str) -> None:
    """Raise ``SuiteError`` for a name that no executor has: it was asked for, and no file is to blame."""
    if name not in EXECUTORS:
        known = ", ".join(f"`{known}`" for known in EXECUTORS)
        raise SuiteError(f"`{name}` is not an executor; choose one of {known}.")


def _check(settings: RunSettings) -> None:
    if settings.trials is not None and settings.trials < 1:
        raise SuiteError(f"The number of trials must be 1 or more, not {settings.trials}.")
    if settings.timeout_seconds is not None and settings.timeout_seconds < 1:
        raise SuiteError(f"The time limit must be 1 second or more, not {settings.timeout_seconds}.")
    if settings.context_directory is not None and not settings.context_directory.is_dir():
        raise SuiteError(f"There is no context directory {settings.context_directory}.")
    for chosen in (settings.executor, settings.judge_executor):
        if chosen is not None:
            check_executor(chosen)
    budget = settings.budget
    if (budget.max_cost_usd or 0) < 0 or (budget.max_tokens or 0) < 0:
        raise SuiteError("A limit of cost or tokens must not be negative.")
    if budget.max_cost_usd is not None and not math.isfinite(budget.max_cost_usd):
        raise SuiteError("A limit of cost must be an amount; leave it out to have none.")


def _parallel(settings: RunSettings, default: bool | None) -> bool | None:
    """Return whether trials run at the same time: several workers are asked for in order to have that."""
    if settings.parallel is not None:
        return settings.parallel
    return True if (settings.workers or 0) > 1 else default


def _task(task: SuiteTask, settings: RunSettings) -> SuiteTask:
    if task.task is None:
        return task
    changes: dict[str, Any] = {}
    if settings.timeout_seconds is not None and task.task.timeout_seconds is not None:
        changes["timeout_seconds"] = settings.timeout_seconds
    if settings.context_directory is not None and not task.task.context_dir:
        changes["context_dir"] = str(settings.context_directory.absolute())
    return replace(task, task=task.task.model_copy(update=changes)) if changes else task


def _given(changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in changes.items() if value is not None}
