"""Validation of fixes: the problems of a document after an edit, compared with the problems now.

Items that the edit does not touch keep their nodes, and with them what was found in them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.consequences import Changes, may_have_consequences
from waza_language_server.analysis.diagnose import all_problems, diagnose
from waza_language_server.analysis.problem import SEVERITIES, Problem
from waza_language_server.syntax.fault import STRUCTURAL_CODES
from waza_language_server.syntax.frames import line_start_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.placed_text import line_end
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.tree import Tree


Chosen = tuple[Problem, Fix]
Key = tuple[str, int, int, str]

_ADVICE = frozenset({"information", "hint"})
_OF_UNKNOWN_KEYS = frozenset({"unknown-key", "misplaced-key"})
_HIDING = STRUCTURAL_CODES | {"unknown-grader-type", "missing-grader-type"}
"""Codes of problems that keep the rules from checking the part around them."""


@dataclass(frozen=True)
class FixValidator:
    """Validates fixes of one document. ``problems`` are all those of its current version."""

    document: Document
    workspace: Workspace
    problems: Sequence[Problem]

    @cached_property
    def _all_problems(self) -> Sequence[Problem]:
        """Return all problems, including those not reported because of a typo."""
        if may_have_consequences(self.document, self.problems):
            return all_problems(self.document, self.workspace)
        return self.problems

    def repairs(self, chosen: Sequence[Chosen], *, may_reveal: bool = False) -> bool:
        """Return whether these fixes together remove their problems and add no other ones.

        A fix that reaches beyond its problem (``stays_within``) does not count as one. Advice (information,
        hints) may replace errors and warnings. With ``may_reveal``, repairing an obstacle to the rules, as an
        unknown type is, may reveal problems in the part that was not checked.
        """
        reveals = may_reveal and all(problem.code in _HIDING or fix.reveals for problem, fix in chosen)
        return not self._overreaching(chosen) and self._remaining_problems(chosen, reveals=reveals) == []

    def culprits(self, chosen: Sequence[Chosen]) -> frozenset[int]:
        """Return the indexes of the fixes that keep these from working together; empty if they do work.

        They are those next to the problems that appear or stay: a guess that the caller has to validate.
        """
        overreaching = self._overreaching(chosen)
        if overreaching:
            return overreaching
        remaining = self._remaining_problems(chosen, reveals=False)
        if remaining is None:
            return frozenset(range(len(chosen)))
        owners = {edit: index for index, (_, fix) in enumerate(chosen) for edit in fix.edits}
        changes = Changes(owners)
        return frozenset(owners[changes.nearest(problem.span)] for problem in remaining)

    def _overreaching(self, chosen: Sequence[Chosen]) -> frozenset[int]:
        """Return the indexes of the fixes that reach beyond their problems."""
        return frozenset(
            index
            for index, (problem, fix) in enumerate(chosen)
            if not stays_within(self.document.tree, problem, fix.edits)
        )

    def _remaining_problems(self, chosen: Sequence[Chosen], *, reveals: bool) -> list[Problem] | None:
        """Return the problems that fixes bring or leave; None if they break the syntax."""
        edits = [edit for _, fix in chosen for edit in fix.edits]
        repaired = [problem for problem, _ in chosen]
        new = self._problems_after(edits, repaired)
        if new is None:
            return None
        return [each for each in new if not _is_acceptable(each, repaired, reveals=reveals)]

    def add_no_problem(self, edits: Sequence[Edit]) -> bool:
        """Return whether edits that repair nothing add no problem to the document."""
        return self._problems_after(edits, ()) == []

    def _problems_after(self, edits: Sequence[Edit], repaired: Sequence[Problem]) -> list[Problem] | None:
        """Return the problems that edits add, or leave of ``repaired``; None if they add syntax errors."""
        if not edits:
            return None
        text = apply(self.document.text, edits)
        changed = self.document.replaced(text, self.document.version)
        if len(changed.tree.errors) > len(self.document.tree.errors):
            return None
        checkpoint()
        changes = Changes(edits)
        after = all_problems(changed, self.workspace.with_document(changed))
        checkpoint()
        new = self._new_problems(changes, repaired, after)
        return new or self._no_more_hidden(changes, changed, after)

    def _no_more_hidden(self, changes: Changes, changed: Document, after: Sequence[Problem]) -> list[Problem]:
        """Return problems that a typo hid and that still appear without it: the typo was not repaired."""
        if not any(self._was_hidden(problem, changes) for problem in after):
            return []
        reported = diagnose(changed, self.workspace.with_document(changed))
        return [problem for problem in reported if self._was_hidden(problem, changes)]

    def _was_hidden(self, problem: Problem, changes: Changes) -> bool:
        span = changes.before(problem.span)
        return span is not None and _key(replace(problem, span=span)) in self._hidden

    @cached_property
    def _hidden(self) -> frozenset[Key]:
        return frozenset(map(_key, self._all_problems)) - frozenset(map(_key, self.problems))

    @cached_property
    def _known(self) -> Counter[Key]:
        return Counter(_key(problem) for problem in self._all_problems)

    def _new_problems(
        self, changes: Changes, repaired: Sequence[Problem], after: Sequence[Problem]
    ) -> list[Problem]:
        """Return the problems that are new, and the repaired ones that are still there.

        A problem is the same if its place is unchanged, or if an edit next to it moved or reworded it.
        """
        gone = Counter(_key(problem) for problem in repaired)
        taken: Counter[Key] = Counter()
        unknown: list[Problem] = []
        for problem in after:
            span = changes.before(problem.span)
            key = (problem.code, span.start, span.end, problem.message) if span is not None else None
            if key is not None and taken[key] < self._known[key] and not gone[key]:
                taken[key] += 1
            elif span is None or not self._is_reworded(problem, span, gone):
                unknown.append(problem)
        if not unknown:
            return []
        near = self._near_edits(changes)
        left = [
            known for known in near if not gone[_key(known)] and taken[_key(known)] < self._known[_key(known)]
        ]
        new: list[Problem] = []
        for problem in unknown:
            same = _same(problem, left)
            if same is None:
                new.append(problem)
            else:
                left.remove(same)
        return new

    def _is_reworded(self, problem: Problem, span: Span, gone: Counter[Key]) -> bool:
        """Return whether an edit elsewhere has only reworded a problem, or lowered its severity."""
        known = self._by_place.get((problem.code, span.start, span.end), ())
        as_bad = SEVERITIES[: SEVERITIES.index(problem.severity) + 1]
        return any(each.severity in as_bad and not gone[_key(each)] for each in known)

    @cached_property
    def _by_place(self) -> dict[tuple[str, int, int], list[Problem]]:
        found: dict[tuple[str, int, int], list[Problem]] = {}
        for problem in self._all_problems:
            found.setdefault((problem.code, problem.span.start, problem.span.end), []).append(problem)
        return found

    def _near_edits(self, changes: Changes) -> list[Problem]:
        """Return the problems of the items that an edit touches."""
        places = changes.places(self.document.tree)
        starts = [place.start for place in places]
        found: list[Problem] = []
        for problem in self._all_problems:
            index = bisect_right(starts, problem.span.end)
            if index and problem.span.start <= places[index - 1].end:
                found.append(problem)
        return found


def _is_acceptable(problem: Problem, repaired: Sequence[Problem], *, reveals: bool) -> bool:
    if any(problem.code == each.code and not (reveals and _is_other_key(problem, each)) for each in repaired):
        return False
    if problem.severity in _ADVICE and not any(each.severity in _ADVICE for each in repaired):
        return True
    return reveals


def _is_other_key(problem: Problem, repaired: Problem) -> bool:
    """Return whether a problem is about an unknown key other than the repaired one of that name."""
    return problem.code in _OF_UNKNOWN_KEYS and problem.message != repaired.message


def _same(problem: Problem, left: Sequence[Problem]) -> Problem | None:
    """Return the earlier version of a problem next to an edit: same code, if possible same message."""
    alike = [known for known in left if known.code == problem.code]
    worded = [known for known in alike if known.message == problem.message]
    return next(iter(worded or alike), None)


def _key(problem: Problem) -> Key:
    return problem.code, problem.span.start, problem.span.end, problem.message


_TOKEN = compiled_later(r"\w+|[^\w\s]")
_WORD = compiled_later(r"\w")
_BREAK = compiled_later(r"[\r\n]")
_DASH = compiled_later(r"-\s+\Z")
_BETWEEN = ",."
"""Deleted with an item, an entry, or when a key with a dot becomes a block."""
_OF_WHOLE_MAPPINGS = frozenset(
    {"deprecated-grader-type", "unknown-grader-type", "missing-grader-type", "repeated-item"}
)
"""Codes of problems at one value that are about the mapping around it."""


def stays_within(tree: Tree, problem: Problem, edits: Sequence[Edit]) -> bool:
    """Return whether edits delete no character outside of a problem's span, and rename no multi-line key.

    Characters that the edits insert again are moved, not deleted.
    """
    spans = [problem.span, *(each.span for each in problem.related if each.uri is None)]
    renamed = [problem.span, *(edit.span for edit in edits if _WORD.search(edit.text))]
    if any(_is_key_over_lines(tree, span) for span in renamed):
        return False
    covered = [_covered(tree, span, problem.code) for span in spans]
    lost = Counter(token for edit in edits for token in _outside(tree.text, edit.span, covered))
    return not lost - Counter(token for edit in edits for token in _TOKEN.findall(edit.text))


def keeps_data(text: str, edits: Sequence[Edit]) -> bool:
    """Return whether deleted text also occurs elsewhere, in the edits or in the rest of the text."""
    inserted = Counter(token for edit in edits for token in _TOKEN.findall(edit.text))
    for edit in edits:
        removed = text[edit.span.start : edit.span.end].strip().strip(_BETWEEN).strip()
        is_deleted = _WORD.search(removed) is not None and _WORD.search(edit.text) is None
        if is_deleted and Counter(_TOKEN.findall(removed)) - inserted and removed not in apply(text, edits):
            return False
    return True


def _covered(tree: Tree, span: Span, code: str) -> Span:
    """Return the entry or the item that holds a span, with the comment at its end."""
    node: Node | None = tree.root.at(span.start) if tree.root is not None else None
    while node is not None and not (node.span.start <= span.start and span.end <= node.span.end):
        node = node.parent
    if node is None or node.parent is None:
        return span
    if code in _OF_WHOLE_MAPPINGS:
        node = node.parent
    if node.holder is not None:
        around, dash = node.holder.span, None
    else:
        around = node.span
        dash = _DASH.search(tree.text, line_start_of(tree.text, around.start), around.start)
    start = around.start if dash is None else dash.start()
    return Span(min(start, span.start), _after_comment(tree, max(around.end, span.end)))


def _after_comment(tree: Tree, at: int) -> int:
    """Return the end of the comment after an offset, the offset itself without one."""
    end = line_end(tree.text, at)
    return end if tree.text[at:end].lstrip().startswith("#") else at


def _outside(text: str, span: Span, covered: Sequence[Span]) -> Iterator[str]:
    for match in _TOKEN.finditer(text, span.start, span.end):
        if match[0] not in _BETWEEN and not any(
            each.start <= match.start() and match.end() <= each.end for each in covered
        ):
            yield match[0]


def _is_key_over_lines(tree: Tree, span: Span) -> bool:
    node: Node | None = tree.root.at(span.start) if tree.root is not None else None
    while node is not None and node.parent is not None:
        if node.step is None and node.span.start <= span.start < span.end <= node.span.end:
            return _BREAK.search(tree.text, node.span.start, node.span.end) is not None
        node = node.parent
    return False
