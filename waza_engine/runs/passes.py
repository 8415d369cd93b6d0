"""One pass through a suite: hooks, tasks, triggers. A baseline run makes two, with skills and without."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.base import Executor
from waza_engine.results.outcomes import MetricOutcome, TaskOutcome, TriggerOutcome
from waza_engine.runs.agent import AgentSetup, agent_setup
from waza_engine.runs.bounded import CancelledRunError
from waza_engine.runs.budget import MeteredExecutor
from waza_engine.runs.caching import TaskCache
from waza_engine.runs.cancellation import RunCancellation
from waza_engine.runs.hooks import run_hooks
from waza_engine.runs.metrics import suite_metrics
from waza_engine.runs.selection import SelectedTask
from waza_engine.runs.suite import Suite
from waza_engine.runs.tasks import Progress, TaskRunner
from waza_engine.runs.trial import TrialTools
from waza_engine.runs.triggers import TriggerRun, run_triggers, trigger_tests_of
from waza_engine.scoring.triggers import TriggerMetrics, trigger_metrics


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass runs: the suite as it is then, and the tasks of it."""

    suite: Suite
    tasks: tuple[SelectedTask, ...]
    baseline: bool = False


@dataclass(slots=True)
class Findings:
    """What has been found out so far; one thread adds to it. ``duration_ms`` is the pass's wall clock."""

    tasks: dict[int, TaskOutcome] = field(default_factory=dict[int, TaskOutcome])
    triggers: list[TriggerOutcome] = field(default_factory=list[TriggerOutcome])
    trigger_metrics: TriggerMetrics | None = None
    metrics: list[MetricOutcome] = field(default_factory=list[MetricOutcome])
    duration_ms: int = 0

    @property
    def in_order(self) -> list[TaskOutcome]:
        """The tasks as the suite lists them."""
        return [self.tasks[position] for position in sorted(self.tasks)]


@dataclass(frozen=True, slots=True)
class PassTools:
    """What the passes of a run share. ``on_task`` is called as each task is finished."""

    executor: MeteredExecutor
    model: str
    trials: int
    workers: int
    assertions: AssertionEvaluator
    cancellation: RunCancellation
    progress: Progress
    on_task: Callable[[TaskOutcome, bool], None]
    program_timeout_seconds: float
    with_triggers: bool
    keep_workspace: bool = False
    cache: TaskCache | None = None
    group: str = ""
    judge_executor: Executor | None = None


def run_pass(
    chosen: Pass, tools: PassTools, findings: Findings, baseline_outputs: Mapping[str, Sequence[str]]
) -> None:
    """Carry out a pass. What is found out stays in ``findings``, whatever is raised.

    Raises ``HookError``, ``SuiteError``, ``SuiteFileError`` and ``CancelledRunError``.
    """
    started = time.monotonic()
    suite, hooks, cancellation = chosen.suite, chosen.suite.spec.hooks, tools.cancellation
    try:
        _warn(tools, run_hooks(hooks.before_run, suite.directory, cancellation))
        _run_tasks(chosen, tools, findings, baseline_outputs)
    finally:
        findings.duration_ms = round((time.monotonic() - started) * 1000)
        findings.metrics = suite_metrics(suite.spec.metrics, findings.in_order, findings.trigger_metrics)
        if not cancellation.requested:
            _warn(tools, run_hooks(hooks.after_run, suite.directory, cancellation, may_fail=True))


def outputs_of(findings: Findings) -> dict[str, list[str]]:
    """Return what the agent answered, by task id, a text for each trial that has an answer."""
    return {
        task.id: [trial.output for trial in task.trials if trial.output]
        for task in findings.tasks.values()
        if any(trial.output for trial in task.trials)
    }


def _run_tasks(
    chosen: Pass, tools: PassTools, findings: Findings, baseline_outputs: Mapping[str, Sequence[str]]
) -> None:
    with agent_setup(chosen.suite, tools.model, lambda text: _warn(tools, [text])) as agent:
        runner = TaskRunner(
            tools=TrialTools(
                suite=chosen.suite,
                executor=tools.executor,
                model=tools.model,
                assertions=tools.assertions,
                cancellation=tools.cancellation,
                program_timeout_seconds=tools.program_timeout_seconds,
                baseline_outputs=baseline_outputs,
                keep_workspace=tools.keep_workspace,
                agent=agent,
                judge_executor=tools.judge_executor,
            ),
            executor=tools.executor,
            trials=tools.trials,
            cancellation=tools.cancellation,
            progress=tools.progress,
            cache=tools.cache,
            baseline=chosen.baseline,
            group=tools.group,
        )
        try:
            for position, outcome in runner.run(chosen.tasks, tools.workers):
                findings.tasks[position] = outcome
                tools.on_task(outcome, chosen.baseline)
        except CancelledRunError:
            findings.tasks.update(runner.unfinished(chosen.tasks, findings.tasks))
            raise
        if tools.with_triggers and not chosen.baseline:
            _try_triggers(chosen, tools, agent, findings)


def _try_triggers(chosen: Pass, tools: PassTools, agent: AgentSetup, findings: Findings) -> None:
    """Try the trigger prompts; when the limit cuts them, their figures would be of those that came first."""
    tests = trigger_tests_of(chosen.suite)
    if tests is None or tools.executor.refuses():
        return
    stream = tools.progress.stream
    shared = TriggerRun(
        agent, tools.executor, tools.cancellation, lambda line: stream.send("output", message=line)
    )
    for found in run_triggers(tests, shared, chosen.suite.spec.config.workers):
        findings.triggers.append(found)
    reason = tools.executor.reason
    tried = findings.triggers
    findings.triggers = [found for found in tried if not reason or found.error != reason]
    if len(findings.triggers) == len(tried):
        findings.trigger_metrics = trigger_metrics(tried)


def _warn(tools: PassTools, warnings: Sequence[str]) -> None:
    for warning in warnings:
        tools.progress.stream.send("output", message=f"warning: {warning}")
