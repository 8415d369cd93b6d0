"""The state of a run on a worker: its suite, agent, judges and helper processes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.executor import Executor, ExecutorSettings
from waza_engine.executors.executor_types import create_executor
from waza_engine.graders.matching.patterns import current_workers, pattern_workers
from waza_engine.masking import read_environment
from waza_engine.processes.scope import ProcessScope, current_scope
from waza_engine.results.record import ArrivedAnswer, TrialOutcome, TriggerOutcome
from waza_engine.runs.agent.command_mocks import command_programs
from waza_engine.runs.agent.setup import AgentSetup, agent_setup
from waza_engine.runs.events.stream import EventStream, Progress
from waza_engine.runs.grading.grader_cache import GraderCache
from waza_engine.runs.grading.judging import judge_executor
from waza_engine.runs.limits.budget import Meter, MeteredExecutor
from waza_engine.runs.limits.cancellation import RunCancellation, all_at_once
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.runs.passes.suite_pass import pass_without_skills
from waza_engine.runs.settings.options import explicit_settings, project_config, with_options, without_skills
from waza_engine.runs.settings.table import Budget, RunSettings
from waza_engine.runs.trials.context import RunContext, TrialRequest, TriggerRequest
from waza_engine.runs.trials.hooks import TaskHooks, run_task_hooks
from waza_engine.runs.trials.selection import SelectedTask, select, ungraded
from waza_engine.runs.trials.trial import Tell, TrialTask, run_trial
from waza_engine.runs.trials.triggers import try_prompt
from waza_engine.spec.reading.file_cache import FileCache

Request = TrialRequest | TriggerRequest
FoundT = TypeVar("FoundT")


class Host:
    """Executes trials of one run, with skills or without; also its trigger prompts and hooks of tasks.

    Thread-safe; loading a suite takes a while.

    Raises ``SuiteError``, ``SuiteFileError`` and ``ExecutorError`` when the suite cannot run here.
    """

    def __init__(
        self,
        run_id: str,
        settings: RunSettings,
        cancellation: RunCancellation,
        *,
        file: str,
        baseline: bool,
        started_in: Path,
        prepared: set[tuple[str, int]],
    ) -> None:
        """``file`` is that of the first trial: of a suite, no other task file is read before it is needed.

        Hooks run where the run was ``started_in``. ``prepared`` are the tasks, by file and position, before
        which they have run on this worker.
        """
        read_environment()
        self._settings = settings
        self._cancellation = cancellation
        self._baseline = baseline
        self._files = FileCache()
        loaded = load_suite(settings.path, explicit_settings(settings), only=file, cache=self._files)
        self._project, _ = project_config(loaded.directory)
        suite = with_options(loaded, settings, self._project)
        self._suite = without_skills(suite) if baseline else suite
        self._tasks: dict[tuple[str, int], TrialTask] = {}
        self._graders = GraderCache()
        self._started_in = started_in
        self._prepared = prepared
        self._preparing: dict[tuple[str, int], threading.Lock] = {}
        self._lock = threading.Lock()
        self._meters: set[Meter] = set()
        self._program_timeout_seconds = float(self._project.graders.program_timeout)
        config = suite.spec.config
        for_executor = ExecutorSettings(suite.directory, config, suite.path.name)
        self._executor = create_executor(config.executor, for_executor)
        self._judges = judge_executor(
            settings.judge_executor, self._executor, for_executor, lambda created: created
        )
        self._processes, self._patterns = ProcessScope(), pattern_workers()
        self._assertions = AssertionEvaluator()
        # The coordinator sends the events.
        self._stream = EventStream(run_id, lambda event: None, lambda: None)
        self._setup = contextlib.ExitStack()
        self._agent: AgentSetup = self._setup.enter_context(
            agent_setup(self._suite, config.model, lambda warning: None)
        )

    @property
    def agent_costs(self) -> bool:
        """Return whether the agent may cost money."""
        return self._executor.costs

    @property
    def judges_cost(self) -> bool:
        """Return whether the judges may cost money."""
        return self._judges.costs

    def execute(
        self,
        request: TrialRequest,
        meter: Meter,
        tell: Tell,
        keep: Callable[[TrialOutcome], None],
        keep_answer: Callable[[ArrivedAnswer], None],
    ) -> TrialOutcome:
        """Execute a trial; its calls are counted by ``meter``. Raises as ``run_trial`` does.

        The hooks before its task run if they have not run on this worker: another one that had the task is
        gone. Raises ``HookError``.
        """
        trial = self._task(request)
        context = self._context(meter, keep_answer)

        def run() -> TrialOutcome:
            for warning in self._prepare(request, context):
                tell(f"warning: {warning}")
            return run_trial(trial, request, context, tell, keep)

        return self._metered(meter, run)

    def try_prompt(
        self,
        request: TriggerRequest,
        meter: Meter,
        asked: Callable[[], None],
        keep_answer: Callable[[ArrivedAnswer], None],
    ) -> TriggerOutcome:
        """Try a trigger prompt; its calls are counted by ``meter``. Raises as ``try_prompt`` does."""
        context = self._context(meter, keep_answer)
        return self._metered(meter, lambda: try_prompt(request, context, asked))

    def run_hooks(self, request: TrialRequest, when: TaskHooks) -> list[str]:
        """Run the hooks before or after a task. Raises as ``run_task_hooks`` does."""
        self._task(request)
        meter = Meter(Budget())
        context = self._context(meter, lambda answer: None)

        def run() -> list[str]:
            if when == "after_task":
                self._prepared.discard((request.file, request.place))
                return run_task_hooks(context, when, self._started_in)
            return self._prepare(request, context)

        return self._metered(meter, run)

    def _prepare(self, request: TrialRequest, context: RunContext) -> list[str]:
        """Run the hooks before a task unless they have run here; return their warnings."""
        task = request.file, request.place
        with self._lock:
            preparing = self._preparing.setdefault(task, threading.Lock())
        # Other trials of the task need what the hooks of the first prepare.
        with preparing:
            if task in self._prepared:
                return []
            warnings = run_task_hooks(context, "before_task", self._started_in)
            self._prepared.add(task)
            return warnings

    def _context(self, meter: Meter, keep_answer: Callable[[ArrivedAnswer], None]) -> RunContext:
        agent = MeteredExecutor(self._executor, meter)
        judges: Executor = agent if self._judges is self._executor else MeteredExecutor(self._judges, meter)
        return RunContext(
            settings=self._settings,
            suite=self._suite,
            executor=agent,
            judges=judges,
            assertions=self._assertions,
            cancellation=self._cancellation,
            progress=Progress(self._stream, 0),
            agent=self._agent,
            program_timeout_seconds=self._program_timeout_seconds,
            baseline=self._baseline,
            keep_answer=keep_answer,
        )

    def _metered(self, meter: Meter, call: Callable[[], FoundT]) -> FoundT:
        """Make a call whose programs belong to the run, and that ends when the limit is reached."""

        def run() -> FoundT:
            current_scope.set(self._processes)
            current_workers.set(self._patterns)
            return call()

        with self._lock:
            self._meters.add(meter)
        try:
            return copy_context().run(run)
        finally:
            with self._lock:
                self._meters.discard(meter)

    def reach_limit(self, reason: str) -> None:
        """End the calls under way: the run has reached its limit."""
        with self._lock:
            meters = tuple(self._meters)
        for meter in meters:
            meter.stop(reason)

    def close(self) -> None:
        """End everything that was started for the run; can be called twice."""
        all_at_once(
            (
                self._processes.close,
                self._assertions.close,
                self._patterns.close,
                self._executor.close,
                self._judges.close,
            )
        )
        self._setup.close()

    def _task(self, request: TrialRequest) -> TrialTask:
        with self._lock:
            task = request.file, request.place
            if task not in self._tasks:
                self._tasks[task] = self._built(request)
            return self._tasks[task]

    def _built(self, request: TrialRequest) -> TrialTask:
        loaded = load_suite(
            self._settings.path, explicit_settings(self._settings), only=request.file, cache=self._files
        )
        source = next((task for task in loaded.tasks if task.place == request.place), None)
        if source is None or loaded.digest_of(source) != request.digest:
            raise SuiteError(f"{loaded.directory / request.file} is not the file that the run began with.")
        alone = with_options(replace(loaded, tasks=(source,)), self._settings, self._project)
        self._setup.enter_context(command_programs(alone, lambda warning: None))
        selected, _ = select(alone, (), self._settings.graders, build=self._graders.create)
        tasks: tuple[SelectedTask, ...] = tuple(selected)
        if self._settings.skip_graders:
            tasks = ungraded(tasks)
        if self._baseline:
            tasks = pass_without_skills(alone, tasks).tasks
        (task,) = tasks
        if task.trial is None:
            raise SuiteError(task.source.error)
        return task.trial
