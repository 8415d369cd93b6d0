"""A recorded trial with its graders' current verdicts, for people who want to read it."""

from __future__ import annotations

from collections.abc import Collection
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime

from waza_engine.graders.matching.patterns import current_workers
from waza_engine.results.record import TrialOutcome, Validation
from waza_engine.runs.live.explaining import verdict_of
from waza_engine.runs.live.session import LiveSession


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
