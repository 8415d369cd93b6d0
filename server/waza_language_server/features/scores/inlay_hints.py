"""Inlay hints: scores next to the lines that caused them, and effective values next to those of the suite.

The score of a grader is shown at the end of its ``name:`` line, and at each assertion or pattern whether it
held. The tooltip shows the feedback, the trials, the age and the origin. After an edit marks stay next to
the rules they belong to: a rule that was rewritten loses its mark, one that moved takes it along.

Architecture invariant: answered from the project's memory of results; nothing runs and nothing is awaited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, get_args

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code, fenced
from waza_language_server.features.scores.history_hints import histories
from waza_language_server.features.scores.live_text import LIVE, TrialPlace, trials_to_open
from waza_language_server.features.scores.score_text import STALE, check_label, score_label, score_story
from waza_language_server.features.scores.setting_hints import setting_hints
from waza_language_server.features.scores.verdict_hints import verdicts
from waza_language_server.features.scores.verdict_labels import HintKind, Verdict
from waza_language_server.features.scores.words import share_label, shortened, sign_of
from waza_language_server.project.document_scores import read_scores
from waza_language_server.project.suite_file import SuiteFile, rule_at, shown_at

if TYPE_CHECKING:
    from waza_engine.results.reading.newest_scores import CheckResult
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores, Outcome, Score
    from waza_language_server.project.suite_file import GraderEntry
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.line_index import LineIndex
    from waza_language_server.text.span import Span


LONGEST_LINE = 43
"""Characters of hints on one line that VS Code shows by default (`editor.inlayHints.maximumLength`)."""
_SCORED = compiled_later(r"(?:[⚡↻] )?[✓✗◐] \d\.\d\d(?= )")
HINT_KINDS: frozenset[str] = frozenset(get_args(HintKind))


@frozen()
class InlayHint:
    """A few characters shown after ``offset``; ``tooltip`` is Markdown.

    ``changes`` are the files that have changed since it was recorded, ``trials`` those of its live verdict,
    so that they can be opened. ``is_old`` of a check says that its grader's score is stale.
    """

    offset: int
    label: str
    tooltip: str
    changes: tuple[ChangedInput, ...] = ()
    kind: HintKind = "score"
    trials: tuple[TrialPlace, ...] = ()
    is_old: bool = False

    @property
    def stale(self) -> bool:
        """Return whether the verdict may be stale."""
        return self.is_old or STALE in self.label


def inlay_hints(
    document: Document, workspace: Workspace, span: Span | None = None, now: datetime | None = None
) -> tuple[InlayHint, ...]:
    """Return the scores in a part of a document (all of it without ``span``), in the order of the text.

    ``now`` is when the scores are looked at, for their age.
    """
    if document.kind not in {"eval", "task", "trigger_tests"}:
        return ()
    found: list[InlayHint] = []
    scores = read_scores(document, workspace.project)
    for grader in SuiteFile(document.tree).graders(span):
        checkpoint()
        score = scores.of_grader(grader)
        if score is not None:
            found += hints_of_grader(document, grader, score, score_story(score, now))
    found += hints_beside_graders(document, scores, span, now)
    run = max(scores.runs, key=lambda run: run.timestamp, default=None)
    for told in setting_hints(document, workspace.project, span, run):
        found.append(InlayHint(told.node.span.end, told.label, told.tooltip, kind="inherited"))
    kept = [hint for hint in found if span is None or span.contains(hint.offset)]
    return tuple(sorted(kept, key=lambda hint: hint.offset))


def hints_beside_graders(
    document: Document, scores: DocumentScores, span: Span | None = None, now: datetime | None = None
) -> list[InlayHint]:
    """Return the verdicts of suites, tasks, expectations, metrics and prompts."""
    told = (*verdicts(document, scores, span, now), *histories(document, scores, span, now))
    return list(_hints_of_verdicts(document, told))


def hints_of_grader(document: Document, grader: GraderEntry, score: Score, story: str) -> Iterator[InlayHint]:
    """Yield the score of a grader, with its story in Markdown, and whether each of its rules held."""
    name, entry = grader.node.get("name"), grader.node
    if name is None or grader.item.kind == "alias":
        # The name is defined elsewhere; its line may be that of another grader.
        yield _hint_of(score, _end_of_line(document, grader.item), story)
        return
    yield _hint_of(score, _end_of_line(document, name), story)
    alone = len(score.outcomes) == 1
    marks = list(_marks(entry, score.outcomes[0]) if alone else _marks_of_all(entry, score))
    lines = Counter(document.lines.line_of(node.span.start) for node in (*(mark[0] for mark in marks), name))
    for node, label, tooltip, is_old in marks:
        # Several rules on one line: each mark follows its own rule.
        crowded = lines[document.lines.line_of(node.span.start)] > 1
        place = node.span.end if crowded else _end_of_line(document, node)
        yield InlayHint(place, label, tooltip, kind="check", is_old=is_old)


def _hint_of(score: Score, offset: int, story: str) -> InlayHint:
    return InlayHint(offset, score_label(score), story, score.changes, trials=trials_to_open(score))


def _hints_of_verdicts(document: Document, verdicts: Sequence[Verdict]) -> Iterator[InlayHint]:
    nodes = {each.node.span for each in verdicts}
    lines = Counter(document.lines.line_of(span.start) for span in nodes)
    for each in verdicts:
        crowded = lines[document.lines.line_of(each.node.span.start)] > 1
        offset = each.node.span.end if crowded else _end_of_line(document, each.node)
        yield InlayHint(offset, each.label, each.tooltip, each.changes, each.kind, is_old=each.is_old)


Mark = tuple["Node", str, str, bool]


def _marks(entry: Node, outcome: Outcome) -> Iterator[Mark]:
    for check in outcome.result.checks:
        node = rule_at(entry, check.path, outcome.graded)
        if node is not None:
            tooltip = fenced(check.message) if check.message else ""
            mark = LIVE if outcome.live is not None and not outcome.stale else ""
            label = mark + check_label(check.passed_trials, check.trials)
            yield shown_at(node), label, tooltip, bool(outcome.stale)


def _marks_of_all(entry: Node, score: Score) -> Iterator[Mark]:
    """Yield one mark for each rule of a suite's grader: whether it held in all tasks."""
    by_path: dict[tuple[str | int, ...], list[tuple[Outcome, CheckResult]]] = {}
    for outcome in score.outcomes:
        for check in outcome.result.checks:
            by_path.setdefault(check.path, []).append((outcome, check))
    for path, checks in by_path.items():
        node = rule_at(entry, path, checks[0][0].graded)
        if node is None:
            continue
        failed = [(outcome, check) for outcome, check in checks if not check.passed]
        mark = LIVE if all(outcome.live and not outcome.stale for outcome, _ in checks) else ""
        sign = sign_of((check.passed_trials, check.trials) for _, check in checks)
        label = share_label(sign, len(checks) - len(failed), len(checks), "task") if failed else sign
        told = [f"{outcome.task.id}: {check.message or 'failed'}" for outcome, check in failed[:10]]
        is_old = any(outcome.stale for outcome, _ in checks)
        yield shown_at(node), mark + label, fenced("\n".join(told)) if told else "", is_old


def fitted(hints: Sequence[InlayHint], lines: LineIndex) -> list[InlayHint]:
    """Return hints, in their order, with no more characters a line than an editor shows.

    Labels without room move to the tooltip of the hint, or of the one before it.
    """
    found: list[InlayHint] = []
    for _, group in groupby(hints, key=lambda hint: lines.line_of(hint.offset)):
        on_line, room = list(group), LONGEST_LINE
        is_full = sum(len(hint.label) for hint in on_line) > room
        for number, hint in enumerate(on_line):
            label = _shortened(hint.label, room, is_cut=number == 0) if is_full else hint.label
            if len(label) <= room:
                whole = [] if label == hint.label else [code(hint.label)]
                story = "\n\n".join([*whole, hint.tooltip])
                found.append(replace(hint, label=label, tooltip=story, is_old=hint.stale))
                room -= len(label)
            else:
                before = found.pop()
                story = "\n\n".join([before.tooltip, code(hint.label), hint.tooltip])
                found.append(replace(before, tooltip=story))
    return found


def _shortened(label: str, room: int, *, is_cut: bool) -> str:
    """Return a label shortened to the available room, least important parts first; the stale marker stays."""
    said, stale, _ = label.partition(STALE)
    room -= len(stale)
    while len(said) > room and " · " in said:
        said = said.rpartition(" · ")[0]
    if len(said) > room and (scored := _SCORED.match(said)):
        said = scored[0]
    if len(said) > room and is_cut:
        said = shortened(said, room)
    return said + stale


def _end_of_line(document: Document, node: Node) -> int:
    """Return the end of the line on which a value begins."""
    return document.lines.line_span(document.lines.line_of(node.span.start)).end
