"""Quick fixes of the problems in a range, and one action that applies every safe fix of a file.

A fix is tried before it is offered: it must take its problem away and must not leave worse syntax behind.

Architecture invariant: the fixes come with the problems, from the rules that find them; none is made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.edits import apply
from waza_language_server.text.edit import Edit, Fix

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.text.span import Span

FIX_ALL_TITLE = "Apply all safe fixes"
MAX_TRIED_ONE_BY_ONE = 50


@dataclass(frozen=True, slots=True)
class CodeAction:
    """A change that repairs ``problems``. ``preferred`` marks the one that an editor may apply unasked."""

    title: str
    kind: Literal["quickfix", "source.fixAll"]
    edits: tuple[Edit, ...]
    problems: tuple[Problem, ...]
    preferred: bool = False


def code_actions(
    document: Document, project: Project | None, span: Span, problems: Sequence[Problem]
) -> tuple[CodeAction, ...]:
    """Return the fixes of the problems that touch a span, the safe ones first.

    ``problems`` are those of this version of the document.
    """
    found: dict[tuple[str, tuple[Edit, ...]], CodeAction] = {}
    for problem in problems:
        if problem.span.start > span.end or problem.span.end < span.start:
            continue
        for fix in problem.fixes:
            key = fix.title, fix.edits
            if key not in found and repairs(document, project, problem, fix, problems):
                found[key] = CodeAction(fix.title, "quickfix", fix.edits, (problem,), fix.preferred)
    return tuple(sorted(found.values(), key=lambda action: not action.preferred))


def fix_all(document: Document, project: Project | None, problems: Sequence[Problem]) -> CodeAction | None:
    """Return the action that applies the preferred fix of each problem, None when there is none.

    Of fixes that touch the same text the first is taken; the others come with the next round.
    """
    chosen = [(problem, fix) for problem in problems for fix in problem.fixes if fix.preferred and fix.edits]
    taken = _apart(chosen)
    if taken and not _helps(document, project, taken, problems):
        taken = [
            (problem, fix)
            for problem, fix in taken[:MAX_TRIED_ONE_BY_ONE]
            if repairs(document, project, problem, fix, problems)
        ]
        if not _helps(document, project, taken, problems):
            taken = taken[:1]
    if not taken:
        return None
    edits = sorted((edit for _, fix in taken for edit in fix.edits), key=lambda edit: edit.span)
    return CodeAction(FIX_ALL_TITLE, "source.fixAll", tuple(edits), tuple(problem for problem, _ in taken))


def repairs(
    document: Document, project: Project | None, problem: Problem, fix: Fix, problems: Sequence[Problem]
) -> bool:
    """Whether a fix takes its problem away and leaves no worse syntax behind."""
    return _helps(document, project, [(problem, fix)], problems)


Chosen = tuple[Problem, Fix]


def _helps(
    document: Document, project: Project | None, chosen: Sequence[Chosen], problems: Sequence[Problem]
) -> bool:
    if not chosen:
        return False
    text = apply(document.text, [edit for _, fix in chosen for edit in fix.edits])
    changed = document.replaced(text, document.version)
    if len(changed.tree.errors) > len(document.tree.errors):
        return False
    around = project.with_document(changed) if project is not None else None
    before = Counter(problem.code for problem in problems)
    after = Counter(problem.code for problem in diagnose(changed, around))
    gone = Counter(problem.code for problem, _ in chosen)
    return all(after[code] <= before[code] - count for code, count in gone.items())


def _apart(chosen: Iterable[Chosen]) -> list[Chosen]:
    """Return the fixes whose edits do not touch those of an earlier one, one fix a problem."""
    taken: list[Chosen] = []
    spans: list[Span] = []
    for problem, fix in chosen:
        own = [edit.span for edit in fix.edits]
        if any(one.start <= other.end and other.start <= one.end for one in own for other in spans):
            continue
        taken.append((problem, fix))
        spans += own
    return taken
