"""Running a suite from its file to its results: the one way that the command, the editor and tests go.

``prepare`` finds out whether there is anything to run, ``PreparedRun.run`` runs it. Whatever happens, the
stream of events ends with ``ended``, every program that was started is gone then, and what was finished is on
the disk.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.base import Executor, ExecutorError, ExecutorSettings
from waza_engine.executors.registry import create_executor
from waza_engine.graders.processes import ProcessScope, current_scope
from waza_engine.results.outcomes import (
    MetricOutcome,
    RunHeader,
    RunOutcome,
    RunStatus,
    TaskOutcome,
    TriggerOutcome,
)
from waza_engine.results.recovery import recover_journals
from waza_engine.results.store import ResultsError, ResultStore
from waza_engine.runs.agent import AgentSetup, agent_setup
from waza_engine.runs.bounded import CancelledRunError
from waza_engine.runs.cancellation import RunCancellation
from waza_engine.runs.events import EventStream, RunEvent
from waza_engine.runs.hooks import HookError, run_hooks
from waza_engine.runs.metrics import decides, suite_metrics, unknown_metrics
from waza_engine.runs.selection import SelectedTask, select
from waza_engine.runs.suite import Suite, SuiteError, load_suite
from waza_engine.runs.tasks import TaskRunner
from waza_engine.runs.triggers import TriggerRun, run_triggers, trigger_tests_of
from waza_engine.scoring.tasks import TaskScore, suite_summary
from waza_engine.scoring.triggers import TriggerMetrics, trigger_metrics
from waza_engine.scoring.usage import added
from waza_engine.spec.loading import load_project_config
from waza_engine.spec.problems import SuiteFileError


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run. ``tasks`` are globs on ids and names, ``graders`` exact names.

    What is None is as the suite says.
    """

    path: Path
    tasks: Sequence[str] = ()
    graders: Sequence[str] = ()
    trials: int | None = None
    executor: str | None = None
    model: str | None = None
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run that has ended.

    ``results_file`` is None when nothing could be written, and ``write_error`` says why.
    """

    outcome: RunOutcome
    results_file: Path | None
    write_error: str = ""


@dataclass(slots=True)
class _Findings:
    """What has been found out so far; one thread adds to it."""

    tasks: dict[int, TaskOutcome] = field(default_factory=dict[int, TaskOutcome])
    triggers: list[TriggerOutcome] = field(default_factory=list[TriggerOutcome])
    trigger_metrics: TriggerMetrics | None = None
    metrics: list[MetricOutcome] = field(default_factory=list[MetricOutcome])
    message: str = ""
    write_error: str = ""


def prepare(request: RunRequest) -> PreparedRun:
    """Load the suite and choose what to run.

    Raises:
        SuiteFileError: when the eval file cannot be used.
        SuiteError: when there is nothing to run as asked, or no such executor.

    """
    suite = load_suite(request.path)
    if request.trials is not None and request.trials < 1:
        raise SuiteError(f"The number of trials must be 1 or more, not {request.trials}.")
    selected, warnings = select(suite, request.tasks, request.graders)
    name = request.executor or suite.spec.config.executor
    try:
        executor = create_executor(name, ExecutorSettings(suite.directory, suite.spec.config))
    except ExecutorError as error:
        raise SuiteError(f"{suite.path}: {error}.") from None
    warnings += unknown_metrics(suite.spec.metrics)
    return PreparedRun(request, suite, selected, executor, (*suite.warnings, *warnings))


class PreparedRun:
    """A run that can start. ``run`` is called once; it blocks until the run has ended."""

    def __init__(
        self,
        request: RunRequest,
        suite: Suite,
        tasks: Sequence[SelectedTask],
        executor: Executor,
        warnings: Sequence[str],
    ) -> None:
        started = datetime.now(UTC)
        config = suite.spec.config
        self.suite = suite
        self.warnings = tuple(warnings)
        self.trials = request.trials or config.trials_per_task
        self._tasks = tuple(tasks)
        self._executor = executor
        self._filtered = bool(request.tasks or request.graders)
        self._workers = request.workers or (config.workers if config.parallel else 1)
        self.header = RunHeader(
            run_id=f"run-{int(started.timestamp())}-{secrets.token_hex(3)}",
            started=started,
            eval_file=suite.path.name,
            eval_name=suite.spec.name,
            skill=suite.spec.skill,
            executor=executor.name,
            model=request.model or config.model,
            judge_model=config.judge_model,
            trials_per_task=self.trials,
            timeout_seconds=config.timeout_seconds,
            tasks=tuple(request.tasks),
            graders=tuple(request.graders),
        )

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that will run, in order."""
        return tuple(task.source.id for task in self._tasks)

    def run(self, listener: Callable[[RunEvent], None], cancellation: RunCancellation) -> RunReport:
        """Run everything; never raises for what the suite, an agent or the disk does.

        An error of the listener cancels the run, and is raised when everything is ended and kept.
        """
        return copy_context().run(self._run, listener, cancellation)

    def _run(self, listener: Callable[[RunEvent], None], cancellation: RunCancellation) -> RunReport:
        clock = time.monotonic()
        stream = EventStream(self.header.run_id, listener, cancellation.request)
        findings = _Findings()
        store = ResultStore(self.suite.directory, self.header)
        processes, assertions = ProcessScope(), AssertionEvaluator()
        current_scope.set(processes)
        closers = (processes.close, assertions.close, self._executor.close)
        for close in closers:
            cancellation.on_request(close)
        stream.send("run_started", total=len(self._tasks) * self.trials, completed=0)
        for warning in self.warnings:
            stream.send("output", message=f"warning: {warning}")
        try:
            self._carry_out(findings, store, stream, assertions, cancellation)
        except (HookError, SuiteError, SuiteFileError) as error:
            findings.message = str(error)
        except CancelledRunError:
            pass
        except Exception as error:  # noqa: BLE001 - a defect of ours must not lose the results
            findings.message = f"the run broke: {type(error).__name__}: {error}"
        try:
            with contextlib.ExitStack() as closing:
                for close in closers:
                    closing.callback(close)
        except Exception as error:  # noqa: BLE001 - an executor that ends badly must not lose the results
            findings.message = (
                findings.message or f"the run did not end well: {type(error).__name__}: {error}"
            )
        duration_ms = round((time.monotonic() - clock) * 1000)
        report = self._end(findings, store, stream, duration_ms, cancelled=cancellation.requested)
        if stream.failure is not None:
            raise stream.failure
        return report

    def _carry_out(
        self,
        findings: _Findings,
        store: ResultStore,
        stream: EventStream,
        assertions: AssertionEvaluator,
        cancellation: RunCancellation,
    ) -> None:
        _writing(findings, stream, lambda: recover_journals(self.suite.directory))
        _writing(findings, stream, store.open)
        suite, hooks = self.suite, self.suite.spec.hooks
        try:
            _warn(stream, run_hooks(hooks.before_run, suite.directory, cancellation))
            with agent_setup(suite, self.header.model, lambda text: _warn(stream, [text])) as agent:
                runner = TaskRunner(
                    suite=suite,
                    executor=self._executor,
                    model=self.header.model,
                    trials=self.trials,
                    assertions=assertions,
                    cancellation=cancellation,
                    stream=stream,
                    program_timeout_seconds=_program_timeout(suite, stream),
                )
                for position, outcome in runner.run(self._tasks, self._workers):
                    findings.tasks[position] = outcome
                    if outcome.status != "skipped" or outcome.trials:
                        _writing(findings, stream, lambda outcome=outcome: store.add(outcome))
                if not self._filtered:
                    self._try_triggers(findings, agent, stream, cancellation)
        finally:
            if not cancellation.requested:
                _warn(stream, run_hooks(hooks.after_run, suite.directory, cancellation, may_fail=True))

    def _try_triggers(
        self, findings: _Findings, agent: AgentSetup, stream: EventStream, cancellation: RunCancellation
    ) -> None:
        tests = trigger_tests_of(self.suite)
        if tests is None:
            return
        shared = TriggerRun(
            agent, self._executor, cancellation, lambda line: stream.send("output", message=line)
        )
        findings.triggers += run_triggers(tests, shared, self.suite.spec.config.workers)
        findings.trigger_metrics = trigger_metrics(findings.triggers)

    def _end(
        self,
        findings: _Findings,
        store: ResultStore,
        stream: EventStream,
        duration_ms: int,
        *,
        cancelled: bool,
    ) -> RunReport:
        tasks = [findings.tasks[position] for position in sorted(findings.tasks)]
        scores = [TaskScore(task.status, task.statistics) for task in tasks]
        usage = None
        for task in tasks:
            for trial in task.trials:
                usage = added(usage, trial.usage)
        findings.metrics = suite_metrics(self.suite.spec.metrics, tasks, findings.trigger_metrics)
        outcome = RunOutcome(
            header=self.header,
            status=_status(tasks, findings, cancelled=cancelled),
            tasks=tasks,
            summary=suite_summary(scores, duration_ms=duration_ms, trials_per_task=self.trials),
            usage=usage,
            metrics=findings.metrics,
            triggers=findings.triggers,
            trigger_metrics=findings.trigger_metrics,
            message=findings.message,
        )
        path: Path | None = None
        try:
            path = store.finish(outcome)
        except ResultsError as error:
            findings.write_error = str(error)
        status = "error" if path is None and outcome.status != "canceled" else outcome.status
        stream.send(
            "ended",
            status=status,
            results_file=None if path is None else str(path),
            message=findings.message or findings.write_error or None,
            score=outcome.summary.aggregate_score,
            completed=sum(len(task.trials) for task in tasks),
            total=len(self._tasks) * self.trials,
        )
        return RunReport(outcome, path, findings.write_error)


def _status(tasks: Sequence[TaskOutcome], findings: _Findings, *, cancelled: bool) -> RunStatus:
    if cancelled:
        return "canceled"
    if findings.message:
        return "error"
    well = all(task.status in ("passed", "skipped") for task in tasks)
    return (
        "completed"
        if well and all(metric.passed for metric in findings.metrics if decides(metric))
        else "failed"
    )


def _writing(findings: _Findings, stream: EventStream, write: Callable[[], object]) -> None:
    """Results that cannot be written are told once and do not end the run: its scores are still of use."""
    try:
        write()
    except ResultsError as error:
        if not findings.write_error:
            findings.write_error = str(error)
            stream.send("output", message=f"error: {error}")


def _program_timeout(suite: Suite, stream: EventStream) -> float:
    try:
        project, warnings = load_project_config(suite.directory)
    except SuiteFileError as error:
        stream.send("output", message=f"warning: {error}; its defaults are used")
        return 30.0
    _warn(stream, [str(warning) for warning in warnings])
    return float(project.graders.program_timeout)


def _warn(stream: EventStream, warnings: Sequence[str]) -> None:
    for warning in warnings:
        stream.send("output", message=f"warning: {warning}")
