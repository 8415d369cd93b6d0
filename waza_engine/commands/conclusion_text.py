"""The conclusion of a run, as the last lines of a run and a report."""

from __future__ import annotations

from waza_engine.commands.printer import Part, Printer
from waza_engine.counting import cut
from waza_engine.number_formats import format_scores
from waza_engine.results.conclusion import Conclusion
from waza_engine.results.reports.descriptions import (
    describe_misclassification,
    describe_repeated_trials,
    describe_triggers,
    verdict_label,
)
from waza_engine.results.task_conclusion import TaskConclusion

MARKS: dict[str, tuple[str, str]] = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "error": ("⚠", "yellow"),
    "errored": ("⚠", "yellow"),
    "skipped": ("–", "dim"),
    "lost": ("⚠", "yellow"),
    "not run": ("–", "dim"),
    "pending": ("◷", "cyan"),
    "advisory": ("○", "yellow"),
    "unjudged": ("–", "dim"),
}
_RUN_MARKS = {"passed": MARKS["passed"], "unjudged": MARKS["unjudged"], "errored": MARKS["errored"]}
_SHOWN_CHARACTERS = 300


def print_conclusion(
    printer: Printer, found: Conclusion, duration_ms: float, *, is_written: bool = True
) -> None:
    """Print the trigger prompts, why the run did not pass, and last the totals after its verdict.

    A run whose results were not stored does not pass.
    """
    if found.triggers is not None:
        printer.line()
        printer.line(f"triggers: {describe_triggers(found.triggers)}")
        for trigger in (*found.triggers.mistakes, *found.triggers.broken):
            mark = MARKS["errored" if trigger.error else "failed"]
            printer.line(
                "  ", mark, f" {shortened(describe_misclassification(trigger))}: {shortened(trigger.prompt)}"
            )
    print_reasons(printer, found)
    if repeated := describe_repeated_trials(found):
        printer.line(repeated)
    printer.line(
        run_mark(found) if is_written else MARKS["lost"],
        f" {verdict_label(found) if is_written else 'results not kept'}: {found.results}",
        f"{describe_score(found)}  ·  {duration_ms / 1000:.1f} s",
    )


def print_reasons(printer: Printer, found: Conclusion) -> None:
    """Print why a run did not pass, and what else is worth knowing."""
    printer.line()
    for reason in found.reasons:
        if not reason.is_counted:
            printer.line(MARKS[reason.kind], f" {reason.words}")
    for note in found.notes:
        printer.line(("note: ", "dim"), note)


def describe_verdict(found: Conclusion) -> Part:
    """Return a run's verdict as the cell of a table."""
    mark, style = run_mark(found)
    return f"{mark} {verdict_label(found)}", style


def run_mark(found: Conclusion) -> tuple[str, str]:
    """Return the mark of a run's verdict, with its style."""
    return _RUN_MARKS.get(found.verdict, MARKS["failed"])


def describe_score(found: Conclusion) -> str:
    """Return the score as the part of a line that follows others, "" for a run that has none."""
    return f"  ·  score {format_scores(found.score, found.plain_score)}" if found.scored else ""


def mark_of(task: TaskConclusion) -> Part:
    """Return the mark of a task."""
    return MARKS["pending" if task.waits else task.verdict]


def describe_feedback(feedback: str) -> Part:
    """Return the beginning of a grader's feedback, as the end of its line."""
    line = shortened(feedback)
    return (f"  {line}", "dim") if line else ""


def verdict_mark(status: str, *, passed: bool) -> Part:
    """Return the mark of a grader's verdict with a status."""
    return MARKS[status if status != "graded" else "passed" if passed else "failed"]


def shortened(text: str) -> str:
    """Return a text in one line of at most 300 characters."""
    return cut(" ".join(text.split()), _SHOWN_CHARACTERS)
