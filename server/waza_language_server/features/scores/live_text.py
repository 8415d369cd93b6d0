"""Labels of live verdicts: ``⚡ ◐ 4/5 · 0.83 → 0.67``, and the trials that were graded.

They are of the current text: a verdict from before an edit is not live, but stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.figures import shown_score
from waza_engine.frozen import frozen
from waza_engine.markdown import code
from waza_language_server.features.scores.words import (
    advisory_label,
    age,
    error_label,
    share_label,
    sign_of,
    told_by,
)

if TYPE_CHECKING:
    from waza_language_server.project.document_scores import Outcome, Score

LIVE = "⚡ "
"""The prefix of live verdicts, which are graded during typing on recorded answers."""
MAX_TASKS = 20
MAX_TRIALS = 5
"""Trials that a hint leads to."""


@frozen()
class TrialPlace:
    """A recorded trial, from 1, of the task with this id: one that was judged live, and can be read."""

    suite: Path
    task: str
    trial: int
    passed: bool


def trials_to_open(score: Score) -> tuple[TrialPlace, ...]:
    """Return some trials that a live score is made of: those that fail, else the first of each task."""
    if not is_live(score):
        return ()
    failing = (
        TrialPlace(score.suite, one.task.id, trial, passed=False)
        for one in score.outcomes
        if one.live is not None
        for trial in one.live.failing
    )
    if some := tuple(islice(failing, MAX_TRIALS)):
        return some
    chosen = (one for one in score.outcomes if one.live is not None and one.live.bed is None)
    first = (TrialPlace(score.suite, one.task.id, 1, passed=True) for one in chosen)
    return tuple(islice(first, MAX_TRIALS))


def is_live(score: Score) -> bool:
    """Return whether a score is a live verdict on the current text."""
    return bool(score.outcomes) and all(one.live for one in score.outcomes) and not score.stale


def live_label(outcomes: Sequence[Outcome]) -> str:
    """Return how many trials pass, and the mean score of then and now where it differs."""
    broken = next((one.result for one in outcomes if one.result.status == "error"), None)
    if broken is not None:
        return LIVE + error_label(broken.feedback)
    if any(one.result.status == "pending" for one in outcomes):
        return f"{LIVE}◷ pending"
    trials = sum(one.result.trials for one in outcomes)
    passed = sum(one.result.passed_trials for one in outcomes)
    sign = sign_of((one.result.passed_trials, one.result.trials) for one in outcomes)
    statuses = (one.result.status for one in outcomes)
    label = LIVE + advisory_label(share_label(sign, passed, trials), statuses)
    if any(one.live is not None and one.live.bed is not None for one in outcomes):
        # The recorded scores are of other trials.
        return label
    recorded = [one.live.recorded for one in outcomes if one.live is not None]
    graded = [one.score for one in recorded if one is not None and one.status in ("graded", "advisory")]
    if len(graded) < len(outcomes):
        return label
    then, now = sum(graded) / len(graded), sum(one.result.score for one in outcomes) / len(outcomes)
    before, today = shown_score(then), shown_score(now)
    return label if before == today else f"{label} · {before} → {today}"


def live_story(score: Score, now: datetime) -> str:
    """Return in Markdown on which run it was judged, how old that is, and which trials fail."""
    by = told_by(score.outcomes[0].result.origin)
    trials = sum(one.result.trials for one in score.outcomes)
    timestamp = max(one.result.timestamp for one in score.outcomes)
    chosen = next((one.live.bed for one in score.outcomes if one.live is not None and one.live.bed), None)
    if chosen is not None:
        by, timestamp = "", chosen
    words = (
        f"Live: evaluated as written here on {counted(trials, 'recorded trial')} "
        f"of the run {age(timestamp, now)}{f' ({by})' if by else ''}; no agent was started."
    )
    failing = [
        (one.task.id, one.live.failing) for one in score.outcomes if one.live is not None and one.live.failing
    ]
    if not failing:
        return words
    more = f"; and {counted(len(failing) - MAX_TASKS, 'more task')}" if len(failing) > MAX_TASKS else ""
    told = [f"{code(task)} {', '.join(map(str, trials))}" for task, trials in failing[:MAX_TASKS]]
    return f"{words}\n\nFailing trials: {'; '.join(told)}{more}."
