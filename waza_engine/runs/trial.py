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
from waza_engine.graders.judges import Judge
from waza_engine.results.outcomes import CheckpointOutcome, TrialOutcome, Validation
from waza_engine.runs.agent import AgentSetup
from waza_engine.runs.attempts import Attempt, InterruptedTrialError, attempted
from waza_engine.runs.bounded import CancelledRunError
from waza_engine.runs.budget import Tally
from waza_engine.runs.conversation import Conversation, FollowUps, converse
from waza_engine.runs.grading import BuiltGrader, build_graders, grade, grade_expected
from waza_engine.runs.judging import ExecutorJudge
from waza_engine.runs.responder import ModelResponder
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
from waza_engine.spec.checkpoint import Checkpoint
from waza_engine.spec.task_file import TaskFile


@dataclass(frozen=True, slots=True)
class TrialTools:
    """What all trials of a run share, and the executor of the judges of one trial.

    ``baseline_outputs`` holds what the agent answered without skills: by task id, a text for each trial.
    ``judge_executor`` asks the judges; None is that of the agent.
    """

    suite: Suite
    executor: Executor
    model: str
    assertions: AssertionEvaluator
    cancellation: Cancellation
    agent: AgentSetup
    program_timeout_seconds: float = 30.0
    baseline_outputs: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    keep_workspace: bool = False
    judging: Tally | None = None
    judge_executor: Executor | None = None


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
    """Return the last attempt of a trial.

    A failed one is tried again, and one whose error may go away. What earlier attempts used stays counted. An
    attempt that the run's limit or its end cut does not replace one that was finished. Raises
    ``CancelledRunError``: an ``InterruptedTrialError`` when there is an answer already.
    """
    try:
        outcome = attempted(
            lambda: _attempt(task, number, tools, on_output, on_warning),
            max(1, tools.suite.spec.config.max_attempts),
            tools.cancellation,
        )
    except InterruptedTrialError as interrupted:
        raise InterruptedTrialError(_with_cost(interrupted.outcome, tools)) from None
    outcome = _with_cost(outcome, tools)
    for validation in (outcome.validations or {}).values():
        on_verdict(validation)
    return outcome


def _with_cost(outcome: TrialOutcome, tools: TrialTools) -> TrialOutcome:
    """Return the trial with what it cost: what an executor reports that costs nothing is not counted."""
    judges = tools.judge_executor or tools.executor
    usages = [outcome.usage] if tools.executor.costs else []
    usages += [outcome.judge_usage] if judges.costs else []
    usages += [outcome.other_usage] if judges.costs or tools.executor.costs else []
    return replace(outcome, cost=total_cost(cost_of(usage, tools.model) for usage in usages))


def _attempt(
    task: TrialTask,
    number: int,
    tools: TrialTools,
    on_output: Callable[[str], None],
    on_warning: Callable[[str], None],
) -> Attempt:
    started = time.monotonic()
    try:
        _check_partner(task.spec, tools.executor)
        instructions = tools.suite.spec.config.instruction_files
        kept = tools.keep_workspace
        with fresh_workspace(task.spec, tools.suite.directory, instructions, keep=kept) as workspace:
            for warning in workspace.warnings:
                on_warning(warning)
            return _in_workspace(task, number, tools, workspace, on_output, on_warning)
    except WorkspaceError as error:
        took = round((time.monotonic() - started) * 1000)
        return Attempt(TrialOutcome(number, "error", None, error=str(error), duration_ms=took))


def _check_partner(spec: TaskFile, executor: Executor) -> None:
    if spec.inputs.responder is not None and not executor.has_model:
        raise WorkspaceError(
            "`inputs.responder` needs an executor with a model that plays the user, and "
            f"`{executor.name}` has none; run with another one, or write `follow_up_prompts`"
        )


def _in_workspace(
    task: TrialTask,
    number: int,
    tools: TrialTools,
    workspace: Workspace,
    on_output: Callable[[str], None],
    on_warning: Callable[[str], None],
) -> Attempt:
    request = replace(
        tools.agent.request(prompt_of(task.spec, task.path), workspace, task.spec),
        task_name=task.name,
        task_id=task.id,
        trial=number,
    )
    judging, replying = Tally(tools.judge_executor or tools.executor), Tally(tools.executor)
    tools = replace(tools, judging=judging)
    inputs = task.spec.inputs
    responder = inputs.responder and ModelResponder(
        inputs.responder, replying, tools.model, tools.cancellation
    )
    talk = converse(
        tools.executor,
        request,
        responder or FollowUps(inputs.follow_up_prompts),
        task.spec.checkpoints,
        lambda checkpoint, so_far: _at_checkpoint(checkpoint, so_far, request, tools, task),
        tools.cancellation,
    )
    on_output(talk.output)
    exchange = None
    if responder is not None:
        exchange = responder.broken_off(talk.error) if talk.error else responder.outcome
        if exchange.outcome == "cap_exhausted":
            on_warning(f"the responder gave all its {exchange.followups_sent} answers")
    outcome = TrialOutcome(
        number=number,
        status="error",
        validations=None,
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
        responder=exchange,
        judge_usage=judging.usage,
        other_usage=replying.usage,
        stopped=talk.stopped,
    )
    if talk.interrupted:
        raise _interrupted(outcome, tools)
    if talk.stopped or (talk.answered and not talk.error and not task.graded):
        return Attempt(replace(outcome, status="skipped"))
    if talk.answered and task.graded:
        outcome = _graded(outcome, _grading_context(talk, request, tools, task), task, tools)
    broken = bool(talk.error) or outcome.validations is None
    status = trial_status(outcome.graded, execution_error=broken)
    if status == "passed":
        worst = {checkpoint.status for checkpoint in talk.checkpoints}
        status = "error" if "error" in worst else "failed" if "failed" in worst else status
    again = "now" if status == "failed" else "later" if talk.transient else "never"
    return Attempt(replace(outcome, status=status), again)


def _graded(
    outcome: TrialOutcome, context: GradingContext, task: TrialTask, tools: TrialTools
) -> TrialOutcome:
    """Return the trial with its verdicts.

    Raises ``InterruptedTrialError`` when the run is cancelled meanwhile: the answer was paid for.
    """
    validations: dict[str, Validation] = {}
    try:
        for verdict in grade(task.graders, context, tools.cancellation):
            validations[verdict.name] = verdict
    except CancelledRunError:
        raise _interrupted(outcome, tools) from None
    if task.grade_expected:
        expected = grade_expected(task.spec.expected, context, task.expected_names)
        validations |= {verdict.name: verdict for verdict in expected}
    usage = outcome.judge_usage if tools.judging is None else tools.judging.usage
    return replace(outcome, validations=validations, judge_usage=usage)


def _interrupted(outcome: TrialOutcome, tools: TrialTools) -> InterruptedTrialError:
    spent = outcome.judge_usage if tools.judging is None else tools.judging.usage
    return InterruptedTrialError(replace(outcome, status="skipped", judge_usage=spent, stopped=True))


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
        turns=tuple(talk.prompts),
        hint=task.spec.hint,
        reference=task.spec.reference,
        metadata=task.spec.metadata,
        task_id=task.id,
        task_name=task.name,
        task_description=task.spec.description,
        baseline_output=_baseline_output(tools, request),
        session=talk.session,
        judge=_judge(tools),
    )


def _judge(tools: TrialTools) -> Judge | None:
    if tools.judging is None:
        return None
    return ExecutorJudge(
        executor=tools.judging,
        model=tools.suite.spec.config.judge_model or tools.model,
        cancellation=tools.cancellation,
        shared=tools.judge_executor is None or tools.judge_executor is tools.executor,
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
