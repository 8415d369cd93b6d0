"""Execute a prepared run.

However a run ends, its last event is ``ended``; every started program is gone then, and finished results
are on the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.boundary import suite_boundary
from waza_engine.executors.executor import Executor
from waza_engine.graders.matching.patterns import current_workers, pattern_workers
from waza_engine.processes.git import commit_of
from waza_engine.processes.scope import ProcessScope, current_scope
from waza_engine.results.conclusion import conclude
from waza_engine.results.inputs import inputs_digest
from waza_engine.results.record import (
    RunHeader,
    RunOutcome,
    RunStatus,
    TaskOutcome,
    TrialOutcome,
    TriggerOutcome,
    UnjudgedAnswer,
)
from waza_engine.results.stored_lists import Transcripts
from waza_engine.results.task_conclusion import conclude_task
from waza_engine.results.writing.store import (
    Attachments,
    ResultsError,
    ResultStore,
    keep_inputs,
    recover_journals,
    rescued_to,
    write_copy,
)
from waza_engine.results.writing.transcripts import write_transcript
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.agent.trial_workspace import WorkspaceError, prompt_of
from waza_engine.runs.events.session_log import SessionListener, SessionLog
from waza_engine.runs.events.stream import EventStream, Progress, RunEvent
from waza_engine.runs.limits.budget import Meter, MeteredExecutor
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation, all_at_once
from waza_engine.runs.loading.suite_on_disk import AlreadyResumedError, Suite, SuiteError
from waza_engine.runs.passes.caching import TaskCache
from waza_engine.runs.passes.deciding_files import current_inputs, stored_inputs
from waza_engine.runs.passes.suite_pass import Findings, Handling, Pass, judge_models, outputs_of, run_pass
from waza_engine.runs.passes.task_runs import ENDED_BEFORE, unrun_task
from waza_engine.runs.settings.options import project_boundary, run_header, second_results, session_logs
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import BackendFactory
from waza_engine.runs.trials.context import RunContext
from waza_engine.runs.trials.hooks import HookError
from waza_engine.runs.trials.selection import SelectedTask, compares, graders_of
from waza_engine.scoring.cost import Spending, total
from waza_engine.scoring.impact import PairwiseImpact, pairwise_impact, skill_impact
from waza_engine.scoring.task_scores import TaskScore, suite_summary
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.vocabulary import unique_names

if TYPE_CHECKING:
    from waza_engine.runs.passes.affected import Affected
    from waza_engine.runs.resuming import EarlierRun
    from waza_engine.runs.shards import Shard


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run that has ended.

    ``results_file`` is None when nothing could be written, and ``write_error`` says why. ``lost`` names other
    requested output that could not be written, such as transcripts.
    """

    outcome: RunOutcome
    results_file: Path | None
    write_error: str = ""
    lost: str = ""


@dataclass(slots=True)
class _RunState:
    """The state of a run: the results of its passes, and its errors.

    ``meter`` is set for a run that costs and whose results must be stored.
    """

    store: ResultStore
    attachments: Attachments
    transcripts: Transcripts
    stream: EventStream
    meter: Meter | None = None
    findings: Findings = field(default_factory=Findings)
    baseline: Findings | None = None
    message: str = ""
    write_error: str = ""
    lost: str = ""

    def writing(self, write: Callable[[], object], *, extra: bool = False) -> None:
        """Write results; report the first failure only: the scores of the run are still useful.

        ``extra`` is other requested output than the result file: its failure is reported at the end.
        """
        try:
            write()
        except ResultsError as error:
            if extra:
                self.lost = self.lost or str(error)
                return
            if self.meter is not None:
                self.meter.refusal = str(error)
            if not self.write_error:
                self.write_error = str(error)
                self.stream.send("output", message=f"error: {error}")


class PreparedRun:
    """A run that can start. ``run`` is called once; it blocks until the run has ended."""

    def __init__(
        self,
        settings: RunSettings,
        main: Pass,
        without: Pass | None,
        executor: MeteredExecutor,
        judges: Executor,
        meter: Meter,
        *,
        cache: TaskCache | None,
        project: ProjectConfig,
        backend: BackendFactory,
        warnings: Sequence[str],
        kept: bool,
        affected: Affected | None = None,
        earlier: EarlierRun | None = None,
        chosen: Sequence[SelectedTask] = (),
        shard: Shard | None = None,
    ) -> None:
        """``chosen`` are the tasks of all shards, from which ``main`` has those of one ``shard``."""
        config = main.suite.spec.config
        self.suite: Suite = main.suite
        self.warnings = tuple(dict.fromkeys(warnings))
        self.trials = config.trials_per_task
        self.baseline = without is not None
        self._settings = settings
        # Results that are paid for must be stored somewhere.
        self._must_store = not kept and (executor.costs or judges.costs)
        self._main = main
        self._without = without
        self._executor = executor
        self._judges = judges
        self._meter = meter
        self._cache = cache
        self._backend = backend
        self._program_timeout_seconds = float(project.graders.program_timeout)
        self._session_logs = session_logs(settings, main.suite.directory, project)
        named = settings.session_directory is not None
        self._within_session_logs = None if named else suite_boundary(main.suite.directory)
        self._earlier = earlier
        self._chosen = chosen
        self._copies = second_results(main.suite.directory, project)
        self.verbose = project.defaults.verbose
        # Each shard of a run has the header of the whole.
        models = judge_models(main.suite, chosen) if judges.has_model else ()
        self.header = run_header(
            main.suite,
            settings,
            library=executor.library,
            judge_models=models,
            affected=None if affected is None else affected.document(),
            resumed=None if earlier is None else earlier.run_id,
            shard=None if shard is None else shard.document(),
            grader_names={name for task in chosen for name in task.grader_names},
        )

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that will run, in order."""
        return tuple(task.source.id for task in self._main.tasks)

    @property
    def _planned(self) -> dict[str, str]:
        """The names of the tasks that will run, by their ids."""
        return {task.source.id: task.source.name for task in self._main.tasks}

    @property
    def total(self) -> int:
        """Return how many trials there are, those of the baseline included."""
        passes = 1 if self._without is None else 2
        return passes * len(self._main.tasks) * self.trials

    def run(
        self,
        listener: Callable[[RunEvent], None],
        cancellation: RunCancellation,
    ) -> RunReport:
        """Run everything; never raises for errors of the suite, an agent or the disk.

        Raises ``AlreadyResumedError``, and leaves no file, when another run has resumed the same run.
        An error of the listener cancels the run, and is raised when everything is ended and stored.
        """
        return copy_context().run(self._run, listener, cancellation)

    def _run(
        self,
        listener: Callable[[RunEvent], None],
        cancellation: RunCancellation,
    ) -> RunReport:
        clock = time.monotonic()
        log = self._session_log(listener)
        stream = EventStream(
            self.header.run_id, listener if log is None else log.handle, cancellation.request
        )
        deciding = current_inputs(self.suite, self._chosen)
        inputs, directory = stored_inputs(deciding), self.suite.directory
        commit = commit_of(directory, [directory / file.path for file in deciding.files])
        self.header = replace(self.header, inputs=inputs_digest(deciding), commit=commit)
        before = None if self._earlier is None else self._earlier.spent_elsewhere
        store = ResultStore(self.suite.directory, self.header, self._planned, before)
        attachments = Attachments(store.path, within=store.within)
        transcripts = Transcripts(store.path.parent)
        state = _RunState(store, attachments, transcripts, stream, self._meter if self._must_store else None)
        processes, assertions, patterns = ProcessScope(), AssertionEvaluator(), pattern_workers()
        current_scope.set(processes)
        current_workers.set(patterns)
        closers = (
            processes.close,
            assertions.close,
            patterns.close,
            self._executor.close,
            self._judges.close,
        )
        cancellation.on_request(lambda: all_at_once(closers))
        stream.send("run_started", total=self.total, completed=0, results_file=str(store.path))
        for warning in self.warnings:
            stream.send("output", message=f"warning: {warning}")
        try:
            self._execute(state, inputs, assertions, cancellation)
        except AlreadyResumedError as error:
            all_at_once(closers)
            stream.send("ended", status="error", message=str(error))
            raise
        except (HookError, SuiteError, SuiteFileError) as error:
            state.message = str(error)
        except CancelledRunError:
            pass
        except Exception as error:  # noqa: BLE001 - a defect of ours must not lose the results
            state.message = f"the run broke: {type(error).__name__}: {error}"
        try:
            all_at_once(closers)
        except Exception as error:  # noqa: BLE001 - an executor that ends badly must not lose the results
            state.message = state.message or f"the run did not end well: {type(error).__name__}: {error}"
        duration_ms = round((time.monotonic() - clock) * 1000)
        report = self._end(state, duration_ms, cancellation)
        if log is not None and log.failure:
            report = replace(report, lost=report.lost or log.failure)
        if stream.failure is not None:
            raise stream.failure
        return report

    def _session_log(self, listener: Callable[[RunEvent], None]) -> SessionListener | None:
        if self._session_logs is None:
            return None
        graded = [task for task in self._main.tasks if task.trial is not None]
        return SessionListener(
            listener,
            SessionLog(self._session_logs, self.header.started, within=self._within_session_logs),
            self.header,
            eval_file=str(self.suite.path),
            tasks=self._planned,
            grader_types={
                (task.source.id, built.name): built.entry.type
                for task in graded
                for built in graders_of([task])
            },
        )

    def _execute(
        self,
        state: _RunState,
        inputs: bytes,
        assertions: AssertionEvaluator,
        cancellation: RunCancellation,
    ) -> None:
        state.writing(lambda: recover_journals(self.suite.directory))
        state.writing(lambda: self._open(state.store))
        if not state.write_error:
            state.writing(lambda: keep_inputs(state.store.path, self.header.inputs, inputs), extra=True)
        self._store_earlier(state)
        if state.write_error and self._must_store:
            raise SuiteError(f"{state.write_error} Nothing was run, for nothing could be kept.")
        suite, main = self.suite, self._main
        context = RunContext(
            settings=self._settings,
            suite=suite,
            executor=self._executor,
            judges=self._judges,
            assertions=assertions,
            cancellation=cancellation,
            progress=Progress(state.stream, self.total),
            agent=AgentSetup(suite),
            program_timeout_seconds=self._program_timeout_seconds,
            keep_answer=lambda answer: state.writing(lambda: state.store.add_answer(answer)),
        )
        handling = Handling(
            self._backend,
            self._cache,
            lambda task, baseline: self._store(state, task, baseline=baseline),
            lambda task_id, trial, baseline: state.writing(
                lambda: state.store.add_trial(task_id, trial, baseline=baseline)
            ),
            lambda trigger: self._store_trigger(state, trigger),
            lambda task_id, trial, baseline: state.writing(
                lambda: state.store.add_asked(task_id, trial, baseline=baseline)
            ),
            lambda prompt: state.writing(lambda: state.store.add_asked_prompt(prompt)),
            self._earlier_trials,
            () if self._earlier is None else self._earlier.triggers,
        )
        # A grader that compares needs the baseline's answer first.
        first = self._without is not None and any(compares(task) for task in main.tasks)
        if first:
            self._run_baseline(state, context, handling)
            outputs = outputs_of(state.baseline or Findings())
            run_pass(main, replace(context, baseline_outputs=outputs), handling, state.findings)
        else:
            run_pass(main, context, handling, state.findings)
            self._run_baseline(state, context, handling)

    def _open(self, store: ResultStore) -> None:
        if self._earlier is None:
            store.open()
            return
        from waza_engine.runs.resuming import open_store_of_resumed

        open_store_of_resumed(store, self.suite.directory, self._earlier.run_id)

    def _earlier_trials(self, baseline: bool) -> Mapping[str, Sequence[TrialOutcome]]:
        return {} if self._earlier is None else self._earlier.trials_of(baseline=baseline)

    def _store_earlier(self, state: _RunState) -> None:
        """Write the trials of the run that this one goes on with: it may be interrupted as well."""
        for baseline in (False, True):
            for task_id, trials in self._earlier_trials(baseline).items():
                for trial in trials:
                    state.writing(partial(state.store.add_trial, task_id, trial, baseline=baseline))
        for trigger in () if self._earlier is None else self._earlier.triggers:
            state.writing(partial(state.store.add_trigger, trigger))

    def _add_unrun(self, findings: Findings, chosen: Pass, why: str) -> None:
        """Add the tasks of a pass that did not come to them; their earlier trials stay in the record."""
        earlier = self._earlier_trials(chosen.baseline)
        for position, selected in enumerate(chosen.tasks):
            if position not in findings.tasks and (not chosen.baseline or earlier):
                unrun = unrun_task(selected, f"{why}; no trial ran")
                findings.tasks[position] = replace(unrun, trials=tuple(earlier.get(unrun.id, ())))

    def _run_baseline(self, state: _RunState, context: RunContext, handling: Handling) -> None:
        if self._without is not None:
            state.baseline = Findings()
            run_pass(self._without, context, handling, state.baseline)

    def _store(self, state: _RunState, task: TaskOutcome, *, baseline: bool) -> TaskOutcome:
        if task.status != "skipped" or task.trials:
            state.writing(lambda: state.store.add(state.attachments.of(task), baseline=baseline))
        self._check_stored(state)
        directory = self._settings.transcript_directory
        if directory is not None and task.trials and not baseline:
            state.writing(
                lambda: write_transcript(directory, task, self._prompt(task), self.header.started), extra=True
            )
        # Without a file of results there is no folder to write to.
        return task if state.write_error else state.transcripts.stored(task)

    def _store_trigger(self, state: _RunState, trigger: TriggerOutcome) -> None:
        state.writing(lambda: state.store.add_trigger(trigger))
        self._check_stored(state)

    def _check_stored(self, state: _RunState) -> None:
        if state.write_error and self._must_store:
            raise SuiteError(f"{state.write_error} The run ends here, for nothing more could be kept.")

    def _prompt(self, task: TaskOutcome) -> str:
        spec = next((found.trial for found in self._main.tasks if found.source.id == task.id), None)
        try:
            return "" if spec is None else prompt_of(spec.spec, spec.path)
        except WorkspaceError:
            return ""

    def _end(self, state: _RunState, duration_ms: int, cancellation: RunCancellation) -> RunReport:
        cancelled = cancellation.requested
        # For a run that was killed, the conclusion already says so.
        asked_for = f"{cancellation.words}; what was finished is kept" if cancellation.by_person else ""
        ending = Ending(state.message or asked_for, cancelled, self._meter, duration_ms)
        if cancelled or state.message:
            why = cancellation.words if cancelled else ENDED_BEFORE
            state.baseline = state.baseline or (Findings() if self._earlier_trials(True) else None)
            for findings, chosen in ((state.findings, self._main), (state.baseline, self._without)):
                if findings is not None and chosen is not None:
                    self._add_unrun(findings, chosen, why)
        if self._earlier is not None:
            tried = {trigger.prompt for trigger in state.findings.triggers}
            state.findings.triggers += [each for each in self._earlier.triggers if each.prompt not in tried]
        outcome = run_outcome(self.header, state.findings, state.baseline, ending)
        path: Path | None = None
        try:
            path = state.store.finish(state.attachments.of_run(outcome))
        except ResultsError as error:
            # If it could not be written from the start, that was reported then, with the reason.
            state.write_error = state.write_error or str(error)
            state.stream.send("output", message=f"warning: {rescued_to(state.store.path.name, outcome)}")
        copies = self._copies
        if copies is not None:
            within = project_boundary(self.suite.directory)
            state.writing(lambda: write_copy(copies, outcome, within=within), extra=True)
        found = conclude(outcome)
        status = found.status if outcome.status == "completed" else outcome.status
        if path is None and status != "canceled":
            status = "error"
        both = [*outcome.tasks, *(outcome.baseline.tasks if outcome.baseline else ())]
        state.stream.send(
            "ended",
            status=status,
            results_file=None if path is None else str(path),
            message=outcome.message or state.write_error or state.lost or None,
            score=found.score if found.scored else None,
            completed=sum(not trial.stopped for task in both for trial in task.trials),
            total=self.total,
            conclusion=found.document(),
        )
        return RunReport(outcome, path, state.write_error, state.lost)


@dataclass(frozen=True, slots=True)
class Ending:
    """Further facts about the end of a run: its error, whether it was cancelled, its cost."""

    message: str
    cancelled: bool
    meter: Meter
    duration_ms: int


def run_outcome(
    header: RunHeader, findings: Findings, baseline: Findings | None, ending: Ending
) -> RunOutcome:
    """Return the outcome of a run; with a baseline, every task has the effect of its skills."""
    plain = _outcome(header, findings, ending.duration_ms)
    limit = ending.meter.reason if ending.meter.cut else ""
    message = ending.message or (f"{limit}; what was finished is kept" if limit else "")
    without = None
    tasks = plain.tasks
    if baseline is not None:
        without = _outcome(header, baseline, baseline.duration_ms)
        without = replace(without, status=_status(without, ending, message))
        tasks = _compared(tasks, without.tasks)
    outcome = replace(
        plain,
        tasks=tasks,
        message=message,
        limit=limit,
        baseline=without,
        spending=Spending(ending.meter.tokens, ending.meter.cost),
    )
    return replace(outcome, status=_status(outcome, ending, message))


def _status(outcome: RunOutcome, ending: Ending, message: str) -> RunStatus:
    """Return the status of a run; a complete run has that of its tasks, metrics and baseline."""
    if ending.cancelled:
        return "canceled"
    if message:
        return "error"
    return conclude(outcome).status


def _outcome(header: RunHeader, findings: Findings, duration_ms: int) -> RunOutcome:
    tasks = findings.in_order
    scores = [TaskScore(task.status, task.statistics) for task in tasks]
    return RunOutcome(
        header=header,
        status="completed",
        tasks=tasks,
        summary=suite_summary(scores, duration_ms=duration_ms, trials_per_task=header.trials_per_task),
        usage=total(trial.usage for task in tasks for trial in task.trials),
        metrics=findings.metrics,
        triggers=findings.triggers,
        trigger_metrics=findings.trigger_metrics,
        unjudged=[
            answer
            for prompt, answers in findings.unjudged.items()
            for answer in answers or (UnjudgedAnswer("agent", "", prompt),)
        ],
    )


def _compared(tasks: Sequence[TaskOutcome], baseline: Sequence[TaskOutcome]) -> list[TaskOutcome]:
    """Return the tasks with their impact; a task that was not judged both times has none."""
    without = dict(zip(unique_names(task.id for task in baseline), baseline, strict=True))
    names = unique_names(task.id for task in tasks)
    return [_with_impact(task, without.get(name)) for name, task in zip(names, tasks, strict=True)]


def _with_impact(task: TaskOutcome, without: TaskOutcome | None) -> TaskOutcome:
    pairs = _pairs(task)
    if task.statistics is None or without is None or not conclude_task(task).judged:
        return task
    before = without.statistics.pass_rate if without.statistics and conclude_task(without).judged else None
    if before is None and pairs is None:
        return task
    return replace(task, impact=skill_impact(task.statistics.pass_rate, before, pairs))


def _pairs(task: TaskOutcome) -> PairwiseImpact | None:
    details = [
        validation.details.get("pairwise")
        for trial in task.trials
        for validation in (trial.validations or {}).values()
    ]
    return pairwise_impact(
        [cast("Mapping[str, object]", found) for found in details if isinstance(found, Mapping)]
    )
