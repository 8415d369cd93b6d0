"""Scores beside the lines that caused them.

The score of a grader stands at the end of its ``name:`` line, and at each assertion or pattern whether it
held. The tooltip tells the feedback, the trials, the age and the origin. After an edit marks stay beside
the rules they belong to: a rule that was rewritten loses its mark, one that moved takes it along.

Architecture invariant: answered from the project's memory of results; nothing runs and nothing is awaited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from waza_engine.markdown import fenced
from waza_engine.steps import Steps, finished
from waza_language_server.features.score_text import check_label, score_label, score_story
from waza_language_server.project.suite_file import SuiteFile

if TYPE_CHECKING:
    from waza_engine.results.reading.newest_scores import CheckResult
    from waza_engine.spec.scalars import Json
    from waza_language_server.project.document import Document
    from waza_language_server.project.scores import Outcome, Score
    from waza_language_server.project.suite_file import GraderEntry
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span


@dataclass(frozen=True, slots=True)
class InlayHint:
    """A few characters shown behind ``offset``; ``tooltip`` is Markdown."""

    offset: int
    label: str
    tooltip: str


def inlay_hints(
    document: Document, workspace: Workspace, span: Span | None = None, now: datetime | None = None
) -> tuple[InlayHint, ...]:
    """Return the scores in a part of a document (all of it without ``span``), in the order of the text.

    ``now`` is when the scores are looked at, for their age.
    """
    return finished(inlay_hints_in_steps(document, workspace, span, now))


def inlay_hints_in_steps(
    document: Document, workspace: Workspace, span: Span | None = None, now: datetime | None = None
) -> Steps[tuple[InlayHint, ...]]:
    """Do the same with many pauses."""
    if document.kind not in {"eval", "task"}:
        return ()
    found: list[InlayHint] = []
    scores = yield from workspace.project.scores.read_for_in_steps(document, workspace.project)
    for grader in SuiteFile(document.tree).graders(span):
        yield
        score = scores.of_grader(grader)
        if score is not None:
            found += _hints_of(document, grader, score, now)
    kept = [hint for hint in found if span is None or span.contains(hint.offset)]
    return tuple(sorted(kept, key=lambda hint: hint.offset))


def _hints_of(
    document: Document, grader: GraderEntry, score: Score, now: datetime | None
) -> Iterator[InlayHint]:
    name, entry = grader.node.get("name"), grader.node
    if name is None or grader.item.kind == "alias":
        # The name stands elsewhere; its line may be that of another grader.
        yield InlayHint(_end_of_line(document, grader.item), score_label(score), score_story(score, now))
        return
    yield InlayHint(_end_of_line(document, name), score_label(score), score_story(score, now))
    alone = len(score.outcomes) == 1
    marks = list(_marks(entry, score.outcomes[0]) if alone else _marks_of_all(entry, score))
    lines = Counter(document.lines.line_of(node.span.start) for node, _, _ in (*marks, (name, "", "")))
    for node, label, tooltip in marks:
        # Several rules on one line: each mark stands behind its own rule.
        crowded = lines[document.lines.line_of(node.span.start)] > 1
        yield InlayHint(node.span.end if crowded else _end_of_line(document, node), label, tooltip)


Mark = tuple["Node", str, str]


def _marks(entry: Node, outcome: Outcome) -> Iterator[Mark]:
    for check in outcome.result.checks:
        node = _rule(entry, check.path, outcome.graded)
        if node is not None:
            tooltip = fenced(check.message) if check.message else ""
            yield node, check_label(check.passed_trials, check.trials), tooltip


def _marks_of_all(entry: Node, score: Score) -> Iterator[Mark]:
    """Yield one mark for each rule of a suite's grader: whether it held in all tasks."""
    by_path: dict[tuple[str | int, ...], list[tuple[Outcome, CheckResult]]] = {}
    for outcome in score.outcomes:
        for check in outcome.result.checks:
            by_path.setdefault(check.path, []).append((outcome, check))
    for path, checks in by_path.items():
        node = _rule(entry, path, checks[0][0].graded)
        if node is None:
            continue
        failed = [(outcome, check) for outcome, check in checks if not check.passed]
        label = "✓" if not failed else f"✗ {len(checks) - len(failed)}/{len(checks)} tasks"
        told = [f"{outcome.task.id}: {check.message or 'failed'}" for outcome, check in failed[:10]]
        yield node, label, fenced("\n".join(told)) if told else ""


def _rule(entry: Node, path: tuple[str | int, ...], graded: Json) -> Node | None:
    """Return where a rule stands now: where it stood, or where the same rule has moved to in its list."""
    if not path:
        return None
    node = _in_config(entry, path)
    if graded is None:
        return node
    was = _value_at(graded, path)
    if node is not None and node.to_python() == was:
        return node
    holder = _in_config(entry, path[:-1])
    if not isinstance(path[-1], int) or holder is None:
        return None
    return next((item for item in holder.target.items if item.to_python() == was), None)


def _in_config(entry: Node, path: tuple[str | int, ...]) -> Node | None:
    node = entry.get("config", *path)
    # Older files write the options of a grader beside its type.
    return node if node is not None or not path else entry.get(*path)


def _value_at(graded: Json, path: tuple[str | int, ...]) -> Json:
    config = graded.get("config") if isinstance(graded, dict) else None
    value: Json = config if config is not None else graded
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _end_of_line(document: Document, node: Node) -> int:
    """Return the end of the line on which a value begins."""
    return document.lines.line_span(document.lines.line_of(node.span.start)).end
