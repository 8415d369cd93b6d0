"""The verdict of each judged line of a document, cached for the graders that an edit has not changed.

Architecture invariant: everything but the grader that a mark depends on is in ``DocumentScores.context``. As
long as that is equal, an unchanged grader has the same mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.scores.inlay_hints import (
    InlayHint,
    hints_beside_graders,
    hints_of_grader,
)
from waza_language_server.features.scores.marks import Mark, mark_of, worst_of_lines
from waza_language_server.features.scores.verdict_hints import entry_verdicts
from waza_language_server.project.document_scores import read_scores
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.syntax.item_memo import ItemMemo

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores
    from waza_language_server.project.scores import Scores
    from waza_language_server.project.suite_file import GraderEntry, GraderPlace
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node

_JUDGED = frozenset({"eval", "task", "trigger_tests"})
_FILES_KEPT = 16
_GRADERS_AT_ONCE = 16

_Marks = tuple[Mark, ...]
"""Of a grader, their lines counted from its first one."""


class _Kept:
    """The marks of the lists of graders of a file, and what they depend on."""

    def __init__(self, context: object) -> None:
        self.context = context
        self.lists: dict[GraderPlace, ItemMemo[_Marks]] = {}


_kept: WeakKeyDictionary[Scores, dict[str, _Kept]] = WeakKeyDictionary()


def marks(document: Document, workspace: Workspace) -> tuple[Mark, ...]:
    """Return a mark for each line that is judged, the worst where there are several."""
    if document.kind not in _JUDGED:
        return ()
    scores = read_scores(document, workspace.project)
    if not scores.runs:
        return ()
    found: list[Mark] = []
    file = SuiteFile(document.tree)
    kept = _kept_for(document, workspace, scores)
    for place, items in file.own_lists():
        if items.kind != "sequence":
            continue
        if place == "checkpoint":
            # The recorded name of a grader depends on the keys next to the list.
            graders = chain.from_iterable(file.graders_at(item, place) for item in items.each_item())
            found += _marks_of(document, scores, graders)
            continue

        def ask(item: Node, place: GraderPlace = place) -> _Marks:
            first = document.lines.line_of(item.span.start)
            made = _of_graders(document, scores, file.graders_at(item, place))
            return tuple(Mark(mark.line - first, mark.state, mark.stale, mark.is_test) for mark in made)

        known = kept.lists.setdefault(place, ItemMemo()).of(items, ask)
        found += _placed(document, items, known)
    for task in file.tasks():
        found += _marks_of(document, scores, file.graders_of(task))
    hints = hints_beside_graders(document, scores)
    entries = entry_verdicts(document, workspace.project, scores)
    hints += [InlayHint(each.node.span.start, each.label, "") for each in entries]
    found += (mark for hint in hints if (mark := mark_of(hint, document.lines)) is not None)
    return worst_of_lines(found)


def _kept_for(document: Document, workspace: Workspace, scores: DocumentScores) -> _Kept:
    """Return the cached marks of a document if their context is unchanged."""
    files = _kept.setdefault(workspace.project.scores, {})
    context = scores.context(document.tree)
    before = files.pop(document.uri, None)
    if len(files) >= _FILES_KEPT:
        del files[next(iter(files))]
    files[document.uri] = before if before is not None and before.context == context else _Kept(context)
    return files[document.uri]


def _placed(document: Document, items: Node, marks: Iterable[_Marks]) -> list[Mark]:
    found: list[Mark] = []
    for index, (child, each) in enumerate(zip(items.green.children, marks, strict=True)):
        if each:
            first = document.lines.line_of(child.green.start + child.offset + items.offset)
            found += [Mark(first + mark.line, mark.state, mark.stale, mark.is_test) for mark in each]
        if not index % _GRADERS_AT_ONCE:
            checkpoint()
    return found


def _marks_of(document: Document, scores: DocumentScores, graders: Iterator[GraderEntry]) -> list[Mark]:
    found: list[Mark] = []
    for grader in graders:
        found += _of_graders(document, scores, iter((grader,)))
        checkpoint()
    return found


def _of_graders(document: Document, scores: DocumentScores, graders: Iterator[GraderEntry]) -> Iterator[Mark]:
    for grader in graders:
        score = scores.of_grader(grader)
        for hint in hints_of_grader(document, grader, score, "") if score is not None else ():
            mark = mark_of(hint, document.lines)
            if mark is not None:
                yield mark
