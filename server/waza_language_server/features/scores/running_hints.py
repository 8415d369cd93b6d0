"""Progress of an active run, next to the lines of its suite: the tasks and trigger prompts in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.markdown import code
from waza_language_server.features.scores.verdict import Verdict
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.trigger_prompts import prompts_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores
    from waza_language_server.project.going_runs import UnderWay
    from waza_language_server.project.trigger_prompts import WrittenPrompt
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

RUNNING = "⟳ running"
WAITS = "– waits for its turn"
_PHASES = {"asking": "prompt sent", "grading": "grading"}


def first_run(
    document: Document, root: Node, scores: DocumentScores, span: Span | None, now: datetime
) -> list[Verdict]:
    """Return the progress in a suite without recorded results."""
    if document.kind == "task":
        return list(running_task(root, scores, scores.task or "", now))
    if document.kind == "trigger_tests":
        return [verdict for prompt in prompts_in(root) for verdict in running_prompt(prompt, scores, now)]
    if document.kind != "eval" or not scores.runs_whole:
        return []
    name = root.get("name")
    found = [] if name is None else [Verdict(name, RUNNING, "The suite runs for the first time.")]
    for task in SuiteFile(document.tree).tasks(span):
        checkpoint()
        found += running_task(task.node, scores, task.id, now)
    return found


def running_task(node: Node, scores: DocumentScores, task_id: str, now: datetime) -> Iterator[Verdict]:
    """Yield the progress of a task, nothing if it does not run."""
    trial, head = scores.under_way(task_id), node.get("id") or node.get("name")
    if head is not None and trial is not None:
        yield Verdict(head, _label(trial), _story(task_id, trial, now))


def running_prompt(prompt: WrittenPrompt, scores: DocumentScores, now: datetime) -> Iterator[Verdict]:
    """Yield that a trigger prompt is tried, nothing when it is not."""
    trial = scores.prompt_under_way(prompt.text, should_trigger=prompt.should_trigger)
    if trial is not None:
        yield Verdict(prompt.node, _label(trial), _story(prompt.text, trial, now))


def _label(trial: UnderWay) -> str:
    """Return a short label for the progress of a task or a trigger prompt."""
    number = f" · trial {trial.trial}" if trial.trial and trial.trial > 1 else ""
    return f"{RUNNING}{number} · {_PHASES[trial.phase]}"


def _story(name: str, trial: UnderWay, now: datetime) -> str:
    """Return the same in Markdown, with how long it has gone on, and since when: a hover stays as it is."""
    seconds = max(0, round((now - trial.since).total_seconds()))
    took = f"{seconds // 60}:{seconds % 60:02}"
    clock = trial.since.astimezone().strftime("%H:%M:%S")
    did = (
        f"The prompt was sent {took} ago"
        if trial.phase == "asking"
        else f"The answer is graded, {took} so far"
    )
    number = f"Trial {trial.trial}. " if trial.trial else ""
    return f"**{code(name)}** {RUNNING}\n\n{number}{did} (since {clock})."
