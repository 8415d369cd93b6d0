"""Explain why a grader's rule passes or fails, by evaluating it on the recorded trials.

It runs when the user hovers over the rule, within the time that a hover may take.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime

from waza_engine.graders.base import GraderError
from waza_engine.graders.matching.patterns import PatternError, current_workers
from waza_engine.lab.explaining import explained_text
from waza_engine.lab.insight import Explanation, RulePath, insight_of
from waza_engine.lab.live.session import LiveSession, LiveTrial
from waza_engine.results.record import TrialOutcome, Validation
from waza_engine.runs.grading.graders import grade_expected, grade_here
from waza_engine.runs.regrading.recorded_trials import without_workspace
from waza_engine.spec.expected import Expected

SECONDS = 0.7
"""The time limit for trials; one that has begun is finished."""
MOST_TRIALS = 200


@dataclass(frozen=True, slots=True)
class ExplainedTrial:
    """The result of a rule in one trial, from 1, of a task; ``passed`` is that of the rule."""

    task: str
    trial: int
    passed: bool
    met: Explanation


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """The results of a rule in the evaluated trials; ``most`` is the most informative one.

    That is the trial with the worst failure, or else the one with the best pass.
    """

    trials: Sequence[ExplainedTrial]
    total: int
    most: ExplainedTrial


def explained(
    session: LiveSession, grader: str, path: RulePath, task: str | None = None
) -> ExplainedRule | None:
    """Explain a rule of a grader with the session's open files; None when there is nothing to explain.

    ``path`` leads from its config to the rule, or from ``expected`` for a list of that. Raises
    ``SuiteFileError``, ``SuiteError`` and ``RecordingError``.
    """
    return copy_context().run(_explained_rule, session, grader, path, task)


def verdict_of(trial: LiveTrial) -> Validation | None:
    """Return a grader's current verdict on a trial; None when it cannot be judged here."""
    if trial.built is None:
        return next(iter(grade_expected(trial.written.spec.expected, trial.context, (trial.grader,))), None)
    built = trial.built if trial.context.workspace is not None else without_workspace(trial.built)
    verdict = grade_here(built, trial.context)
    return verdict if verdict.status == "graded" else None


def passes_rule(verdict: Validation, path: RulePath) -> bool:
    """Return whether the checks of a rule passed: those at its path, above it or below it."""
    checks = [check for check in verdict.checks if check.path[: len(path)] == path[: len(check.path)]]
    return all(check.passed for check in checks) if checks else verdict.passed


def _explained_rule(
    session: LiveSession, grader: str, path: RulePath, task: str | None
) -> ExplainedRule | None:
    found: list[ExplainedTrial] = []
    latest = time.monotonic() + SECONDS
    with session.trials_of(grader, task) as at_hand:
        current_workers.set(at_hand.workers.patterns)
        for trial in at_hand.trials[:MOST_TRIALS]:
            if at_hand.superseded():
                return None
            met = _met(trial, path)
            verdict = verdict_of(trial) if met is not None else None
            if met is not None and verdict is not None:
                passed = passes_rule(verdict, path)
                found.append(ExplainedTrial(trial.task, trial.recorded.position, passed, met))
            if time.monotonic() > latest:
                break
        total = len(at_hand.trials)
    if not found:
        return None
    return ExplainedRule(found, total, max(found, key=lambda one: (not one.passed, one.met.weight)))


def _met(trial: LiveTrial, path: RulePath) -> Explanation | None:
    if trial.built is None:
        return _explained_expectation(trial.written.spec.expected, path, trial.context.output)
    grader = trial.built.grader
    if grader is None or (grader.needs_workspace and trial.context.workspace is None):
        return None
    try:
        return insight_of(grader).explain(trial.context, path)
    except (GraderError, PatternError) as error:
        return Explanation("error", (str(error),))
    except IndexError:
        # The open file has another shape than the requested rule.
        return None


@dataclass(frozen=True, slots=True)
class ReadTrial:
    """``judged`` are the names of the current verdicts; the others were recorded at ``started``.

    ``title`` is the name of its task, ``prompt`` that of the suite now.
    """

    title: str
    prompt: str
    outcome: TrialOutcome
    judged: Collection[str]
    started: datetime


def read_trial(session: LiveSession, task: str, number: int) -> ReadTrial | None:
    """Return a trial, from 1, of the task with this key.

    None when no grader of it is evaluated live, or a newer edit waits. Raises ``SuiteFileError``,
    ``SuiteError`` and ``RecordingError``.
    """
    return copy_context().run(_read_trial, session, task, number)


def _read_trial(session: LiveSession, task: str, number: int) -> ReadTrial | None:
    with session.trials_of(None, task) as at_hand:
        current_workers.set(at_hand.workers.patterns)
        trials = [trial for trial in at_hand.trials if trial.recorded.position == number]
        verdicts: dict[str, Validation | None] = {}
        for trial in trials:
            verdicts[trial.grader] = verdict_of(trial)
            if at_hand.superseded():
                # Its workers may have been ended, so their last results are not reliable.
                return None
        started = session.recording().header.started
    if not trials:
        return None
    first, judged = trials[0], {name: one for name, one in verdicts.items() if one is not None}
    outcome = first.recorded.outcome
    outcome = replace(outcome, validations={**(outcome.validations or {}), **judged})
    return ReadTrial(
        first.context.task_name or task, first.context.prompt, outcome, frozenset(judged), started
    )


def _explained_expectation(expected: Expected, path: RulePath, output: str) -> Explanation | None:
    """Explain one string of a list, or the whole list of strings of which one must occur."""
    match path:
        case ("output_contains" | "output_not_contains" | "output_contains_any" as key, int(index)):
            texts: Sequence[str] = getattr(expected, key)
            return explained_text(texts[index], output) if index < len(texts) else None
        case _:
            return None
