"""Grade a recorded run again with the current suite: no agent, no cost, seconds instead of hours.

Judges keep their recorded verdicts, unless an executor for them is named.

Every trial of the record that has an answer gets the graders and the ``expected`` block of its task. A trial
that broke keeps its error, and checkpoints keep their verdicts: their state is not in the record.

Architecture invariant: no agent is started here, no judge without a request, and nothing is written next to
the suite.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.executor import Cancellation, Executor, ExecutorError, ExecutorSettings
from waza_engine.executors.executor_types import create_executor
from waza_engine.graders.base import GradingContext
from waza_engine.graders.judge import Judge
from waza_engine.graders.matching.patterns import current_workers
from waza_engine.masking import read_environment
from waza_engine.processes.scope import ProcessScope, current_scope
from waza_engine.results.reading.owners import name_now
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.results.result_file_names import results_directory
from waza_engine.results.reviews import recorded_review, review_changes
from waza_engine.runs.agent.trial_workspace import WorkspaceError, fixture_directory, prompt_of
from waza_engine.runs.grading.grader_workers import GradingWorkers
from waza_engine.runs.grading.graders import BuiltGrader, grade, grade_expected
from waza_engine.runs.grading.judging import ExecutorJudge
from waza_engine.runs.grading.recorded_verdicts import (
    continues_session,
    has_verdict,
    needs_judge,
    needs_workspace,
    recorded_baseline,
    recorded_verdict,
    without_workspace,
)
from waza_engine.runs.limits.budget import Meter, MeteredExecutor
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.settings.options import check_executor, project_config
from waza_engine.runs.settings.table import Budget
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import EVAL_NAMES
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.user_state import known_workspace

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class RegradeRequest:
    """A request to grade again. ``tasks`` are globs on ids and names, ``graders`` exact names.

    Without a ``suite`` it is found from the record. ``workspace`` replaces the agent's directory in every
    trial. With a ``judge_executor`` judges run again, which may cost. ``overlays`` are the suite's open
    files in an editor, by absolute path; they win over the disk.
    """

    record: Path
    suite: Path | None = None
    tasks: Sequence[str] = ()
    graders: Sequence[str] = ()
    workspace: Path | None = None
    judge_executor: str | None = None
    judge_model: str | None = None
    overlays: Mapping[Path, str] = field(default_factory=dict[Path, str])


@dataclass(frozen=True, slots=True)
class RegradedTrial:
    """A recorded trial with its new verdicts: None when there was nothing to grade."""

    recorded: RecordedTrial
    validations: Mapping[str, Validation] | None


@dataclass(frozen=True, slots=True)
class RegradedTask:
    """A recorded task with its new verdicts; ``error`` says why the current task cannot grade."""

    recorded: RecordedTask
    name: str
    trials: Sequence[RegradedTrial]
    error: str = ""
    pass_rate: float = 1.0


@dataclass(frozen=True, slots=True)
class GradableTask:
    """A recorded task, the suite's task of its id, and its trials with an answer, as graders see them.

    ``context`` is the task's data, independent of answers.
    """

    recorded: RecordedTask
    task: TrialTask
    context: GradingContext
    trials: Sequence[tuple[RecordedTrial, GradingContext]]


@dataclass(frozen=True, slots=True)
class Regrading:
    """A recorded run, the suite that grades it again, and the pairs of their tasks.

    ``warnings`` name what has no effect and what does not fit, ``pairs`` are the tasks of the record with
    those of the suite, whose files are read through ``files``. ``grade`` yields the tasks in the order of the
    record. ``unrecorded`` are the requested tasks of the suite that the record does not have.
    """

    request: RegradeRequest
    recording: Recording
    suite: Suite
    warnings: Sequence[str]
    pairs: Sequence[tuple[RecordedTask, SelectedTask]]
    unrecorded: Sequence[SelectedTask]
    _program_timeout_seconds: float
    meter: Meter
    files: SuiteFiles
    _workers: GradingWorkers
    _judges: Executor | None = None
    _judge_model: str = ""

    @property
    def task_count(self) -> int:
        """Return how many tasks are graded again."""
        return len(self.pairs)

    def grade(self, cancellation: Cancellation) -> Iterator[RegradedTask]:
        """Yield each task with its new verdicts. Raises ``CancelledRunError``."""
        with self._work(cancellation) as (scope, assertions):
            for recorded, selected in self.pairs:
                yield scope.run(self._task, recorded, selected, assertions, cancellation)

    def with_trials(
        self, cancellation: Cancellation, work: Callable[[Sequence[GradableTask]], ResultT]
    ) -> ResultT:
        """Return the result of ``work`` for all gradable trials, with workers ready."""
        with self._work(cancellation) as (scope, assertions):
            tasks = [self._gradable(*pair, assertions, cancellation) for pair in self.pairs]
            return scope.run(work, [task for task in tasks if task is not None])

    @contextmanager
    def _work(self, cancellation: Cancellation) -> Generator[tuple[Context, AssertionEvaluator]]:
        """Yield the workers for grading; they end with the ``with``, or when it is cancelled."""
        processes, scope = ProcessScope(), copy_context()
        scope.run(current_scope.set, processes)
        closers = [processes.close] if self._judges is None else [processes.close, self._judges.close]
        with self._workers.lent(cancellation) as workers:
            scope.run(current_workers.set, workers.patterns)
            withdrawals = [cancellation.on_request(close) for close in closers]
            try:
                yield scope, workers.assertions
            finally:
                for close in closers:
                    close()
                for withdraw in withdrawals:
                    withdraw()

    def _gradable(
        self,
        recorded: RecordedTask,
        selected: SelectedTask,
        assertions: AssertionEvaluator,
        cancellation: Cancellation,
    ) -> GradableTask | None:
        """Return a task with its trials as graders see them; None for one that cannot grade."""
        task = selected.trial
        if task is None:
            return None
        try:
            base = self.base_context(selected, task, assertions, self._judge(cancellation))
        except WorkspaceError:
            return None
        trials = [(trial, self.trial_context(base, trial)) for trial in recorded.trials if trial.gradable]
        return GradableTask(recorded, task, base, trials)

    def _task(
        self,
        recorded: RecordedTask,
        selected: SelectedTask,
        assertions: AssertionEvaluator,
        cancellation: Cancellation,
    ) -> RegradedTask:
        source, task = selected.source, selected.trial
        if task is None:
            return RegradedTask(recorded, source.name, (), source.error)
        try:
            base = self.base_context(selected, task, assertions, self._judge(cancellation))
        except WorkspaceError as error:
            return RegradedTask(recorded, source.name, (), str(error))
        trials = [
            RegradedTrial(trial, self._verdicts(trial, task, base, cancellation)) for trial in recorded.trials
        ]
        return RegradedTask(recorded, source.name, trials, pass_rate=task.pass_rate)

    def _verdicts(
        self, trial: RecordedTrial, task: TrialTask, base: GradingContext, cancellation: Cancellation
    ) -> dict[str, Validation] | None:
        if not trial.gradable:
            return None
        context = self.trial_context(base, trial)
        kept = {
            built.name: recorded_verdict(built, trial)
            for built in task.graders
            if self._keeps(built) or (context.workspace is None and self._lacks_workspace(built, trial))
        }
        asked = [built for built in task.graders if built.name not in kept]
        if context.workspace is None:
            asked = [without_workspace(built, NO_WORKSPACE) for built in asked]
        graded = {verdict.name: verdict for verdict in grade(asked, context, cancellation, kept)}
        found = {built.name: (kept | graded)[built.name] for built in task.graders}
        if task.grade_expected:
            expected = grade_expected(task.spec.expected, context, task.expected_names)
            found |= {verdict.name: verdict for verdict in expected}
        return {name: with_review(verdict, trial) for name, verdict in found.items()}

    def _keeps(self, built: BuiltGrader) -> bool:
        """Return whether the recorded verdict stays: no judge is asked, or its session is over."""
        return needs_judge(built) and (self._judges is None or continues_session(built))

    def _lacks_workspace(self, built: BuiltGrader, trial: RecordedTrial) -> bool:
        """Return whether the recorded verdict stays because files are missing; not if it is requested."""
        return needs_workspace(built) and built.name not in self.request.graders and has_verdict(built, trial)

    def base_context(
        self,
        selected: SelectedTask,
        task: TrialTask,
        assertions: AssertionEvaluator | None,
        judge: Judge | None = None,
    ) -> GradingContext:
        """Return a task's data for its graders, independent of answers. Raises ``WorkspaceError``."""
        return task_context(
            self.suite,
            selected,
            task,
            assertions=assertions,
            judge=judge,
            files=self.files,
            program_timeout_seconds=self._program_timeout_seconds,
        )

    def trial_context(self, base: GradingContext, trial: RecordedTrial) -> GradingContext:
        """Return one recorded trial's data for the graders of its task."""
        return recorded_context(base, self.recording, trial, self.request.workspace)

    def _judge(self, cancellation: Cancellation) -> Judge | None:
        if self._judges is None:
            return None
        return ExecutorJudge(self._judges, self._judge_model, cancellation, shared=False)


def prepare_regrading(request: RegradeRequest, suites: ResidentSuites) -> Regrading:
    """Read the record, load its suite and join their tasks by id; resident parts are not loaded again.

    Raises:
        RecordingError: when the record cannot be used.
        SuiteFileError: when the eval file cannot be used.
        SuiteError: when the suite is not found, or has nothing to grade for this request.

    """
    read_environment()
    workspace = request.workspace
    if workspace is not None and not workspace.is_dir():
        raise SuiteError(f"The workspace {workspace} is not a directory.")
    recording = suites.recording(request.record)
    # Schemas with files next to them are cached as long as these are read through the same value.
    files = DISK.overlaid(request.overlays)
    # A suite that leaves the executor to the command line does not name one.
    answered = recording.header.executor or "replay"
    path = request.suite or suite_of_record(recording, files)
    resident = suites.suite(path)
    given = {"executor": answered}
    suite, selected, found = resident.selected(path, given, files, request.tasks, request.graders)
    pairs, removed, unrecorded = _joined(recording, selected)
    warnings = [*suite.warnings, *found]
    if not request.tasks and not request.graders:
        warnings += removed
    warnings += [f"the task `{task.source.id}` was not recorded" for task in unrecorded]
    if not pairs and not recording.tasks:
        raise SuiteError(f"{recording.path} has trigger prompts alone, which are not graded again; run them.")
    if not pairs:
        wanted = "tasks asked for" if request.tasks or request.graders else "suite's tasks"
        raise SuiteError(f"{recording.path} has none of the {wanted}; it is not a run of {suite.path}.")
    if workspace is None:
        warnings += _programs_without_workspace(pairs)
    project, problems = project_config(suite.directory, files)
    warnings += problems
    if workspace is not None:
        request = replace(request, workspace=Path(os.path.abspath(workspace)))  # noqa: PTH100 - links stay
    config, meter = suite.spec.config, Meter(Budget())
    judges = _judge_executor(request.judge_executor, suite, meter)
    model = request.judge_model or config.judge_model or project.defaults.judge_model or config.model
    return Regrading(
        request=request,
        recording=recording,
        suite=suite,
        warnings=tuple(dict.fromkeys(warnings)),
        pairs=pairs,
        unrecorded=unrecorded,
        _program_timeout_seconds=float(project.graders.program_timeout),
        meter=meter,
        files=files,
        _workers=resident.workers,
        _judges=judges,
        _judge_model=model,
    )


def _judge_executor(name: str | None, suite: Suite, meter: Meter) -> Executor | None:
    if name is None:
        return None
    check_executor(name)
    try:
        made = create_executor(name, ExecutorSettings(suite.directory, suite.spec.config))
    except ExecutorError as error:
        raise SuiteError(f"{suite.path}: {error}.") from None
    if not made.has_model:
        raise SuiteError(f"`--judge-executor {name}` has no model, so it cannot judge; `openai` can.")
    return MeteredExecutor(made, meter)


def _joined(
    recording: Recording, selected: Sequence[SelectedTask]
) -> tuple[list[tuple[RecordedTask, SelectedTask]], list[str], list[SelectedTask]]:
    """Return the tasks of the record with those of the suite, and the tasks of only one of them.

    Those of the record alone are warnings. Of several tasks with one id the first belongs to the first, the
    second to the second.
    """
    waiting: dict[str, list[SelectedTask]] = {}
    for task in selected:
        waiting.setdefault(task.source.id, []).append(task)
    pairs: list[tuple[RecordedTask, SelectedTask]] = []
    removed: list[str] = []
    for task in recording.tasks:
        if waiting.get(task.id):
            pairs.append((task, waiting[task.id].pop(0)))
        else:
            name = f"`{task.id}`" if task.id else "without an id"
            why = (
                f"the record has more tasks {name} than the suite"
                if task.id in waiting
                else f"the suite has no task {name} any more"
            )
            removed.append(f"{why}; its record stays as it is")
    return pairs, removed, [task for tasks in waiting.values() for task in tasks]


def _programs_without_workspace(pairs: Sequence[tuple[RecordedTask, SelectedTask]]) -> Iterator[str]:
    for recorded, selected in pairs:
        programs = [
            built
            for built in (selected.trial.graders if selected.trial is not None else ())
            if built.grader is not None and built.grader.runs_program
        ]
        if programs and not any(known_workspace(trial.outcome.workspace) for trial in recorded.trials):
            for built in programs:
                yield f"grader `{built.name}` runs a program without the agent's files: {NO_WORKSPACE}"


_LEVELS = 6


def suite_of_record(recording: Recording, files: SuiteFiles) -> Path:
    """Return the eval file that a record belongs to: next to its ``.waza``, or above it with its name.

    Raises ``SuiteError`` when there is none.
    """
    place = Path(os.path.abspath(recording.path))  # noqa: PTH100 - a linked record belongs where it lies
    names = (recording.eval_file,) if recording.eval_file else EVAL_NAMES
    eval_name = recording.header.eval_name
    for folder in place.parents[:_LEVELS]:
        # In an engine's results directory the suite may have been renamed since; elsewhere the name must
        # match.
        own = place.parent == results_directory(folder)
        for name in names:
            eval_file = folder / name
            if eval_file.is_file() and (own or _is_of_name(eval_file, eval_name, files)):
                return eval_file
        renamed = _renamed(folder, recording) if own else None
        if renamed is not None:
            return renamed
    known = f" `{eval_name}`" if eval_name else ""
    raise SuiteError(f"The suite{known} of {recording.path} is not above it; name it with `--suite`.")


def _renamed(folder: Path, recording: Recording) -> Path | None:
    """Return the eval file under the name that it has now."""
    name = name_now(folder, recording.eval_file, recording.header.eval_name)
    return folder / name if name else None


def _is_of_name(eval_file: Path, name: str, files: SuiteFiles) -> bool:
    """Return whether a suite, for any executor, has this name."""
    try:
        found, *_ = load_eval_file(eval_file, {"executor": "replay"}, lenient=True, files=files)
        return bool(name) and found.name == name
    except SuiteFileError:
        return False


NO_WORKSPACE = "the workspace of the run was not kept; name a directory with `--workspace`"


def task_context(
    suite: Suite,
    selected: SelectedTask,
    task: TrialTask,
    *,
    assertions: AssertionEvaluator | None,
    judge: Judge | None,
    files: SuiteFiles,
    program_timeout_seconds: float,
) -> GradingContext:
    """Return a task's data for graders, independent of answers. Raises ``WorkspaceError``."""
    prompt = prompt_of(task.spec, task.path, files)
    return GradingContext(
        prompt=prompt,
        suite_directory=suite.directory,
        fixtures_directory=fixture_directory(task.spec, suite.directory),
        assertions=assertions,
        program_timeout_seconds=program_timeout_seconds,
        turns=(prompt, *task.spec.inputs.follow_up_prompts),
        hint=task.spec.hint,
        reference=task.spec.reference,
        metadata=task.spec.metadata,
        task_id=task.id,
        task_name=selected.source.name,
        task_description=task.spec.description,
        judge=judge,
        files=files,
    )


def recorded_context(
    base: GradingContext, recording: Recording, trial: RecordedTrial, workspace: Path | None
) -> GradingContext:
    """Return the context with a recorded trial's data; ``workspace`` replaces that of the agent."""
    found = trial.outcome
    return replace(
        base,
        output=found.output,
        transcript=tuple(found.events),
        tool_calls=None if found.tool_calls is None else tuple(found.tool_calls),
        skill_invocations=tuple(found.skill_invocations),
        usage=found.usage,
        duration_ms=found.duration_ms,
        workspace=workspace or known_workspace(found.workspace),
        baseline_output=recorded_baseline(recording, base.task_id, found.number),
    )


def with_review(verdict: Validation, trial: RecordedTrial) -> Validation:
    """Return a person's review of this very answer, when the grader asks for it again."""
    if verdict.status != "pending":
        return verdict
    recorded = (trial.outcome.validations or {}).get(verdict.name)
    review = recorded and recorded_review(recorded.score, recorded.details, passed=recorded.passed)
    return verdict if review is None else replace(verdict, **review_changes(verdict.details, review))
