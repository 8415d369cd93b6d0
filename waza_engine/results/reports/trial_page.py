"""One trial as a readable page, in which each match and miss of its graders has a position.

It is Markdown that is readable as source: an editor shows the text, and draws the marks over it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from waza_engine.frozen import frozen
from waza_engine.markdown import code, fenced
from waza_engine.masking import masked
from waza_engine.moments import SOME_TIME_AGO, local_time
from waza_engine.results.record import TrialOutcome
from waza_engine.results.reports.answer_marks import Mark, marks_in
from waza_engine.results.reports.result_page import NO_ANSWER, trial_sections
from waza_engine.terminal import visible_lines
from waza_engine.vocabulary import shown_grader

LONGEST_ANSWER = 200_000
"""Characters of an answer that are shown."""
LONGEST_REST = 200_000
"""The length in characters of the rest below it: calls and verdicts."""


@frozen()
class TrialPage:
    """A page's text, and marks that count its characters."""

    text: str
    marks: Sequence[Mark]


def trial_page(
    title: str, trial: TrialOutcome, prompt: str, judged: Collection[str], started: datetime
) -> TrialPage:
    """Return the page of a trial that was recorded in the run ``started`` then.

    ``judged`` are the names of the current verdicts, ``title`` is the name of the task, ``prompt`` that of
    its suite.
    """
    # Compute marks from the shown text: masking and escaping change its length.
    trial = replace(trial, output=visible_lines(masked(trial.output)))
    shown = trial.output[:LONGEST_ANSWER]
    answer = fenced(shown) if shown else NO_ANSWER
    head = [f"# {code(title)}, trial {trial.number}", "", _origin(trial, judged, started), ""]
    lines = [*head, *trial_sections(trial, prompt, answer), ""]
    # The prompt may be the same text, so the answer is found by identity.
    place = next((number for number, line in enumerate(lines) if line is answer), 0)
    before = masked("".join(f"{line}\n" for line in lines[:place]))
    text = before + "\n".join([*lines[place : place + 1], masked(_bounded("\n".join(lines[place + 1 :])))])
    if not shown or masked(text) != text:
        return TrialPage(masked(text), ())
    start = len(before) + answer.index("\n") + 1
    end = start + len(shown)
    marks = marks_in(trial, LONGEST_ANSWER)
    placed = [replace(mark, start=mark.start + start, end=min(mark.end + start, end)) for mark in marks]
    return TrialPage(text, placed)


def _bounded(text: str) -> str:
    return (
        text if len(text) <= LONGEST_REST else f"{text[:LONGEST_REST]}\n\nThe rest is in the result file.\n"
    )


def _origin(trial: TrialOutcome, judged: Collection[str], started: datetime) -> str:
    """Return when the answer was given, and when the verdicts on it."""
    names = [verdict.name for verdict in (trial.validations or {}).values()]
    kept = [code(shown_grader(name)) for name in names if name not in judged]
    at = local_time(started) or SOME_TIME_AGO
    words = f"Recorded {at}; its graders are evaluated as they are written now; no agent was started."
    return f"{words} As recorded: {', '.join(kept)}." if kept else words
