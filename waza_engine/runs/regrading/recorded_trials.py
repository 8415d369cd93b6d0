"""A recorded trial as graders see it: the task as it is written now, with the recorded answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.graders.base import GradingContext
from waza_engine.results.record import Validation
from waza_engine.results.reviews.reviewed import recorded_review, review_changes
from waza_engine.runs.agent.workspace import fixture_directory, prompt_of
from waza_engine.runs.grading.graders import BuiltGrader
from waza_engine.runs.grading.recorded_verdicts import needs_workspace, recorded_baseline
from waza_engine.user_state import kept_workspace

if TYPE_CHECKING:
    from waza_engine.assertions.evaluator import AssertionEvaluator
    from waza_engine.graders.judging.judge import Judge
    from waza_engine.results.reading.recordings import RecordedTrial, Recording
    from waza_engine.runs.loading.suite import Suite
    from waza_engine.runs.trials.selection import SelectedTask
    from waza_engine.runs.trials.trial import TrialTask
    from waza_engine.spec.reading.suite_files import SuiteFiles

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
        workspace=workspace or kept_workspace(found.workspace),
        baseline_output=recorded_baseline(recording, base.task_id, found.number),
    )


def without_workspace(built: BuiltGrader) -> BuiltGrader:
    """Return a grader that reports the missing directory: that is no failure of the agent."""
    if not needs_workspace(built):
        return built
    return replace(built, grader=None, error=NO_WORKSPACE)


def with_review(verdict: Validation, trial: RecordedTrial) -> Validation:
    """Return a person's review of this very answer, when the grader asks for it again."""
    if verdict.status != "pending":
        return verdict
    said = (trial.outcome.validations or {}).get(verdict.name)
    review = said and recorded_review(said.score, said.details, passed=said.passed)
    return verdict if review is None else replace(verdict, **review_changes(verdict.details, review))
