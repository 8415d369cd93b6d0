"""A result document told to people: each task with its score, what did not pass and why, the totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from rich.console import Console
from rich.markup import escape

from waza_engine.commands.report import MARKS
from waza_engine.results.formats import moment, task_result
from waza_engine.results.json_values import Block, block_of, blocks_of, number
from waza_engine.results.scores import GraderResult, TaskResult

_SHOWN_CHARACTERS = 300


def print_results(document: Block, output: IO[str]) -> None:
    """Print a result document in today's layout; with colours on a terminal, plain elsewhere."""
    console = Console(file=output, highlight=False, soft_wrap=True)
    timestamp = moment(document.get("timestamp"))
    tasks = [task_result(task, timestamp) for task in blocks_of(document.get("tasks"))]
    console.print(_headline(document, tasks))
    for task in tasks:
        score = f"  {task.score:.2f}" if task.trials else ""
        trials = f"  {task.passed_trials}/{task.trials} trials" if task.trials > 1 else ""
        console.print(f"{mark(task.status)} {escape(task.id or task.name)}{score}[dim]{trials}[/]")
    for task in tasks:
        if task.status not in ("passed", "skipped"):
            _explain(console, task)
    _print_triggers(console, block_of(document, "trigger_metrics"))
    passed = sum(task.status == "passed" for task in tasks)
    summary = block_of(document, "summary")
    console.print(
        f"\n{passed} of {len(tasks)} tasks passed"
        + "".join(
            f", {count} {word}"
            for status, word in (("error", "in error"), ("skipped", "skipped"))
            if (count := sum(task.status == status for task in tasks))
        )
        + f"  ·  score {number(summary.get('aggregate_score')):.2f}"
        + f"  ·  {number(summary.get('duration_ms')) / 1000:.1f} s"
    )


def mark(status: str) -> str:
    """Return the sign of a status, with markup; ``?`` for one that is not known."""
    return MARKS.get(status, "?")


def _headline(document: Block, tasks: Sequence[TaskResult]) -> str:
    config = block_of(document, "config")
    facts = [
        f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}",
        *(str(config[key]) for key in ("engine_type", "model_id") if config.get(key)),
        *([str(document["timestamp"])[:19].replace("T", " ")] if document.get("timestamp") else []),
    ]
    name = escape(str(document.get("eval_name") or document.get("skill") or "run"))
    return f"[bold]{name}[/]: {escape(', '.join(facts))}"


def _explain(console: Console, task: TaskResult) -> None:
    complaints = [grader for grader in task.graders.values() if not grader.passed]
    if not task.error and not complaints:
        return
    console.print(f"\n{mark(task.status)} [bold]{escape(task.id or task.name)}[/]")
    if task.error:
        console.print(f"    {escape(_shortened(task.error))}")
    for grader in complaints:
        sign = mark(grader.status if grader.status != "graded" else "failed")
        console.print(
            f"    {sign} {escape(grader.name)}{_score(grader)}  [dim]{escape(_shortened(grader.feedback))}[/]"
        )


def _score(grader: GraderResult) -> str:
    return "" if grader.status == "pending" else f"  {grader.score:.2f}"


def _print_triggers(console: Console, found: Block) -> None:
    if found:
        figures = f"accuracy {number(found.get('accuracy')):.2f}, F1 {number(found.get('f1')):.2f}"
        console.print(f"\ntriggers: {figures}")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"
