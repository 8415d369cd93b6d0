"""Secondary problems: those that only exist because of a typo, and those that a typo hides.

A dedented key cuts off the rest of its block; an over-indented item shortens its list. A user who follows the
secondary reports repairs the wrong thing: inserts the key a second time, or rebalances weights of a shorter
list.

Text that cannot be parsed, and everything below a misspelt key, hides other problems. So the typos are
repaired in a copy: problems that disappear with them are not reported, and problems that appear are.

Architecture invariant: a problem is left out only if it is also gone once the typos are repaired.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from waza_engine.checkpoint import collect
from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.syntax.fault import FAULT_CODES, MISREADING_CODES
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document

_OF_LACK = frozenset(
    {
        "empty-value",
        "exactly-one-key",
        "missing-grader-type",
        "missing-key",
        "nothing-checked",
        "recommended-key",
    }
)
"""Codes of problems about something missing, which may be elsewhere."""
_OF_PLACE = frozenset({"duplicate-key", "misplaced-key", "unknown-key"})
"""Codes of problems about a key that does not belong at its place."""
_OF_COLUMN = frozenset({"yaml-indentation", "yaml-tab"})
"""Codes of faults whose repair guesses the column of a line, and so the parent of its keys."""
_SECOND_DOCUMENT = "several-documents"
"""Two documents that could be one: a run ignores the second."""
_ELSEWHERE = "misplaced-key"
_MISSPELT = "unknown-key"
_MOST_KEYS = 20
"""The most keys at the wrong level, or with a certain other name, that are repaired tentatively."""
MOST_CHARACTERS = 30_000
"""In a longer text every problem that is found is reported."""


@frozen()
class ProblemSet:
    """The problems of a text to report, and others that typos hide.

    The hidden ones have no fixes, because fixes are created for the text in which they appear.
    """

    reported: tuple[Problem, ...]
    hidden: tuple[Problem, ...] = ()


def separate_consequences(
    document: Document,
    problems: Sequence[Problem],
    check: Callable[[Document], tuple[Problem, ...]],
) -> ProblemSet:
    """Return the problems that remain when typos are repaired, the typos themselves, and hidden problems.

    ``check`` returns the problems of a document in the same place.
    """
    typos = _typos(problems)
    of_text = typos[0].code in FAULT_CODES
    unknown = list(_hidden_by_aliases(document, typos))
    known = tuple(problem for problem in problems if not _is_hidden(problem, unknown))
    edits = _repairing(typos)
    if not edits:
        return ProblemSet(known)
    repaired = document.replaced(apply(document.text, edits), document.version)
    if len(repaired.tree.errors) > max(0, len(document.tree.errors) - of_text):
        return ProblemSet(known)
    left = check(repaired)
    changes = Changes(edits)
    placed = [(each, changes.before(each.span)) for each in left]
    places = {(each.code, span) for each, span in placed}
    touched = {(each.code, each.message) for each, span in placed if span is None}
    reported = tuple(
        problem
        for problem in known
        if not _may_go(problem, of_text=of_text)
        or (problem.code, problem.span) in places
        or (problem.code, problem.message) in touched
    )
    known_places = {(problem.code, problem.span) for problem in problems}
    of_column = [typo for typo in typos if typo.code in _OF_COLUMN]
    moved = _repairing(of_column) if of_column else ()
    guessed = {_mapping_at(repaired, changes.end_of(edit)) for edit in edits if edit in moved}
    hidden = (
        replace(each, span=span, fixes=(), related=())
        for each, span in placed
        if span is not None and (each.code, span) not in known_places and each.code not in _OF_LACK
        if each.code not in _OF_PLACE or _mapping_at(repaired, each.span.start) not in guessed
    )
    return ProblemSet(reported, tuple(each for each in hidden if not _is_hidden(each, unknown)))


def may_have_consequences(document: Document, problems: Sequence[Problem]) -> bool:
    """Return whether some problems may be consequences of a typo; a long text is not checked twice."""
    return len(document.text) <= MOST_CHARACTERS and bool(_typos(problems))


def _typos(problems: Sequence[Problem]) -> Sequence[Problem]:
    """Return the problems that may have consequences: syntax errors or, without any, wrong keys."""
    faults = [
        problem
        for problem in problems
        if problem.code in MISREADING_CODES or (problem.code == _SECOND_DOCUMENT and problem.fixes)
    ]
    keys = (problem for problem in problems if _is_of_key(problem))
    return faults or list(islice(keys, _MOST_KEYS))


def _mapping_at(document: Document, offset: int) -> Span | None:
    """Return the mapping that contains an offset, or None."""
    node = document.tree.root.at(offset).parent if document.tree.root is not None else None
    while node is not None and node.kind != "mapping":
        node = node.parent
    return node.span if node is not None else None


def _is_of_key(problem: Problem) -> bool:
    """Return whether a key is at the wrong level, or has a name that is certainly a misspelling."""
    if problem.code == _MISSPELT:
        return any(fix.preferred for fix in problem.fixes[:1])
    return problem.code == _ELSEWHERE and bool(problem.fixes)


def _may_go(problem: Problem, *, of_text: bool) -> bool:
    """Return whether a problem may be a consequence of a typo.

    After a key at the wrong level that is only a problem about something missing.
    """
    return problem.code not in FAULT_CODES if of_text else problem.code in _OF_LACK


def _repairing(typos: Sequence[Problem]) -> list[Edit]:
    """Return the edits of each typo's first fix, without overlapping ones."""
    edits: list[Edit] = []
    for typo in typos:
        for fix in typo.fixes[:1]:
            new = fix.edits
            if not any(_meet(one.span, other.span) for one in new for other in edits):
                edits += new
    return edits


def _meet(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _hidden_by_aliases(document: Document, typos: Sequence[Problem]) -> Iterator[tuple[Span, bool]]:
    """Yield the span of an alias without an anchor, or of the mapping into which it is merged (True).

    Nothing is known about them, nor about a mapping into which something other than a block is merged.
    """
    for fault in typos:
        if fault.code in ("unknown-anchor", "yaml-syntax") and document.tree.root is not None:
            node = document.tree.root.at(fault.span.start)
            merged = node.parent if isinstance(node.step, int) and node.parent is not None else node
            is_key = merged.step is None and merged.value == MERGE_KEY
            if merged.parent is not None and (is_key or merged.step == MERGE_KEY):
                yield merged.parent.span, True
            elif fault.code == "unknown-anchor":
                yield fault.span, False


def _is_hidden(problem: Problem, unknown: Sequence[tuple[Span, bool]]) -> bool:
    if problem.code in FAULT_CODES:
        return False
    return any(
        span.start <= problem.span.start
        and problem.span.end <= span.end
        and (not is_merged or problem.code in _OF_LACK)
        for span, is_merged in unknown
    )


class Changes:
    """Edits that do not overlap, and the mapping from offsets after them to offsets before."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = sorted(edits, key=lambda edit: edit.span)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._moved = [0]
        for edit in self._edits:
            start = edit.span.start + self._moved[-1]
            self._starts.append(start)
            self._ends.append(start + len(edit.text))
            self._moved.append(self._moved[-1] + len(edit.text) - len(edit.span))

    def before(self, span: Span) -> Span | None:
        """Return where a span of the text after the edits was before them; None if an edit touches it."""
        index = bisect_right(self._starts, span.end)
        if index and self._ends[index - 1] >= span.start:
            return None
        return span.shifted(-self._moved[index])

    def after(self, offset: int) -> int:
        """Return where an offset of the text before the edits is after them."""
        return offset + self._moved[bisect_right(self._edits, offset, key=lambda edit: edit.span.end)]

    def end_of(self, edit: Edit) -> int:
        """Return the offset after one of the edits, in the text after them."""
        return self._ends[self._edits.index(edit)]

    def nearest(self, span: Span) -> Edit:
        """Return the edit at a span of the text after them, else the last one before it, else the first."""
        return self._edits[max(bisect_right(self._starts, span.end) - 1, 0)]

    def places(self, tree: Tree) -> list[Span]:
        """Return the spans of items or entries, in the text before, that an edit touches."""
        return sorted({*collect(_place(tree.root, edit.span) for edit in self._edits)})


def _place(root: Node | None, span: Span) -> Span:
    """Return the item of a list of the file, or else the entry of the file, that holds a span."""
    if root is None or root.kind != "mapping":
        return root.span if root is not None else span
    entry = root.entry_at(span.start)
    if entry is None or entry.span.end < span.end:
        return span
    index = entry.value.children_before(span.start + 1) - 1
    item = entry.value.get(index) if entry.value.kind == "sequence" else None
    return item.span if item is not None and span.end <= item.span.end else entry.span
