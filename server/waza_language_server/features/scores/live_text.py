"""Labels of live verdicts: ``⚡ ◐ 4/5 · 0.83 → 0.67``, and the trials that were graded.

They are of the current text: a verdict from before an edit is not live, but stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.markdown import cell, code, fenced
from waza_engine.number_formats import format_score
from waza_language_server.features.scores.verdict_labels import (
    advisory_label,
    age,
    error_label,
    executor_and_model,
    share_label,
    sign_of,
)

if TYPE_CHECKING:
    from waza_language_server.project.document_scores import Outcome, Score

LIVE = "⚡ "
"""The prefix of live verdicts, which are graded during typing on recorded answers."""
MAX_TASKS = 20
MAX_TRIALS = 5
"""Trials that a hint leads to."""


@frozen()
class TrialLocation:
    """A recorded trial, from 1, of the task with this id: one that was judged live, and can be read."""

    suite: Path
    task: str
    trial: int
    passed: bool


def trials_to_open(score: Score) -> tuple[TrialLocation, ...]:
    """Return some trials that a live score is made of: those that fail, else the first of each task."""
    if not is_live(score):
        return ()
    failing = (
        TrialLocation(score.suite, one.task.id, trial, passed=False)
        for one in score.outcomes
        if one.live is not None
        for trial in one.live.failing
    )
    if some := tuple(islice(failing, MAX_TRIALS)):
        return some
    chosen = (one for one in score.outcomes if one.live is not None and one.live.baseline is None)
    first = (TrialLocation(score.suite, one.task.id, 1, passed=True) for one in chosen)
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
    if any(one.live is not None and one.live.baseline is not None for one in outcomes):
        # The recorded scores are of other trials.
        return label
    recorded = [one.live.recorded for one in outcomes if one.live is not None]
    graded = [one.score for one in recorded if one is not None and one.status in ("graded", "advisory")]
    if len(graded) < len(outcomes):
        return label
    then, now = sum(graded) / len(graded), sum(one.result.score for one in outcomes) / len(outcomes)
    before, today = format_score(then), format_score(now)
    return label if before == today else f"{label} · {before} → {today}"


def live_story(score: Score, now: datetime) -> str:
    """Return in Markdown on which run it was judged, how old that is, and which trials fail."""
    by = executor_and_model(score.outcomes[0].result.origin)
    trials = sum(one.result.trials for one in score.outcomes)
    timestamp = max(one.result.timestamp for one in score.outcomes)
    chosen = next(
        (one.live.baseline for one in score.outcomes if one.live is not None and one.live.baseline), None
    )
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
    tasks = [f"{code(task)} {', '.join(map(str, trials))}" for task, trials in failing[:MAX_TASKS]]
    return f"{words}\n\nFailing trials: {'; '.join(tasks)}{more}."


MOST_OBSERVED = 20


def why_text(answer: Mapping[str, Any], recorded: datetime, now: datetime) -> str:
    """Return what ``live.explain`` answers as people read it, "" when it has nothing to say.

    ``recorded`` is when the trials were.
    """
    trials: Sequence[Mapping[str, Any]] = answer.get("trials", ())
    if not trials:
        return ""
    return "\n\n".join([_head(answer, trials, recorded, now), *_observed(trials), *_story(answer["most"])])


def _head(
    answer: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], recorded: datetime, now: datetime
) -> str:
    passed = sum(trial["passed"] is True for trial in trials)
    of_tasks: dict[str, list[bool]] = {}
    for trial in trials:
        of_tasks.setdefault(trial["task"], []).append(trial["passed"] is True)
    sign = sign_of((sum(passes), len(passes)) for passes in of_tasks.values())
    looked = f" (of {answer['total']}, the first)" if answer["total"] > len(trials) else ""
    return (
        f"**{LIVE}{share_label(sign, passed, len(trials))}**{looked} · evaluated on the trials recorded "
        f"{age(recorded, now)}"
    )


def _observed(trials: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    seen = [f"{'' if one['passed'] else '✗ '}{code(one['observed'])}" for one in trials if one["observed"]]
    if len(seen) > 1 and len(set(seen)) == 1:
        yield f"Observed: {seen[0]} in each"
    elif len(seen) > 1:
        more = f", … {len(seen) - MOST_OBSERVED} more" if len(seen) > MOST_OBSERVED else ""
        yield f"Observed: {', '.join(seen[:MOST_OBSERVED])}{more}"


def _story(most: Mapping[str, Any]) -> Iterator[str]:
    glyph = "✓" if most["passed"] else "✗"
    facts = [code(one) for one in most["told"]]
    yield f"{glyph} {code(most['task'])} trial {most['trial']}: {'; '.join(facts)}"
    if most["values"]:
        rows = [f"| {cell(text)} | {cell(value) or '–'} |" for text, value in most["values"]]
        yield "\n".join(["| | value |", "|---|---|", *rows])
    if most["excerpt"]:
        yield fenced("\n".join(_underlined(most["excerpt"])))
    if most["lines"]:
        yield fenced("\n".join(most["lines"]), "diff")


def _underlined(excerpt: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an excerpt, with carets below the matches."""
    before, found, after = (_plain(excerpt[key]) for key in ("before", "found", "after"))
    start, end, position = len(before), len(before) + len(found), 0
    for line in f"{before}{found}{after}".split("\n"):
        yield line
        first, last = max(start - position, 0), min(end - position, len(line))
        if first < last:
            yield " " * first + "^" * (last - first)
        position += len(line) + 1


def _plain(text: str) -> str:
    """Return text whose characters are all as wide: what would move the carets is a blank."""
    return text.replace("\r\n", "\n").replace("\t", " ").replace("\r", " ")
