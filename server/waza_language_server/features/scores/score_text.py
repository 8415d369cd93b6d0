"""Scores in words: the few characters at the end of a line, and the story behind them.

The glyph and the number carry the meaning, since inlay hints have no colours of their own: ``✓ 1.00``,
``✗ 0.67 1 of 3``, ``○ 0.67 · advisory``, ``◐ 4/5 trials``, ``◷ pending``, ``! reason`` of an error.
Live verdicts have labels of their own (`live_text.py`). The label of a stale score says so in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.markdown import code, fenced
from waza_engine.number_formats import format_score
from waza_engine.vocabulary import grader_label
from waza_language_server.features.scores.live_text import LIVE, is_live, live_label, live_story
from waza_language_server.features.scores.verdict_labels import (
    SIGNS,
    advisory_label,
    age,
    error_label,
    executor_and_model,
    share_label,
    sign_of,
    suite_label,
)
from waza_language_server.project.changed_inputs import RUNS_AGAIN, RUNS_ELSEWHERE
from waza_language_server.project.document_scores import Outcome, Score

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import GraderResult
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.project.regraded_answers import Strength

MAX_FEEDBACK = 2_000
MAX_TASKS = 20
STALE = " · stale"
REGRADED = "↻ "
NOTHING_RAN = "Requested {}, and nothing ran"
"""The text for a rejected run, with its age."""


def score_label(score: Score) -> str:
    """Return the score of a grader in few characters."""
    if is_live(score):
        return live_label(score.outcomes)
    again = REGRADED if any(outcome.regraded for outcome in score.outcomes) else ""
    return again + _label(score.outcomes) + stale_label(score.stale, score.changes)


def stale_label(stale: str, changes: Sequence[ChangedInput]) -> str:
    """Return the label after a stale score: which file changed, and how much of it."""
    if not stale:
        return ""
    if stale == RUNS_AGAIN:
        return f"{STALE}: runs again"
    if stale == RUNS_ELSEWHERE:
        return " · running elsewhere"
    if not changes:
        return STALE
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f"{STALE}: {changes[0].words}{more}"


def stale_clause(stale: str) -> str:
    """Return the end of a sentence about a result: why it may no longer hold."""
    if stale == RUNS_ELSEWHERE:
        return f"; {stale}"
    return f"; stale: {stale}" if stale else ""


def suite_graders_label(scores: Sequence[Score]) -> str:
    """Return a short label for the results of a suite's graders on one task, the worst by its name."""
    live = any(map(is_live, scores))
    again = any(outcome.regraded for score in scores for outcome in score.outcomes)
    origin = LIVE if live else REGRADED if again else ""
    glyphs = [(_label(score.outcomes)[:1], score.name) for score in scores]
    for worst in "✗◐!◷○":
        names = [name for glyph, name in glyphs if glyph == worst]
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            return f"{origin}{worst} {names[0]}{more} (suite)"
    return f"{origin}✓ {len(scores)} of the suite"


def score_story(score: Score, now: datetime | None = None) -> str:
    """Return the score of a grader in Markdown: verdict, feedback, trials, tasks, age and origin."""
    verdict = _label(score.outcomes)
    # The reason of an error is shown below, quoted.
    lines = [f"**{code(score.name)}** {'!' if verdict.startswith('! ') else verdict}"]
    if len(score.outcomes) == 1:
        lines += _outcome_story(score.outcomes[0])
    else:
        lines.append("")
        shown = sorted(score.outcomes, key=lambda outcome: outcome.result.passed)[:MAX_TASKS]
        lines += [_task_line(outcome) for outcome in shown]
        if len(score.outcomes) > MAX_TASKS:
            lines.append(f"- … and {counted(len(score.outcomes) - MAX_TASKS, 'more task')}")
    newest = max(score.outcomes, key=lambda outcome: outcome.result.timestamp)
    lines += ["", _origin(score, newest, now or datetime.now(UTC))]
    return "\n".join(lines)


def strength_story(strength: Strength) -> str:
    """Return in Markdown how many changes of recorded answers a grader noticed when that was measured.

    And on which answers it fails that are known to be good.
    """
    return "\n\n".join([_strength(strength), *map(fenced, strength.rejected[:MAX_TASKS])])


def _strength(strength: Strength) -> str:
    if strength.finding:
        return f"**Strength:** {strength.finding}"
    if strength.not_measured:
        return f"**Strength:** not measured, {strength.not_measured}"
    if not strength.tried:
        return "**Strength:** not known, it passes on no recorded trial"
    share = f"{strength.caught / strength.tried:.0%}"
    missed = f"; not noticed: {', '.join(strength.missed)}" if strength.missed else ""
    return f"**Strength:** {share}, {strength.caught} of {strength.tried} changes noticed{missed}"


def check_label(passed_trials: int, trials: int) -> str:
    """Return the outcome of one assertion or pattern over all trials."""
    sign = sign_of([(passed_trials, trials)])
    return f"{sign} {passed_trials}/{trials}" if sign == "◐" else sign


def _label(outcomes: Sequence[Outcome]) -> str:
    return advisory_label(_verdict_label(outcomes), (outcome.result.status for outcome in outcomes))


def _verdict_label(outcomes: Sequence[Outcome]) -> str:
    results = [outcome.result for outcome in outcomes]
    graded = [result for result in results if result.status not in {"pending", "error"}]
    broken = next((result for result in results if result.status == "error"), None)
    if broken is not None:
        return error_label(broken.feedback)
    if not graded:
        return "◷ pending"
    mean = sum(result.score for result in graded) / len(graded)
    if all(result.passed for result in graded):
        return f"✓ {format_score(mean)}"
    if len(graded) > 1:
        passed = sum(result.passed for result in graded)
        sign = sign_of((result.passed_trials, result.trials) for result in graded)
        return share_label(f"{sign} {format_score(mean)}", passed, len(graded), "task")
    (result,) = graded
    if result.trials > 1 and result.passed_trials:
        return f"◐ {result.passed_trials}/{result.trials} trials"
    passed = sum(check.passed for check in result.checks)
    label = f"✗ {format_score(mean)}"
    return share_label(label, passed, len(result.checks)) if len(result.checks) > 1 else label


def grader_line(result: GraderResult) -> str:
    """Return one grader of a task as an item of a list in Markdown."""
    mark = "✓" if result.passed else SIGNS.get(result.status, "✗")
    line = f"- {mark} {code(grader_label(result.name))} {format_score(result.score)}"
    feedback = result.feedback.strip().splitlines()
    return line if result.passed or not feedback else f"{line}: {code(feedback[0][:200])}"


def _outcome_story(outcome: Outcome) -> list[str]:
    result = outcome.result
    lines: list[str] = []
    if result.feedback:
        lines += ["", fenced(result.feedback[:MAX_FEEDBACK])]
    if result.trials > 1:
        # Of a grader that broke no trial was found wrong.
        against = SIGNS.get(result.status, "✗")
        verdicts = zip(result.passes, result.scores, strict=False)
        trials = ", ".join(
            f"{'✓' if passed else against} {format_score(score)}" for passed, score in verdicts
        )
        lines += ["", f"Trials: {trials}"]
    failed = [check for check in result.checks if not check.passed and check.message]
    if len(failed) > 1:
        lines += ["", *(f"- ✗ {code(check.message)}" for check in failed[:MAX_TASKS])]
    if outcome.task.error:
        lines += ["", f"The task ended with an error: {code(outcome.task.error)}"]
    return lines


def regraded_clause(at: datetime, now: datetime) -> str:
    """Return that recorded answers were graded again at a moment, for the end of a sentence."""
    return f"; graded again {age(at, now)}, without the agent"


def _task_line(outcome: Outcome) -> str:
    verdict = _label([outcome])
    line = f"- {code(outcome.task.id)} {'!' if verdict.startswith('! ') else verdict}"
    feedback = outcome.result.feedback.strip().splitlines()
    if not outcome.result.passed and feedback:
        line += f": {code(feedback[0][:200])}"
    return line


def _origin(score: Score, newest: Outcome, now: datetime) -> str:
    by = executor_and_model(newest.result.origin)
    if is_live(score):
        return live_story(score, now)
    words = f"Recorded {age(newest.result.timestamp, now)}{f' ({by})' if by else ''}"
    if newest.result.origin is None:
        words = NOTHING_RAN.format(age(newest.result.timestamp, now))
    if newest.regraded is not None:
        words += regraded_clause(newest.regraded, now)
    if score.shared:
        words += f" in {code(suite_label(score.suite))}"
    return f"{words}{stale_clause(score.stale)}."
