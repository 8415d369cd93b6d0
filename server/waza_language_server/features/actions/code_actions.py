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
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.trial import Chosen, Trials
from waza_language_server.text.edit import Edits
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
"""How many problems the action for the whole file repairs; the others come with the next round."""
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
                found[key] = CodeAction(fix.title, "quickfix", change, (problem,), fix.preferred)
            yield
    return _safe_first(found.values())


def fix_all_in_steps(
    document: Document, workspace: Workspace, problems: Sequence[Problem]
) -> Generator[None, None, CodeAction | None]:
    """Return the action that applies the preferred fix of each problem, None when there is none.

    Of fixes that touch the same text the first is taken; the others come with the next round.
    """
    trials = Trials(document, workspace, problems)
    work = _Work(FIX_ALL_SECONDS)
    apart = yield from _apart(problems, work)
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
    if not taken:
        return None
    edits = sorted((edit for _, fix in taken for edit in fix.edits), key=lambda edit: edit.span)
    repaired = tuple(problem for problem, _ in taken)
    return CodeAction(FIX_ALL_TITLE, "source.fixAll", _change(document, tuple(edits)), repaired)


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


def _apart(problems: Sequence[Problem], work: _Work) -> Generator[None, None, list[Chosen]]:
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
            if edits and occupied.take([edit.span for edit in edits]):
                taken.append((problem, fix))
                break
        if len(taken) >= MAX_FIXED_AT_ONCE or work.is_half_over:
            break
    return taken
