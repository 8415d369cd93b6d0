"""A result document told to people: each task with its score, what did not pass and why, the totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from waza_engine.commands.printer import Part, Printer
from waza_engine.commands.report import MARKS, feedback_part
from waza_engine.results.codec.header import header_of
from waza_engine.results.json_values import Block, block_of, blocks_of, number
from waza_engine.results.reading.scores import GraderResult, TaskResult
from waza_engine.results.reading.task_scores import task_result
from waza_engine.results.record import RunHeader
from waza_engine.results.reports.words import ending_words, missed_metrics

_SHOWN_CHARACTERS = 300


def print_results(document: Block, output: IO[str] | None = None) -> None:
    """Print a result document in today's layout, to standard output unless another stream is given.

    It has colours on a terminal and is plain elsewhere.
    """
    printer = Printer(output)
    header = header_of(document)
    tasks = [task_result(task, header.started) for task in blocks_of(document.get("tasks"))]
    printer.line(*_headline(header, tasks))
    for task in tasks:
        score = f"  {task.score:.2f}" if task.trials else ""
        trials = f"  {task.passed_trials}/{task.trials} trials" if task.trials > 1 else ""
        printer.line(mark(task.status), f" {task.id or task.name}{score}", (trials, "dim"))
    for task in tasks:
        if task.error or task.status not in ("passed", "skipped"):
            _explain(printer, task)
    _print_triggers(printer, block_of(document, "trigger_metrics"))
    for missed in missed_metrics(document).values():
        printer.line(mark("failed"), f" {missed}")
    passed = sum(task.status == "passed" for task in tasks)
    summary = block_of(document, "summary")
    printer.line()
    printer.line(
        f"{passed} of {len(tasks)} tasks passed"
        + "".join(
            f", {count} {word}"
            for status, word in (("error", "in error"), ("skipped", "skipped"))
            if (count := sum(task.status == status for task in tasks))
        )
        + f"  ·  score {number(summary.get('aggregate_score')):.2f}"
        + f"  ·  {number(summary.get('duration_ms')) / 1000:.1f} s"
    )
    if ending := ending_words(document):
        printer.line((ending, "red"))


def mark(status: str) -> Part:
    """Return the sign of a status; ``?`` for one that is not known."""
    return MARKS.get(status, "?")


def _headline(header: RunHeader, tasks: Sequence[TaskResult]) -> tuple[Part, ...]:
    facts = [
        f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}",
        *(name for name in (header.executor, header.model) if name),
        *([f"{header.started:%Y-%m-%d %H:%M:%S}"] if header.started.year > 1 else []),
    ]
    name = header.eval_name or header.skill or "run"
    return (name, "bold"), f": {', '.join(facts)}"


def _explain(printer: Printer, task: TaskResult) -> None:
    complaints = [grader for grader in task.graders.values() if not grader.passed]
    if not task.error and not complaints:
        return
    printer.line()
    printer.line(mark(task.status), " ", (task.id or task.name, "bold"))
    if task.error:
        printer.line(f"    {_shortened(task.error)}")
    for grader in complaints:
        sign = mark(grader.status if grader.status != "graded" else "failed")
        printer.line("    ", sign, f" {grader.name}{_score(grader)}", feedback_part(grader.feedback))


def _score(grader: GraderResult) -> str:
    return "" if grader.status == "pending" else f"  {grader.score:.2f}"


def _print_triggers(printer: Printer, found: Block) -> None:
    if found:
        figures = f"accuracy {number(found.get('accuracy')):.2f}, F1 {number(found.get('f1')):.2f}"
        printer.line()
        printer.line(f"triggers: {figures}")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"
