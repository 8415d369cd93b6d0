"""Print a result document for people: each task with its score, what did not pass and why, the totals."""

from __future__ import annotations

from typing import IO

from waza_engine.commands.conclusion_text import MARKS, feedback_part, mark_of, print_conclusion, shortened
from waza_engine.commands.printer import Part, Printer
from waza_engine.commands.standing import standing_words
from waza_engine.counting import counted
from waza_engine.figures import shown_score, shown_scores
from waza_engine.moments import is_known
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import Conclusion, conclude
from waza_engine.results.json_values import Block, Json
from waza_engine.results.record import RunHeader
from waza_engine.results.reports.words import spending_words
from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion
from waza_engine.vocabulary import shown_grader


def print_results(
    document: Block,
    output: IO[str] | None = None,
    *,
    fail_under: float | None = None,
    standing: Json | None = None,
) -> Conclusion:
    """Print a result document in the current layout, to standard output unless another stream is given.

    It has colours on a terminal and is plain elsewhere. ``standing`` is the suite's conclusion from all of
    its records (``standing_of``). Return the conclusion of the run.
    """
    printer = Printer(output)
    run = run_of(document)
    found = conclude(run, fail_under=fail_under)
    printer.line(*_headline(run.header, found))
    for task in found.tasks:
        score = f"  {shown_scores(task.score, task.plain_score)}" if task.scored else ""
        trials = f"  {task.share} trials" if task.share and task.ended_trials > 1 else ""
        trials += f"  ·  {task.estimates.words}" if task.estimates is not None else ""
        flaky = "  flaky" if task.flaky else ""
        told = task.reason if task.passes_part else task.untold
        why = f"  {shortened(told)}" if told else ""
        printer.line(mark_of(task), f" {task.id or task.name}{score}", (f"{trials}{flaky}{why}", "dim"))
    for task in found.tasks:
        if task.error or task.verdict in ("failed", "errored") or task.waits or task.has_advice:
            _explain(printer, task)
    print_conclusion(printer, found, run.summary.duration_ms)
    if spent := spending_words(document):
        printer.line(spent)
    if standing is not None:
        printer.line(standing_words(standing))
    return found


def _headline(header: RunHeader, found: Conclusion) -> tuple[Part, ...]:
    facts = [
        "trigger prompts" if header.settings.get("prompts") else counted(len(found.tasks), "task"),
        *(name for name in (header.executor, header.asked_model) if name),
        *([f"{header.started:%Y-%m-%d %H:%M:%S}"] if is_known(header.started) else []),
    ]
    name = header.eval_name or header.skill or "run"
    return (name, "bold"), f": {', '.join(facts)}"


def _explain(printer: Printer, task: TaskConclusion) -> None:
    complaints = [grader for grader in task.graders if grader.verdict != "passed"]
    if not task.error and not complaints and task.cause is None:
        return
    printer.line()
    printer.line(mark_of(task), " ", (task.id or task.name, "bold"))
    if task.error:
        printer.line(f"    {shortened(task.error)}")
    if task.cause is not None:
        printer.line("    ", (f"{task.cause.kind}: {task.cause.evidence}", "dim"))
    for grader in complaints:
        printer.line(
            "    ",
            MARKS[grader.verdict],
            f" {shown_grader(grader.name)}{_score(grader)}",
            feedback_part(grader.feedback),
        )


def _score(grader: GraderConclusion) -> str:
    return "" if grader.verdict == "pending" else f"  {shown_score(grader.score)}"
