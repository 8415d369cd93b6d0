"""One trial of a task: a fresh workspace, the conversation, the graders.

A failed trial may be retried.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol

from waza_engine.executors.executor import ExecutionRequest, Executor, ExecutorError, ignore
from waza_engine.graders.base import GradingContext
from waza_engine.processes.git import GitError
from waza_engine.results.codec.trials import FAILURES
from waza_engine.results.record import (
    Answerer,
    ArrivedAnswer,
    CheckpointOutcome,
    ResponderOutcome,
    TrialOutcome,
    UnjudgedAnswer,
    Validation,
)
from waza_engine.runs.agent.command_mocks import CommandSession, mocked_commands
from waza_engine.runs.agent.trial_workspace import (
    Workspace,
    WorkspaceError,
    add_to_first_commit,
    fixture_directory,
    fresh_workspace,
    prompt_of,
    remove_kept_workspace,
    watched_files,
)
from waza_engine.runs.grading.graders import BuiltGrader, grade, grade_expected
from waza_engine.runs.grading.judging import ExecutorJudge
from waza_engine.runs.grading.recorded_verdicts import without_workspace
from waza_engine.runs.limits.budget import Tally
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.trials.attempts import Attempt, InterruptedTrialError, with_retries
from waza_engine.runs.trials.context import RunContext, TrialRequest, arrived_answer
from waza_engine.runs.trials.conversation import Conversation, FollowUps, ModelResponder, converse
from waza_engine.scoring.cost import Spending, cost_of, tokens_of, total_cost
from waza_engine.scoring.task_scores import trial_status
from waza_engine.spec.task_file import Checkpoint, TaskFile
from waza_engine.vocabulary import PaidAnswer, ToolCall, checkpoint_grader

Phase = Literal["asking", "grading"]
"""The phases of a trial: an attempt sends its prompt, or its answer is graded."""


@dataclass(frozen=True, slots=True)
class TrialTask:
    """A task, ready to run: its graders are built once, those of a checkpoint by its turn.

    ``expected_names`` limits the ``expected`` verdicts. A task that is not ``graded`` is only executed.
    ``tool_policy`` is upstream's word for what the tested agent file allows, ``pass_rate`` the share of its
    trials that the task needs to pass.
    """

    path: Path
    name: str
    spec: TaskFile
    graders: tuple[BuiltGrader, ...]
    grade_expected: bool = True
    expected_names: Sequence[str] = ()
    graded: bool = True
    id: str = ""
    tool_policy: str = ""
    pass_rate: float = 1.0
    checkpoint_graders: Mapping[int, tuple[BuiltGrader, ...]] = field(
        default_factory=dict[int, tuple[BuiltGrader, ...]]
    )

    @property
    def all_graders(self) -> tuple[BuiltGrader, ...]:
        """Return the graders of the task and of its checkpoints, these under their reported names."""
        at_checkpoints = [
            replace(built, name=checkpoint_grader(built.name, turn))
            for turn, graders in (self.checkpoint_graders.items() if self.graded else ())
            for built in graders
        ]
        return (*self.graders, *at_checkpoints)


class Tell(Protocol):
    """Takes a string worth showing, or "" and the phase that a trial enters."""

    def __call__(self, text: str, phase: Phase | None = None, /) -> None:
        """Report it; called from any thread."""
        ...


@dataclass(frozen=True, slots=True)
class _Trial:
    """An active attempt of a trial; ``before`` is the result of earlier attempts.

    ``kept`` are the workspaces of all attempts that are not removed with them.
    """

    task: TrialTask
    request: TrialRequest
    context: RunContext
    tell: Tell
    keep: Callable[[TrialOutcome], None]
    kept: list[Path]
    before: Attempt | None = None

    def watch(self, call: ToolCall) -> None:
        self.tell(describe_tool_call(call))

    def tally(self, executor: Executor, by: Answerer) -> Tally:
        """Return a tally of an executor that is asked in a trial besides the agent."""
        return Tally(executor, self.paid(executor, by))

    def paid(self, executor: Executor, by: Answerer) -> Callable[[PaidAnswer], None]:
        return self.context.paid(executor, by, task=self.request.task, trial=self.request.trial)

    def tell_asking_once(self) -> Callable[[], None]:
        """Return a function that reports its first call alone: an attempt has several turns."""
        first = iter((True,))
        return lambda: self.tell("", "asking") if next(first, False) else None

    def warn(self, text: str) -> None:
        self.tell(f"warning: {text}")


def run_trial(
    task: TrialTask,
    request: TrialRequest,
    context: RunContext,
    tell: Tell,
    keep: Callable[[TrialOutcome], None] = lambda cut: None,
) -> TrialOutcome:
    """Return the last attempt of a trial.

    ``tell`` gets answers, tool calls as they begin, and warnings, which begin with ``warning: ``. ``keep``
    gets the trial before its answer is graded, as it would be if it were cut off now.

    Failed trials are retried, and trials with a transient error. The usage of earlier attempts is included.
    An attempt that was cut off by the run's limit or end does not replace one that was finished.
    Raises ``CancelledRunError``: an ``InterruptedTrialError`` when there is an answer already.
    """
    kept: list[Path] = []
    trial = _Trial(task, request, context, tell, lambda cut: keep(_with_cost(cut, context)), kept)
    spent, named = request.attempt - 1, ""
    try:
        outcome = with_retries(
            lambda before: _attempt(replace(trial, before=before)),
            max(1, context.suite.spec.config.max_attempts - spent),
            context.cancellation,
        )
        named = outcome.workspace
    except InterruptedTrialError as interrupted:
        named = interrupted.outcome.workspace
        raise InterruptedTrialError(_with_cost(interrupted.outcome, context)) from None
    finally:
        # The results name the workspace of one attempt.
        for workspace in kept:
            if str(workspace) != named:
                remove_kept_workspace(workspace)
    return replace(
        _with_cost(outcome, context),
        attempts=outcome.attempts + spent,
        captured_at=datetime.now(UTC).isoformat() if outcome.status in FAILURES else "",
    )


def _with_cost(outcome: TrialOutcome, context: RunContext) -> TrialOutcome:
    return replace(outcome, cost=spending_of(outcome, context).cost)


def spending_of(outcome: TrialOutcome, context: RunContext) -> Spending:
    """Return what a trial spent: reports of an executor that costs nothing are not counted."""
    agent, judges = context.executor, context.judges
    usages = [outcome.usage] if agent.costs else []
    usages += [outcome.judge_usage] if judges.costs else []
    usages += [outcome.other_usage] if judges.costs or agent.costs else []
    cost = total_cost(cost_of(usage, context.model) for usage in usages)
    return Spending(sum(map(tokens_of, usages)), cost)


def _attempt(trial: _Trial) -> Attempt:
    started = time.monotonic()
    spec, suite = trial.task.spec, trial.context.suite
    try:
        _check_partner(spec, trial.context.executor)
        kept = trial.context.settings.keep_workspace
        with fresh_workspace(
            spec, suite.directory, suite.spec.config.instruction_files, keep=kept
        ) as workspace:
            if kept:
                trial.kept.append(workspace.directory)
            for warning in workspace.warnings:
                trial.warn(warning)
            executor = trial.context.executor.name
            with mocked_commands(suite, spec, workspace.directory, executor) as commands:
                return _in_workspace(trial, workspace, commands)
    except WorkspaceError as error:
        took = round((time.monotonic() - started) * 1000)
        return Attempt(TrialOutcome(trial.request.trial, "error", None, error=str(error), duration_ms=took))


def _check_partner(spec: TaskFile, executor: Executor) -> None:
    if spec.inputs.responder is not None and not executor.has_model:
        raise WorkspaceError(
            "`inputs.responder` needs an executor with a model that plays the user, and "
            f"`{executor.name}` has none; run with another one, or write `follow_up_prompts`"
        )


def _in_workspace(trial: _Trial, workspace: Workspace, commands: CommandSession) -> Attempt:
    task, context = trial.task, trial.context
    execution = replace(
        context.agent.request(prompt_of(task.spec, task.path), workspace, task.spec),
        task_id=task.id,
        trial=trial.request.trial,
        commands=commands.commands,
        on_tool_call=trial.watch,
        on_answer=trial.paid(context.executor, "agent"),
        on_prompt=trial.tell_asking_once(),
        on_prepared=_committed(workspace.directory) if task.spec.inputs.git else ignore,
    )
    judging, replying = trial.tally(context.judges, "judge"), trial.tally(context.executor, "responder")
    inputs = task.spec.inputs
    responder = inputs.responder and ModelResponder(
        inputs.responder,
        replying,
        context.model,
        context.cancellation,
        reasoning_effort=context.suite.spec.config.reasoning_effort or "",
    )

    def so_far(talk: Conversation, exchange: ResponderOutcome | None = None) -> TrialOutcome:
        return TrialOutcome(
            number=trial.request.trial,
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
            workspace=str(workspace.directory) if context.settings.keep_workspace else "",
            checkpoints=talk.checkpoints,
            responder=exchange,
            judge_usage=judging.usage,
            other_usage=replying.usage,
            stopped=talk.stopped,
            command_invocations=commands.invocations(),
            tool_policy=task.tool_policy,
            unjudged=(*_unjudged(judging, "judge"), *_unjudged(replying, "responder")),
        )

    files_changed = watched_files(workspace.directory)
    talk = converse(
        context.executor,
        execution,
        responder or FollowUps(inputs.follow_up_prompts),
        task.spec.checkpoints,
        lambda checkpoint, talk: _at_checkpoint(
            checkpoint, trial, _grading_context(talk, execution, trial, judging)
        ),
        context.cancellation,
        lambda talk: _store_so_far(so_far(talk), trial),
    )
    trial.tell(talk.output)
    exchange = None
    if responder is not None:
        exchange = responder.broken_off(talk.error) if talk.error else responder.outcome
        if exchange.outcome == "cap_exhausted":
            trial.warn(f"the responder gave all its {exchange.followups_sent} answers")
    # Before the graders, whose programs may write there too.
    outcome = replace(so_far(talk, exchange), files_changed=files_changed())
    if talk.interrupted:
        raise InterruptedTrialError(_cut(outcome))
    if talk.stopped or (talk.answered and not talk.error and not task.graded):
        return Attempt(replace(outcome, status="skipped"))
    # Graders of an empty answer would fail or pass by chance; judges would be paid for that.
    if talk.answered and task.graded and not talk.left_nothing:
        trial.tell("", "grading")
        outcome = _graded(outcome, trial, _grading_context(talk, execution, trial, judging), judging)
        outcome = replace(
            outcome, validations={**(outcome.validations or {}), **_expected_calls(outcome, commands)}
        )
    broken = bool(talk.error) or outcome.validations is None
    status = trial_status(
        outcome.graded, [checkpoint.status for checkpoint in talk.checkpoints], execution_error=broken
    )
    again = "now" if status == "failed" else "later" if talk.transient else "never"
    return Attempt(replace(outcome, status=status), again)


def _graded(outcome: TrialOutcome, trial: _Trial, context: GradingContext, judging: Tally) -> TrialOutcome:
    """Return the trial with its verdicts.

    Raises ``InterruptedTrialError`` when the run is cancelled meanwhile: the answer was paid for.
    """
    task = trial.task
    validations: dict[str, Validation] = {}
    try:
        for verdict in grade(_gradable(task.graders, context), context, trial.context.cancellation):
            validations[verdict.name] = verdict
            if judging.usage != outcome.judge_usage:
                # The usage of a judge is paid for, too.
                outcome = _with_judges(outcome, judging)
                _store_so_far(outcome, trial)
    except CancelledRunError:
        raise InterruptedTrialError(_cut(_with_judges(outcome, judging))) from None
    if task.grade_expected:
        expected = grade_expected(task.spec.expected, context, task.expected_names)
        validations |= {verdict.name: verdict for verdict in expected}
    return replace(_with_judges(outcome, judging), validations=validations)


def _with_judges(outcome: TrialOutcome, judging: Tally) -> TrialOutcome:
    others = [answer for answer in outcome.unjudged if answer.by != "judge"]
    return replace(outcome, judge_usage=judging.usage, unjudged=(*_unjudged(judging, "judge"), *others))


def _unjudged(asked: Tally, by: Answerer) -> Iterator[UnjudgedAnswer]:
    """Yield the answers to questions without a verdict."""
    for answer in asked.arrived:
        if (unjudged := arrived_answer(answer, ArrivedAnswer(by)).unjudged).text:
            yield unjudged


def _expected_calls(outcome: TrialOutcome, commands: CommandSession) -> dict[str, Validation]:
    """Return the verdict on how often mocked programs were called, where that is written."""
    if not commands.expects_calls:
        return {}
    unmet = commands.unmet(outcome.command_invocations)
    feedback = "; ".join(unmet) or "Every mocked program was called as often as expected"
    name = "expect_calls"
    return {name: Validation(name, "command_mocks", 0.0 if unmet else 1.0, not unmet, feedback)}


def _store_so_far(outcome: TrialOutcome, trial: _Trial) -> None:
    """Store an answer that is paid for, if the trial goes on: it would be lost if the run is killed."""
    spec, inputs = trial.task.spec, trial.task.spec.inputs
    more = trial.task.graders or spec.checkpoints or inputs.follow_up_prompts or inputs.responder
    if more and (trial.context.executor.costs or trial.context.judges.costs):
        cut = Attempt(_cut(outcome))
        trial.keep((cut if trial.before is None else trial.before.followed_by(cut)).outcome)


def _cut(outcome: TrialOutcome) -> TrialOutcome:
    return replace(outcome, status="skipped", stopped=True)


def _grading_context(
    talk: Conversation, execution: ExecutionRequest, trial: _Trial, judging: Tally
) -> GradingContext:
    task, context = trial.task, trial.context
    return GradingContext(
        output=talk.output,
        transcript=tuple(talk.events),
        tool_calls=tuple(talk.tool_calls),
        skill_invocations=tuple(talk.skill_invocations),
        usage=talk.usage,
        duration_ms=talk.duration_ms,
        prompt=execution.prompt,
        workspace=execution.workspace if talk.knows_files else None,
        suite_directory=context.suite.directory,
        fixtures_directory=fixture_directory(task.spec, context.suite.directory),
        assertions=context.assertions,
        program_timeout_seconds=context.program_timeout_seconds,
        turns=tuple(talk.prompts),
        hint=task.spec.hint,
        reference=task.spec.reference,
        metadata=task.spec.metadata,
        task_id=task.id,
        task_name=task.name,
        task_description=task.spec.description,
        baseline_output=trial.request.baseline_output,
        session=talk.session,
        judge=ExecutorJudge(
            executor=judging,
            model=context.suite.spec.config.judge_model or context.model,
            cancellation=context.cancellation,
            shared=context.judges is context.executor,
            reasoning_effort=context.suite.spec.config.judge_reasoning_effort or "",
        ),
    )


def _at_checkpoint(checkpoint: Checkpoint, trial: _Trial, context: GradingContext) -> CheckpointOutcome:
    cancellation = trial.context.cancellation
    if cancellation.requested:
        raise CancelledRunError
    graders = trial.task.checkpoint_graders[checkpoint.after_turn] if trial.task.graded else ()
    validations = {v.name: v for v in grade(_gradable(graders, context), context, cancellation)}
    status = trial_status([validation.graded for validation in validations.values()])
    stopped = checkpoint.on_failure == "stop" and status in ("failed", "error")
    return CheckpointOutcome(checkpoint.after_turn, status, validations, stopped)


def _committed(workspace: Path) -> Callable[[], None]:
    """Return a function that adds to the first commit of a workspace. It raises ``ExecutorError``."""

    def prepared() -> None:
        try:
            add_to_first_commit(workspace)
        except GitError as error:
            raise ExecutorError(f"`inputs.git`: {error}") from None

    return prepared


def _gradable(graders: Sequence[BuiltGrader], context: GradingContext) -> Sequence[BuiltGrader]:
    """Return the graders; those that need the files of the agent are errors where these are not known."""
    if context.workspace is not None:
        return graders
    return [without_workspace(built, "the recording has no files of the agent") for built in graders]


_SHOWN_CHARACTERS = 160


def describe_tool_call(call: ToolCall) -> str:
    """Return the name of the tool and its arguments: ``⚙ bash npm test · Run the tests``."""
    given = " · ".join(_value(value) for value in call.arguments.values())
    line = " ".join(f"⚙ {call.name} {given}".split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[: 2 * _SHOWN_CHARACTERS]
