"""Prepare a run: load the suite, select its tasks, create its executors, and check what can fail early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from waza_engine.executors.executor import Executor, ExecutorError, ExecutorSettings
from waza_engine.executors.executor_types import create_executor
from waza_engine.graders.judging.judges import limit_warning
from waza_engine.masking import read_environment
from waza_engine.results.reading.expenses import expenses_of
from waza_engine.runs.choosing import choose_tasks
from waza_engine.runs.grading.judging import judge_executor
from waza_engine.runs.limits.budget import Meter, MeteredExecutor
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.passes.caching import TaskCache, cache_directory
from waza_engine.runs.passes.suite_pass import (
    Pass,
    baseline_pass,
    check_prices,
    judge_models,
    unknown_metrics,
    untested_metrics,
)
from waza_engine.runs.preflight.inspection import check_reachable, pass_preflight
from waza_engine.runs.run import PreparedRun
from waza_engine.runs.settings.options import project_boundary, written_folders
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.shards import recorded_shard, shard_of
from waza_engine.runs.trials.backend import BackendFactory, ThreadBackend
from waza_engine.runs.trials.selection import SelectedTask, graders_of, ungraded
from waza_engine.runs.trials.triggers import chosen_prompts, trigger_tests_of
from waza_engine.scoring.cost import Cost, Spending, tokens_of

if TYPE_CHECKING:
    from waza_engine.results.reading.recordings import Recording
    from waza_engine.runs.passes.affected import Affected
    from waza_engine.runs.resuming import EarlierRun


def prepare(
    settings: RunSettings,
    within: Meter | None = None,
    backend: BackendFactory = ThreadBackend,
    *,
    kept: bool = False,
) -> PreparedRun:
    """Load the suite and choose what to run.

    ``within`` is the meter of several runs that share a limit; ``backend`` executes the trials. ``kept`` is
    true when the results are also written to a file of the caller.

    Raises:
        SuiteFileError: when the eval file or the file of trigger prompts cannot be used.
        SuiteError: when there is nothing to run as requested, no such executor, a limit that cannot be kept,
            or when something would be paid in vain; a ``NothingAffectedError`` when no change affects a task.

    """
    read_environment()
    settings, recording = _resumed(settings)
    choice = choose_tasks(settings)
    suite, project, selected = choice.suite, choice.project, choice.tasks
    if settings.prompts:
        chosen_prompts(trigger_tests_of(suite), settings.prompts, suite)
    warnings = [*choice.warnings, *unknown_metrics(suite.spec.metrics)]
    changed = None
    if settings.changed_since is not None:
        # Few runs ask git.
        from waza_engine.runs.passes.affected import affected_tasks

        changed = affected_tasks(suite, selected, settings, project, choice.build)
        selected, warnings = changed.tasks, [*warnings, *changed.warnings]
    chosen = ungraded(selected) if settings.skip_graders else tuple(selected)
    dealt = shard_of(settings, suite, chosen) if recording is None else recorded_shard(recording, chosen)
    shard, tasks = dealt
    tries_triggers = _tries_triggers(settings, changed) and (shard is None or shard.tries_triggers)
    # A broken file of prompts ends the run before its tasks are paid for.
    triggers = tries_triggers and trigger_tests_of(suite) is not None
    config = suite.spec.config
    cache = cache_directory(settings, suite, project)
    written = written_folders(settings, suite.directory, project)
    try:
        for_executor = ExecutorSettings(suite.directory, config, suite.path.name)
        executor = create_executor(config.executor, for_executor)
    except ExecutorError as error:
        raise SuiteError(f"{suite.path}: {error}.") from None
    warnings += executor.warnings
    # A resumed run has limits of its own.
    meter = Meter(settings.budget, None if recording is not None else within)
    agent = MeteredExecutor(executor, meter)
    try:
        judges = judge_executor(
            settings.judge_executor,
            agent,
            for_executor,
            lambda made: MeteredExecutor(made, meter),
        )
    except ExecutorError as error:
        executor.close()
        raise SuiteError(f"{suite.path}: {error}.") from None
    judged = any(built.grader is not None and built.grader.judged for built in graders_of(tasks))
    try:
        costs = agent.costs or judges.costs
        earlier = _earlier(recording, suite, tasks, chosen, settings, meter, costs=costs)
        warnings += [earlier.words] if earlier else []
        if costs:
            asked = judge_models(suite, tasks) if judges.has_model else ()
            # An agent that reports the cost of a call needs no list price.
            by_list = executor.costs and not executor.reports_cost
            warnings += check_prices(settings.budget, config.model if by_list else "", asked)
            _note_prices(meter, suite, agent)
            for task in earlier.lost if earlier else ():
                meter.keep_reserved(task)
        if settings.cache and cache is None:
            warnings.append("tasks of a `scenario` are not cached, so every one of them runs")
        without, left_out = baseline_pass(suite, tasks) if tasks else (None, list[str]())
        warnings += left_out
        warnings += pass_preflight(suite, tasks, agent, judges, kept=kept, triggers=triggers)
        if cache is None:
            check_reachable(suite, agent, *([judges] if judged and judges is not agent else []))
    except SuiteError:
        executor.close()
        judges.close()
        raise
    if judged:
        warnings += filter(None, [limit_warning()])
    if tries_triggers and not triggers:
        warnings += untested_metrics(suite.spec.metrics)
    return PreparedRun(
        replace(settings, cache=cache is not None),
        Pass(suite, tasks, triggers=tries_triggers),
        without,
        agent,
        judges,
        meter,
        cache=cache
        and TaskCache(
            cache,
            executor.name,
            config.model,
            judges.name,
            written=written,
            within=None if settings.cache_directory is not None else project_boundary(suite.directory),
        ),
        project=project,
        backend=backend,
        warnings=warnings,
        kept=kept,
        affected=changed,
        earlier=earlier,
        chosen=chosen,
        shard=shard,
    )


def _resumed(settings: RunSettings) -> tuple[RunSettings, Recording | None]:
    """Return the settings of the run that goes on, and its record; as given when none does."""
    if settings.retry and not settings.resume:
        raise SuiteError("`--retry` goes with `--resume`; add it.")
    if not settings.resume:
        return settings, None
    # Few runs go on with another one.
    from waza_engine.runs.resuming import recording_to_resume, resumed_settings

    recording = recording_to_resume(settings)
    return resumed_settings(settings, recording.header), recording


def _earlier(
    recording: Recording | None,
    suite: Suite,
    tasks: Sequence[SelectedTask],
    chosen: Sequence[SelectedTask],
    settings: RunSettings,
    meter: Meter,
    *,
    costs: bool,
) -> EarlierRun | None:
    if recording is None:
        return None
    from waza_engine.runs.resuming import earlier_run

    earlier = earlier_run(recording, suite, tasks, chosen, settings.retry, costs=costs)
    meter.carry(earlier.spent)
    if meter.reason:
        raise SuiteError(f"{meter.reason}; give a higher limit.")
    return earlier


def _note_prices(meter: Meter, suite: Suite, agent: Executor) -> None:
    """Note, for a limit, the prices of trials that were recorded with the same agent, the newest last."""
    recorded = expenses_of(suite.directory, suite.path.name) if meter.budget.limited else ()
    for run in reversed([*recorded]):
        if (run.header.executor, run.header.model) == (agent.name, suite.spec.config.model):
            for task, trials in run.tasks.items():
                for trial in trials:
                    tokens = tokens_of(trial.judge_usage) + (tokens_of(trial.usage) if agent.costs else 0)
                    meter.prices.add(task, Spending(tokens, trial.cost or Cost()))


def _tries_triggers(settings: RunSettings, changed: Affected | None) -> bool:
    """Return whether trigger prompts are tried: with the whole suite, or on request."""
    if changed is not None:
        return changed.triggers
    return bool(settings.prompts) or not settings.limited
