"""Quick fixes of the problems in a range, and one action that applies every safe fix of a file.

A fix is tried before it is offered: it must take its problem away and bring no other one.

Architecture invariant: the fixes come with the problems, from the rules that find them; none is made here.
How many are tried is bounded by count and by the time that the work takes, pauses not counted.
"""

from __future__ import annotations

import time
from bisect import bisect_right, insort
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from waza_engine.frozen import frozen
from waza_language_server.analysis.diagnose import diagnose_in_steps
from waza_language_server.analysis.fix_limits import keeps_data
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.trial import Chosen, Trials
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edits, composed
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span

FIX_ALL_TITLE = "Apply all safe fixes"
MAX_OFFERED = 100
"""How many quick fixes are offered at once; nobody reads a longer menu."""
QUICK_FIX_SECONDS = 0.07
"""How long fixes are tried for one menu, those of the problems nearest to the start of the range first."""
SURELY_TRIED = 2
"""How many fixes are tried however long that takes: those of a problem or two under the cursor."""
MAX_FIXED_AT_ONCE = 1_000
"""How many problems a round of the action for the whole file repairs; the others come with the next."""
MOST_ROUNDS = 10
"""How often the action for the whole file looks again at what it made: one fix may make room for another."""
FIX_ALL_SECONDS = 0.7
"""How long fixes are made and tried for the action for the whole file."""

Value = TypeVar("Value")


@frozen()
class CodeAction:
    """A change that repairs ``problems``; a refactoring repairs none.

    ``preferred`` marks the one that an editor may apply unasked.
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


def code_actions_in_steps(
    document: Document,
    workspace: Workspace,
    span: Span,
    problems: Sequence[Problem],
) -> Generator[None, None, tuple[CodeAction, ...]]:
    """Return the fixes of the problems that touch a span, the safe ones first.

    ``problems`` are those of this version of the document. There are many pauses, where the caller may do
    something else or stop.
    """
    trials = Trials(document, workspace, problems)
    work = _Work(QUICK_FIX_SECONDS)
    found: dict[tuple[str, Edits], CodeAction] = {}
    tried = 0
    for problem in problems:
        if problem.span.start > span.end:
            break
        if problem.span.end < span.start:
            continue
        for fix in problem.fixes:
            if len(found) >= MAX_OFFERED or (tried >= SURELY_TRIED and work.is_over):
                return _safe_first(found.values())
            tried += 1
            key = fix.title, (yield from work.counted(fix.edits_in_steps()))
            steps = trials.repairs([(problem, fix)], may_reveal=True)
            if key not in found and (yield from work.counted(steps)):
                change = _change(document, fix.edits)
                preferred = fix.preferred and keeps_data(document.text, fix.edits)
                found[key] = CodeAction(fix.title, "quickfix", change, (problem,), preferred)
            yield
    return _safe_first(found.values())


@frozen()
class Fixed:
    """A document after all its safe fixes: ``edits`` lead there from the text before.

    ``problems`` are the repaired ones that stood in that text, ``count`` counts those too that came to light.
    """

    document: Document
    edits: Edits
    problems: tuple[Problem, ...]
    count: int


def fix_all_in_steps(
    document: Document, workspace: Workspace, problems: Sequence[Problem]
) -> Generator[None, None, CodeAction | None]:
    """Return the action that applies the safe fixes of a document, None when there is none."""
    fixed = yield from fixed_in_steps(document, workspace, problems)
    if fixed is None:
        return None
    return CodeAction(FIX_ALL_TITLE, "source.fixAll", _change(document, fixed.edits), fixed.problems)


def fixed_in_steps(
    document: Document, workspace: Workspace, problems: Sequence[Problem]
) -> Generator[None, None, Fixed | None]:
    """Apply the safe fixes, and those that have room or are in view only then; None when there are none."""
    work = _Work(FIX_ALL_SECONDS)
    first = taken = yield from _together(document, workspace, problems, work)
    rounds: list[Edits] = []
    count, changed = 0, document
    while taken:
        count += len(taken)
        rounds.append(tuple(edit for _, fix in taken for edit in fix.edits))
        changed = changed.replaced(apply(changed.text, rounds[-1]), document.version)
        if len(rounds) >= MOST_ROUNDS or work.is_over:
            break
        around = workspace.with_document(changed)
        left = yield from work.counted(diagnose_in_steps(changed, around))
        taken = yield from _together(changed, around, left, work)
    if not rounds:
        return None
    return Fixed(changed, composed(document.text, rounds), tuple(problem for problem, _ in first), count)


def _together(
    document: Document, workspace: Workspace, problems: Sequence[Problem], work: _Work
) -> Generator[None, None, list[Chosen]]:
    """Return the safe fixes that can be applied at once, one a problem; of two that meet the first."""
    trials = Trials(document, workspace, problems)
    apart = yield from _apart(document.text, problems, work)
    taken: list[Chosen] = []
    # What does not work as a whole is tried in halves; what is taken has always been tried together.
    rest = [apart] if apart else []
    while rest and not work.is_over:
        batch = rest.pop()
        if (yield from work.counted(trials.repairs([*taken, *batch]))):
            taken += batch
        elif len(batch) > 1:
            middle = len(batch) // 2
            rest += (batch[middle:], batch[:middle])
    return taken


class _Work:
    """Counts the time between pauses."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._spent = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._spent += time.perf_counter() - self._started

    @property
    def is_over(self) -> bool:
        return self._spent >= self._seconds

    @property
    def is_half_over(self) -> bool:
        return self._spent * 2 >= self._seconds

    def counted(self, steps: Generator[None, None, Value]) -> Generator[None, None, Value]:
        while True:
            with self:
                try:
                    next(steps)
                except StopIteration as end:
                    return end.value
            yield


class _Occupied:
    """The parts of the text that are taken by edits, in order."""

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def take(self, spans: Sequence[Span]) -> bool:
        """Take these spans; False, and nothing taken, when one of them touches a taken one."""
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


def _apart(text: str, problems: Sequence[Problem], work: _Work) -> Generator[None, None, list[Chosen]]:
    """Return the safe fixes whose edits do not touch those of an earlier one, one fix a problem.

    Making them takes at most half of the time.
    """
    taken: list[Chosen] = []
    occupied = _Occupied()
    for problem in problems:
        for fix in problem.fixes:
            if not fix.preferred:
                continue
            edits = yield from work.counted(fix.edits_in_steps())
            yield
            if edits and keeps_data(text, edits) and occupied.take([edit.span for edit in edits]):
                taken.append((problem, fix))
                break
        if len(taken) >= MAX_FIXED_AT_ONCE or work.is_half_over:
            break
    return taken
