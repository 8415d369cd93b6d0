"""One trial of a task: a fresh workspace, the conversation, the graders.

Tried again when it failed and may be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.base import Cancellation, ExecutionRequest, Executor
from waza_engine.graders.base import GradingContext
from waza_engine.results.outcomes import CheckpointOutcome, TrialOutcome, Validation
from waza_engine.runs.bounded import CancelledRunError
from waza_engine.runs.budget import Tally
from waza_engine.runs.conversation import Conversation, converse
from waza_engine.runs.grading import BuiltGrader, build_graders, grade, grade_expected
from waza_engine.runs.suite import Suite
from waza_engine.runs.workspace import (
    Workspace,
    WorkspaceError,
    fixture_directory,
    fresh_workspace,
    prompt_of,
)
from waza_engine.scoring.composite import trial_status
from waza_engine.scoring.cost import cost_of, total_cost
from waza_engine.scoring.usage import total
from waza_engine.spec.checkpoint import Checkpoint
from waza_engine.spec.task_file import TaskFile


@dataclass(frozen=True, slots=True)
class TrialTools:
    """What all trials of a run share, and the executor of the judges of one trial.

    ``baseline_outputs`` holds what the agent answered without skills: by task id, a text for each trial.
    """

    suite: Suite
    executor: Executor
    model: str
    assertions: AssertionEvaluator
    cancellation: Cancellation
    program_timeout_seconds: float = 30.0
    baseline_outputs: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    keep_workspace: bool = False
    judging: Tally | None = None


@dataclass(frozen=True, slots=True)
class TrialTask:
    """A task, ready to run: its graders are built once.

    ``expected_names`` limits the ``expected`` verdicts. A task that is not ``graded`` is carried out and
    nothing more.
    """

    path: Path
    name: str
    spec: TaskFile
    graders: tuple[BuiltGrader, ...]
    grade_expected: bool = True
    expected_names: Sequence[str] = ()
    graded: bool = True
    id: str = ""


def run_trial(
    task: TrialTask,
    number: int,
    tools: TrialTools,
    on_output: Callable[[str], None],
    on_verdict: Callable[[Validation], None],
    on_warning: Callable[[str], None],
) -> TrialOutcome:
    """Return the last attempt of a trial; only a failed one is tried again. Raises ``CancelledRunError``.

    What earlier attempts used stays counted. An attempt that the run's limit cut does not replace one that
    was finished.
    """
    attempts = max(1, tools.suite.spec.config.max_attempts)
    outcome = _attempt(task, number, tools, on_output, on_warning)
    for attempt in range(2, attempts + 1):
        if outcome.status != "failed":
            break
        again = _attempt(task, number, tools, on_output, on_warning)
        last, other = (outcome, again) if again.stopped else (replace(again, attempts=attempt), outcome)
        spent = total((last.other_usage, other.usage, other.judge_usage, other.other_usage))
        outcome = replace(last, other_usage=spent)
        if again.stopped:
            break
    if tools.executor.costs:
        usages = (outcome.usage, outcome.judge_usage, outcome.other_usage)
        outcome = replace(outcome, cost=total_cost(cost_of(usage, tools.model) for usage in usages))
    for validation in (outcome.validations or {}).values():
        on_verdict(validation)
    return outcome


def _attempt(
    task: TrialTask,
    number: int,
    tools: TrialTools,
    on_output: Callable[[str], None],
    on_warning: Callable[[str], None],
) -> TrialOutcome:
    started = time.monotonic()
    try:
        instructions = tools.suite.spec.config.instruction_files
        kept = tools.keep_workspace
        with fresh_workspace(task.spec, tools.suite.directory, instructions, keep=kept) as workspace:
            for warning in workspace.warnings:
                on_warning(warning)
            return _in_workspace(task, number, tools, workspace, on_output)
    except WorkspaceError as error:
        took = round((time.monotonic() - started) * 1000)
        return TrialOutcome(number, "error", None, error=str(error), duration_ms=took)


def _in_workspace(
    task: TrialTask, number: int, tools: TrialTools, workspace: Workspace, on_output: Callable[[str], None]
) -> TrialOutcome:
    request = _request(task, number, tools, workspace)
    inputs = task.spec.inputs
    if inputs.responder is not None:
        why = "`inputs.responder` cannot be run yet; use `follow_up_prompts`"
        return TrialOutcome(number, "error", None, error=why)
    judging = Tally(tools.executor)
    tools = replace(tools, judging=judging)
    talk = converse(
        tools.executor,
        request,
        inputs.follow_up_prompts,
        task.spec.checkpoints,
        lambda checkpoint, so_far: _at_checkpoint(checkpoint, so_far, request, tools, task),
        tools.cancellation,
    )
    on_output(talk.output)
    validations: dict[str, Validation] | None = None
    if talk.answered and not talk.stopped and task.graded:
        context = _grading_context(talk, request, tools, task)
        validations = {v.name: v for v in grade(task.graders, context, tools.cancellation)}
        if task.grade_expected:
            validations |= {
                v.name: v for v in grade_expected(task.spec.expected, context, task.expected_names)
            }
    outcome = TrialOutcome(
        number=number,
        status="error",
        validations=validations,
        duration_ms=talk.duration_ms,
        output=talk.output,
        events=talk.events,
        tool_calls=talk.tool_calls,
        skill_invocations=talk.skill_invocations,
        usage=talk.usage,
        session=talk.session,
        error=talk.error,
        workspace=str(workspace.directory) if tools.keep_workspace else "",
        checkpoints=talk.checkpoints,
        judge_usage=judging.usage,
        stopped=talk.stopped,
    )
    if talk.stopped or (talk.answered and not talk.error and not task.graded):
        return replace(outcome, status="skipped")
    status = trial_status(outcome.graded, execution_error=bool(talk.error) or validations is None)
    if status == "passed":
        worst = {checkpoint.status for checkpoint in talk.checkpoints}
        status = "error" if "error" in worst else "failed" if "failed" in worst else status
    return replace(outcome, status=status)


def _request(task: TrialTask, number: int, tools: TrialTools, workspace: Workspace) -> ExecutionRequest:
    suite, spec = tools.suite, task.spec
    return ExecutionRequest(
        prompt=prompt_of(spec, task.path),
        workspace=workspace.directory,
        workdir=spec.inputs.workdir or "",
        task_name=task.name,
        task_description=spec.description,
        context=spec.inputs.context,
        files=workspace.files,
        model=tools.model,
        skill=suite.spec.skill,
        skill_directories=[
            suite.directory / written
            for written in spec.skill_directories or suite.spec.config.skill_directories
        ],
        timeout_seconds=float(spec.timeout_seconds or suite.spec.config.timeout_seconds),
        task_id=task.id,
        trial=number,
    )


def _grading_context(
    talk: Conversation, request: ExecutionRequest, tools: TrialTools, task: TrialTask
) -> GradingContext:
    return GradingContext(
        output=talk.output,
        transcript=tuple(talk.events),
        tool_calls=tuple(talk.tool_calls),
        skill_invocations=tuple(talk.skill_invocations),
        usage=talk.usage,
        duration_ms=talk.duration_ms,
        prompt=request.prompt,
        workspace=request.workspace,
        suite_directory=tools.suite.directory,
        fixtures_directory=fixture_directory(task.spec, tools.suite.directory),
        assertions=tools.assertions,
        program_timeout_seconds=tools.program_timeout_seconds,
        turns=(request.prompt, *task.spec.inputs.follow_up_prompts),
        hint=task.spec.hint,
        reference=task.spec.reference,
        metadata=task.spec.metadata,
        task_id=task.id,
        task_name=task.name,
        task_description=task.spec.description,
        baseline_output=_baseline_output(tools, request),
    )


def _baseline_output(tools: TrialTools, request: ExecutionRequest) -> str | None:
    """Return what the same trial answered without skills, the last one's answer when there were fewer."""
    outputs = tools.baseline_outputs.get(request.task_id, ())
    return outputs[min(request.trial, len(outputs)) - 1] if outputs else None


def _at_checkpoint(
    checkpoint: Checkpoint, talk: Conversation, request: ExecutionRequest, tools: TrialTools, task: TrialTask
) -> CheckpointOutcome:
    if tools.cancellation.requested:
        raise CancelledRunError
    graders, _ = build_graders(checkpoint.graders if task.graded else ())
    context = _grading_context(talk, request, tools, task)
    validations = {v.name: v for v in grade(graders, context, tools.cancellation)}
    status = trial_status([validation.graded for validation in validations.values()])
    stopped = checkpoint.on_failure == "stop" and status in ("failed", "error")
    return CheckpointOutcome(checkpoint.after_turn, status, validations, stopped)
