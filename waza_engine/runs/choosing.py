"""Select the tasks of a run, and estimate what they will cost, without an executor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from waza_engine.graders.judging.judges import JudgedConfig
from waza_engine.results.reading.expenses import RunExpenses, TrialExpense, expenses_of
from waza_engine.runs.grading.grader_cache import GraderCache
from waza_engine.runs.loading.suite_on_disk import Suite, load_suite
from waza_engine.runs.passes.affected import Build
from waza_engine.runs.passes.caching import cache_directory
from waza_engine.runs.passes.suite_pass import judge_models
from waza_engine.runs.settings.options import explicit_settings, project_config, with_options
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask, select
from waza_engine.runs.trials.triggers import chosen_prompts, trigger_tests_of
from waza_engine.scoring.cost import cost_of
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.vocabulary import Usage


@dataclass(frozen=True, slots=True)
class Choice:
    """A suite with the settings applied, and its selected tasks. ``build`` built their graders."""

    suite: Suite
    project: ProjectConfig
    tasks: Sequence[SelectedTask]
    build: Build
    warnings: Sequence[str] = ()


def choose_tasks(settings: RunSettings) -> Choice:
    """Return the choice of the settings. Raises ``SuiteFileError`` and ``SuiteError``."""
    suite = load_suite(settings.path, explicit_settings(settings))
    project, warnings = project_config(suite.directory)
    suite = with_options(suite, settings, project)
    warnings += suite.warnings
    # Most graders are those of the suite, the same for each task.
    build = GraderCache().create
    if settings.prompts_alone:
        return Choice(suite, project, (), build, warnings)
    tasks, found = select(suite, settings.tasks, settings.graders, settings.tags, build=build)
    return Choice(suite, project, tasks, build, [*warnings, *found])


KNOWN_SHARE = 0.5
"""The share of the trials that must belong to tasks with an earlier run."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The planned trials and, if known, their cost in US dollars and seconds of wall clock.

    ``free`` is true when neither answers nor judges cost anything.
    """

    trials: int
    prompts: int
    free: bool
    usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class SuiteEstimate:
    """The estimate of a whole run, and that of each of its tasks alone, by id."""

    run: Estimate
    tasks: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class _Known:
    """One trial of a task, on average: US dollars or None, seconds."""

    usd: float | None
    seconds: float


def estimate_run(settings: RunSettings) -> SuiteEstimate:
    """Return the estimated cost and duration of a run with these settings.

    Raises the errors of ``load_suite``, ``select`` and ``affected``: ``SuiteFileError``, ``SuiteError``.
    """
    choice = choose_tasks(settings)
    suite, project, tasks = choice.suite, choice.project, choice.tasks
    prompts = _prompts(suite, settings)
    if settings.changed_since is not None:
        # Few runs ask git.
        from waza_engine.runs.passes.affected import affected_tasks

        changed = affected_tasks(suite, tasks, settings, project, choice.build)
        tasks, prompts = changed.tasks, prompts if changed.triggers else 0
    tasks = [task for task in tasks if task.trial is not None]
    if cache_directory(settings, suite, project) is not None:
        # Tasks with a cached result are only known when they are due.
        return _of_all(suite, tasks, {}, None, settings, prompts)
    # Another executor has other durations and tools.
    executor = suite.spec.config.executor
    runs = [run for run in expenses_of(suite.directory, suite.path.name) if run.header.executor == executor]
    model = suite.spec.config.model
    known: dict[str, _Known] = {}
    for task in tasks:
        found = next((run for run in runs if run.is_whole and run.tasks.get(task.source.id)), None)
        if found is not None:
            votes = _votes(task)
            known[task.source.id] = _average(found, found.tasks[task.source.id], model, suite, votes)
    return _of_all(suite, tasks, known, runs[0] if runs else None, settings, prompts)


def _of_all(
    suite: Suite,
    tasks: Sequence[SelectedTask],
    known: Mapping[str, _Known],
    newest: RunExpenses | None,
    settings: RunSettings,
    prompts: int,
) -> SuiteEstimate:
    config = suite.spec.config
    judges = judge_models(suite, tasks) if not settings.skip_graders else ()
    judge = settings.judge_executor or config.executor
    free = not _costs(config.executor) and not (judges and _costs(judge))
    workers = config.workers if config.parallel else 1
    repeated = config.trials_per_task * (2 if suite.spec.baseline else 1)
    each: dict[str, Estimate] = {}
    for task in tasks:
        found = known.get(task.source.id)
        seconds = None if found is None else math.ceil(repeated / max(1, workers)) * found.seconds
        usd = 0.0 if free else None if found is None or found.usd is None else repeated * found.usd
        each[task.source.id] = Estimate(repeated, 0, free, usd, seconds)
    whole = Estimate(repeated * len(tasks), prompts, free, 0.0 if free else None, None)
    if tasks and len(known) >= KNOWN_SHARE * len(tasks):
        share = len(tasks) / len(known)
        prices = [found.usd for found in known.values()]
        usd = None if None in prices else share * repeated * sum(price or 0.0 for price in prices)
        seconds = share * repeated * sum(found.seconds for found in known.values()) / max(1, workers)
        seconds = max([seconds, *(found.seconds for found in known.values())])
        if prompts:
            extra, longer = _of_prompts(newest, prompts, workers)
            usd = None if usd is None or extra is None else usd + extra
            seconds += longer
        whole = replace(whole, usd=0.0 if free else usd, seconds=seconds)
    return SuiteEstimate(whole, each)


def _votes(task: SelectedTask) -> dict[str, int]:
    """Return how often the judge of each grader will be asked about an answer."""
    graders = task.trial.all_graders if task.trial is not None else ()
    return {
        built.name: built.grader.config.votes
        for built in graders
        if built.grader is not None and isinstance(built.grader.config, JudgedConfig)
    }


def _average(
    run: RunExpenses, trials: Sequence[TrialExpense], model: str, suite: Suite, votes: Mapping[str, int]
) -> _Known:
    costs = [_usd(run, trial, model, suite, votes) for trial in trials]
    usd = None if None in costs else sum(cost or 0.0 for cost in costs) / len(trials)
    return _Known(usd, sum(trial.duration_ms for trial in trials) / 1000 / len(trials))


def _usd(
    run: RunExpenses, trial: TrialExpense, model: str, suite: Suite, votes: Mapping[str, int]
) -> float | None:
    """Return the trial's cost with a model: as it was counted, or its tokens at that price.

    The share of the judges grows with ``votes``, which the recorded trial may have had fewer of.
    """
    if _costs(run.header.executor) and not _reports(trial.usage):
        # An agent that reports nothing may have cost anything.
        return None
    then = sum(trial.votes.get(name, 1) for name in votes)
    share = sum(votes.values()) / then if then else 1.0
    judges = cost_of(trial.judge_usage, suite.spec.config.judge_model or model)
    if run.header.model == model:
        if trial.cost is None or not trial.cost.known:
            return None
        more = (share - 1) * judges.usd
        return trial.cost.usd + more if judges.known or not more else None
    if trial.usage is None:
        return None
    agent = cost_of(_tokens(trial.usage), model)
    return agent.usd + share * judges.usd if agent.known and judges.known else None


def _reports(usage: Usage | None) -> bool:
    """Return whether a usage includes tokens or a cost; the number of turns alone is not enough."""
    return usage is not None and (
        usage.cost_usd is not None
        or usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens > 0
        or usage.premium_requests > 0
    )


def _tokens(usage: Usage) -> Usage:
    """Return the tokens alone: another model has another price."""
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )


def _costs(executor: str) -> bool:
    return executor not in EXECUTORS or EXECUTORS[executor].costs


def _prompts(suite: Suite, settings: RunSettings) -> int:
    if settings.limited and not settings.prompts:
        return 0
    try:
        tests = chosen_prompts(trigger_tests_of(suite), settings.prompts, suite)
    except SuiteFileError:
        return 0
    if tests is None:
        return 0
    repetitions = suite.spec.config.trials_per_task if suite.is_trigger_list else 1
    return repetitions * (len(tests.should_trigger_prompts) + len(tests.should_not_trigger_prompts))


def _of_prompts(newest: RunExpenses | None, prompts: int, workers: int) -> tuple[float | None, float]:
    """Return the cost of the trigger prompts and the seconds they add, from a run that had some."""
    if newest is None or not newest.prompts:
        return None, 0.0
    usd = None if newest.prompts_usd is None else newest.prompts_usd * prompts / newest.prompts
    then = newest.header.settings.get("workers")
    of_trials = sum(trial.duration_ms for trials in newest.tasks.values() for trial in trials)
    left = newest.duration_ms - of_trials / max(1, then if isinstance(then, int) else workers)
    return usd, max(0.0, left) / 1000 * prompts / newest.prompts
