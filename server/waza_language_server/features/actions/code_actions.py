"""Quick fixes of the problems in a range, and one action that applies every safe fix of a file.

A fix is validated before it is offered: it must remove its problem and cause no other one.

Architecture invariant: rules create the fixes, together with their problems. How many are validated depends
on the text, never on a clock, so the answer is the same on a busy machine.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.fix_validation import Chosen, FixValidator, keeps_data
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edits, composed
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span

FIX_ALL_TITLE = "Apply all safe fixes"
MOST_TRIED, FEWEST_TRIED = 40, 5
"""Fixes that are validated for one menu, in the order of their problems."""
MOST_MENU_CHARACTERS = 40_000
"""Characters that these validations diagnose in total; ``FEWEST_TRIED`` fixes are validated in any case."""
FAULTS_COST = 3
"""A validation in a text with syntax faults costs this many times more."""
MOST_ROUNDS = 10
"""Rounds of the action for the entire file: one fix may make another one possible."""
MOST_JUDGED_CHARACTERS = 300_000
"""Characters that the validations of one round diagnose to find the fixes that conflict with others."""
FEWEST_VALIDATIONS = 30
"""Validations of one round in any case."""


@frozen()
class CodeAction:
    """A change that repairs ``problems``; a refactoring repairs none.

    An editor may apply a ``preferred`` one without showing a menu.
    """

    title: str
    kind: Literal[
        "quickfix",
        "source.fixAll",
        "refactor.extract",
        "refactor.inline",
        "refactor.move",
        "refactor.rewrite",
    ]
    change: WorkspaceEdit
    problems: tuple[Problem, ...]
    preferred: bool = False


def code_actions(
    document: Document,
    workspace: Workspace,
    span: Span,
    problems: Sequence[Problem],
    *,
    creates_files: bool = False,
) -> tuple[CodeAction, ...]:
    """Return the fixes of the problems that touch a span, the safe ones first.

    ``problems`` are those of this version of the document. Fixes that create a file are for clients that can.
    """
    validator = FixValidator(document, workspace, problems)
    found: dict[tuple[str, Edits], CodeAction] = {}
    for problem, fix in fixes_at(span, problems)[: most_tried(document)]:
        key = fix.title, fix.edits
        if fix.creates is not None and creates_files:
            change = WorkspaceEdit(creations=(fix.creates,))
            found[key] = CodeAction(fix.title, "quickfix", change, (problem,))
        elif key not in found and validator.repairs([(problem, fix)], may_reveal=True):
            change = _change(document, fix.edits)
            preferred = fix.preferred and keeps_data(document.text, fix.edits)
            found[key] = CodeAction(fix.title, "quickfix", change, (problem,), preferred)
        checkpoint()
    return _safe_first(found.values())


def most_tried(document: Document) -> int:
    """Return how many fixes are validated for a menu: fewer in a long or broken text."""
    cost = max(len(document.text), 1) * (FAULTS_COST if document.tree.errors else 1)
    return min(MOST_TRIED, max(FEWEST_TRIED, MOST_MENU_CHARACTERS // cost))


def fixes_at(span: Span, problems: Sequence[Problem]) -> list[Chosen]:
    """Return the fixes of the problems that touch a span; a menu validates the first ``most_tried``."""
    touching = (each for each in problems if each.span.start <= span.end and span.start <= each.span.end)
    return [(problem, fix) for problem in touching for fix in problem.fixes]


@frozen()
class Fixed:
    """A document after all its safe fixes: ``edits`` lead there from the text before.

    ``problems`` are the repaired ones of that text, ``count`` includes those that appeared during repair.
    ``untried`` counts the fixes that were not validated together with the others.
    """

    document: Document
    edits: Edits = ()
    problems: tuple[Problem, ...] = ()
    count: int = 0
    untried: int = 0


def fix_all(document: Document, fixed: Fixed) -> CodeAction | None:
    """Return the action that turns a document into the fixed one, None if nothing was fixed."""
    if not fixed.count:
        return None
    return CodeAction(FIX_ALL_TITLE, "source.fixAll", _change(document, fixed.edits), fixed.problems)


def not_tried(count: int) -> str:
    """Return the sentence about fixes that were not tried."""
    return f"Safe fixes that do not work together were left out ({count}); apply them one by one."


def fixed(document: Document, workspace: Workspace, problems: Sequence[Problem]) -> Fixed:
    """Apply the safe fixes, then those that become possible or visible by them."""
    validations_left = max(FEWEST_VALIDATIONS, MOST_JUDGED_CHARACTERS // max(len(document.text), 1))
    round_ = first = _together(document, workspace, problems, validations_left)
    rounds: list[Edits] = []
    count, changed = 0, document
    while round_.taken and len(rounds) < MOST_ROUNDS:
        count += len(round_.taken)
        validations_left -= round_.validations
        rounds.append(tuple(edit for _, fix in round_.taken for edit in fix.edits))
        changed = changed.replaced(apply(changed.text, rounds[-1]), document.version)
        around = workspace.with_document(changed)
        left = diagnose(changed, around)
        round_ = _together(changed, around, left, validations_left)
    repaired = tuple(problem for problem, _ in first.taken)
    untried = round_.rejected + len(round_.taken)
    return Fixed(changed, composed(document.text, rounds), repaired, count, untried)


@frozen()
class _Round:
    """The fixes that can be applied together, the number of rejected ones, and of validations."""

    taken: list[Chosen]
    rejected: int
    validations: int


def _together(
    document: Document, workspace: Workspace, problems: Sequence[Problem], most_validations: int
) -> _Round:
    """Find the safe fixes that can be applied together, one a problem; if two overlap, the first.

    The choice depends on the text alone, so that the same file is always repaired in the same way.
    """
    validator = FixValidator(document, workspace, problems)
    apart = _apart(document.text, problems)
    taken: list[Chosen] = []
    tried = 0
    # If a set does not work, try it without the suspected fixes, else in halves; an accepted set has always
    # been validated together.
    rest = [apart] if apart else []
    while rest and tried < most_validations:
        batch = rest.pop()
        tried += 1
        culprits = validator.culprits([*taken, *batch])
        if not culprits:
            taken += batch
            continue
        bad = [each for index, each in enumerate(batch, len(taken)) if index in culprits]
        good = [each for index, each in enumerate(batch, len(taken)) if index not in culprits]
        if bad and good:
            rest += (bad, good)
        elif len(batch) > 1:
            middle = len(batch) // 2
            rest += (batch[middle:], batch[:middle])
    return _Round(taken, sum(map(len, rest)), tried)


class _Occupied:
    """The spans of the accepted edits, in order."""

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def take(self, spans: Sequence[Span]) -> bool:
        """Add spans and return True, or return False if one of them touches a span that was added before."""
        if any(self._touches(span) for span in spans):
            return False
        for span in spans:
            insort(self._spans, span)
        return True

    def _touches(self, span: Span) -> bool:
        index = bisect_right(self._spans, span)
        return any(
            span.start <= other.end and other.start <= span.end
            for other in self._spans[max(index - 1, 0) : index + 1]
        )


def _change(document: Document, edits: Edits) -> WorkspaceEdit:
    return WorkspaceEdit((FileEdit(document.uri, document.text, edits),))


def _safe_first(actions: Iterable[CodeAction]) -> tuple[CodeAction, ...]:
    return tuple(sorted(actions, key=lambda action: not action.preferred))


def _apart(text: str, problems: Sequence[Problem]) -> list[Chosen]:
    """Return the safe fixes whose edits do not touch those of an earlier one, one fix a problem."""
    taken: list[Chosen] = []
    occupied = _Occupied()
    for problem in problems:
        for fix in problem.fixes:
            if not fix.preferred:
                continue
            edits = fix.edits
            checkpoint()
            if edits and keeps_data(text, edits) and occupied.take([edit.span for edit in edits]):
                taken.append((problem, fix))
                break
    return taken
