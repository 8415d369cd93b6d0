"""Suites and tasks over their last runs: the last scores after the name, and since when it fails on hover.

Architecture invariant: answered from memory; an unknown history has no hint.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.figures import shown_score, shown_score_history
from waza_engine.markdown import code, sentence
from waza_language_server.features.scores.verdict_labels import Verdict
from waza_language_server.features.scores.words import age
from waza_language_server.project.suite_file import SuiteFile

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores
    from waza_language_server.project.histories import RunOnce, SuiteHistory, TaskHistory
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

FEWEST_RUNS = 3
"""With fewer runs, scores are shown only if they differ."""
_MOST_SCORES = 3


def histories(
    document: Document, scores: DocumentScores, span: Span | None, now: datetime | None
) -> tuple[Verdict, ...]:
    """Return the histories of the suite and the tasks in a part of a document."""
    root = document.tree.root
    history = scores.history
    if root is None or root.kind != "mapping" or history is None:
        return ()
    at = now or datetime.now(UTC)
    found: list[Verdict] = []
    match document.kind:
        case "task":
            found += _of_task(root, history, scores.task or "", at)
        case "eval":
            found += _of_suite(root, history, at)
            for task in SuiteFile(document.tree).tasks(span):
                checkpoint()
                found += _of_task(task.node, history, task.id, at)
        case _:
            pass
    return tuple(found)


def _of_suite(root: Node, history: SuiteHistory, now: datetime) -> Iterator[Verdict]:
    name, scores = root.get("name"), tuple(run.score for run in history.runs)
    if name is not None and _is_worth_it(scores):
        lines = [_title(scores), "", *(_run_line(run, now) for run in reversed(history.runs))]
        yield Verdict(name, shown_score_history(scores, _MOST_SCORES), "\n".join(lines), kind="history")


def _of_task(node: Node, history: SuiteHistory, task_id: str, now: datetime) -> Iterator[Verdict]:
    head, task = node.get("id") or node.get("name"), history.tasks.get(task_id)
    if head is not None and task is not None and _is_worth_it(task.scores):
        label = shown_score_history(task.scores, _MOST_SCORES) + (
            f" flaky {task.passed_trials}/{task.trials}" if task.trials else ""
        )
        story = "\n".join([_title(task.scores), "", *_story(task, history, now)])
        yield Verdict(head, label, story, kind="history")


def _story(task: TaskHistory, history: SuiteHistory, now: datetime) -> Iterator[str]:
    yield f"- passed in {task.passed} of {counted(task.judged, 'run')} that judged it"
    if task.trials:
        yield f"- flaky: its trials differed within a run, {task.passed_trials} of {task.trials} passed there"
    if task.red_since is not None:
        before = None if task.passed_in is None else history.runs[task.passed_in]
        newly, then = ("red", "") if before is None else ("newly red", "; it passed in the run before")
        if before is not None and before.commit is not None:
            then += f" (commit {code(before.commit.words)})"
        yield f"- {newly} since {_of_run(history.runs[task.red_since], now)}{then}"


def _title(scores: tuple[float | None, ...]) -> str:
    return f"**The last {len(scores)} runs**, the oldest first: {shown_score_history(scores, len(scores))}"


def _run_line(run: RunOnce, now: datetime) -> str:
    score = "not judged" if run.score is None else shown_score(run.score)
    return f"- {sentence(run.part) or score}: {_of_run(run, now)}"


def _of_run(run: RunOnce, now: datetime) -> str:
    model = f", {code(run.model)}" if run.model else ""
    commit = f", commit {code(run.commit.words)}" if run.commit else ""
    return f"the run of {age(run.started, now)} ({code(run.file)}{model}{commit})"


def _is_worth_it(scores: tuple[float | None, ...]) -> bool:
    judged = [score for score in scores if score is not None]
    return len(judged) >= FEWEST_RUNS or len(set(map(shown_score, judged))) > 1
