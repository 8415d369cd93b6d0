"""What the caller of a run asks for, and the suite as it is then: an option outranks what the suite says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from waza_engine.runs.budget import NO_LIMITS, Budget
from waza_engine.runs.suite import Suite, SuiteError, SuiteTask
from waza_engine.spec.project_config import ProjectConfig


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run. ``tasks`` are globs on ids and names, ``tags`` on tags, ``graders`` exact names.

    What is None is as the suite says. ``context_directory`` is where ``inputs.files`` are found for tasks
    without a ``context_dir`` of their own. ``timeout_seconds`` holds for every task. ``cache`` and
    ``session_log`` None are as ``.waza.yaml`` says; a ``session_directory`` wants a log. ``judge_executor``
    asks the judges when it is not to be the executor of the agent.
    """

    path: Path
    tasks: Sequence[str] = ()
    graders: Sequence[str] = ()
    tags: Sequence[str] = ()
    trials: int | None = None
    executor: str | None = None
    model: str | None = None
    judge_model: str | None = None
    judge_executor: str | None = None
    workers: int | None = None
    parallel: bool | None = None
    timeout_seconds: int | None = None
    fail_fast: bool | None = None
    context_directory: Path | None = None
    skip_graders: bool = False
    keep_workspace: bool = False
    baseline: bool | None = None
    no_skills: bool = False
    budget: Budget = NO_LIMITS
    cache: bool | None = None
    cache_directory: Path | None = None
    transcript_directory: Path | None = None
    session_log: bool | None = None
    session_directory: Path | None = None


def given_settings(request: RunRequest) -> dict[str, object]:
    """Return the options that a suite need not say then itself: keys of ``config`` and their values."""
    return _given(
        {
            "executor": request.executor,
            "trials_per_task": request.trials,
            "timeout_seconds": request.timeout_seconds,
        }
    )


def with_options(suite: Suite, request: RunRequest, project: ProjectConfig) -> Suite:
    """Return the suite as the request and then the project's defaults want it.

    Raises ``SuiteError`` for an option that makes no sense.
    """
    _check(request)
    config = suite.spec.config
    given = config.model_fields_set
    defaults = project.defaults
    changes = {
        "trials_per_task": request.trials,
        "executor": request.executor,
        "model": request.model,
        "judge_model": request.judge_model or (config.judge_model or defaults.judge_model or None),
        "workers": request.workers or (None if "workers" in given else defaults.workers or None),
        "parallel": _parallel(request, None if "parallel" in given else defaults.parallel or None),
        "timeout_seconds": request.timeout_seconds,
        "fail_fast": request.fail_fast,
    }
    spec = suite.spec.model_copy(update={"config": config.model_copy(update=_given(changes))})
    if request.baseline is not None:
        spec = spec.model_copy(update={"baseline": request.baseline})
    suite = replace(suite, spec=spec, tasks=tuple(_task(task, request) for task in suite.tasks))
    return without_skills(suite) if request.no_skills else suite


def without_skills(suite: Suite) -> Suite:
    """Return the suite for a baseline, or ``no_skills``: no skill of any kind, whoever names it.

    Upstream leaves those of the working directory and of single tasks in (reference waza_0_38.md §7.5).
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


def _check(request: RunRequest) -> None:
    if request.trials is not None and request.trials < 1:
        raise SuiteError(f"The number of trials must be 1 or more, not {request.trials}.")
    if request.timeout_seconds is not None and request.timeout_seconds < 1:
        raise SuiteError(f"The time limit must be 1 second or more, not {request.timeout_seconds}.")
    if request.context_directory is not None and not request.context_directory.is_dir():
        raise SuiteError(f"There is no context directory {request.context_directory}.")
    budget = request.budget
    if (budget.max_cost_usd or 0) < 0 or (budget.max_tokens or 0) < 0:
        raise SuiteError("A limit of cost or tokens must not be negative.")


def _parallel(request: RunRequest, default: bool | None) -> bool | None:
    """Return whether tasks run at the same time: several workers are asked for in order to have that."""
    if request.parallel is not None:
        return request.parallel
    return True if (request.workers or 0) > 1 else default


def _task(task: SuiteTask, request: RunRequest) -> SuiteTask:
    if task.task is None:
        return task
    changes: dict[str, Any] = {}
    if request.timeout_seconds is not None and task.task.timeout_seconds is not None:
        changes["timeout_seconds"] = request.timeout_seconds
    if request.context_directory is not None and not task.task.context_dir:
        changes["context_dir"] = str(request.context_directory.absolute())
    return replace(task, task=task.task.model_copy(update=changes)) if changes else task


def _given(changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in changes.items() if value is not None}
