"""Hide problems of unfinished input: a key without its colon, a new dash, half a word.

Architecture invariant: only the text and the offset of the last edit decide, no clock. Callers pass an offset
only while the text is not saved, so no problem stays hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_language_server.features.completion.complete import complete
from waza_language_server.syntax.cursor import cursor_at
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

_DASHES_AND_WORD = compiled_later(r"[ ]*(?:-[ ]+)*(?:-|(?P<word>[\w.-]+))?[ ]*")
_DASHES_AND_KEY = compiled_later(r"[ ]*(?:-[ ]+)*[\w.-]+:[ ]*")
_INCOMPLETE = frozenset(
    {"missing-key", "missing-grader-type", "recommended-key", "nothing-checked", "exactly-one-key"}
)
_HALF_A_WORD = frozenset({"unknown-grader-type", "value-not-allowed"})


def without_unfinished(
    document: Document,
    workspace: Workspace,
    typed_at: int,
    problems: tuple[Problem, ...],
    *,
    begun: bool = False,
) -> tuple[Problem, ...]:
    """Return the problems without those of unfinished input at ``typed_at``, where the last edit ended.

    ``begun`` says that the file was opened empty and never saved: missing keys are not reported yet.
    """
    if begun and document.tree.root is not None:
        start = document.tree.root.span.start
        problems = tuple(p for p in problems if p.code not in _INCOMPLETE or p.span.start != start)
    text, lines = document.text, document.lines
    line = lines.line_span(lines.line_of(typed_at))
    if text[typed_at : line.end].strip():
        # In the middle of a line: the rest was finished before.
        return problems
    held = _held_on_line(document, workspace, line, typed_at, problems)
    entry = _entry_at_its_end(document, typed_at)
    if entry is not None:
        unfinished = (problem for problem in problems if problem.code in _INCOMPLETE)
        held |= {problem for problem in unfinished if entry.contains(problem.span.start)}
    return tuple(problem for problem in problems if problem not in held) if held else problems


def _held_on_line(
    document: Document, workspace: Workspace, line: Span, typed_at: int, problems: tuple[Problem, ...]
) -> set[Problem]:
    here = {problem for problem in problems if line.start <= problem.span.start <= line.end}
    if not here:
        return here
    text = document.text
    started = _DASHES_AND_WORD.fullmatch(text, line.start, line.end)
    if started is not None:
        word = started["word"]
        return here if word is None or _may_become(document, workspace, typed_at, word) else set()
    if _DASHES_AND_KEY.fullmatch(text, line.start, line.end):
        return {problem for problem in here if problem.code != "unknown-key"}
    return {
        problem
        for problem in here
        if problem.code in _HALF_A_WORD
        and problem.span.end == len(text[: line.end].rstrip())
        and _may_become(document, workspace, typed_at, text[problem.span.start : problem.span.end])
    }


def _may_become(document: Document, workspace: Workspace, typed_at: int, word: str) -> bool:
    """Return whether a completion at this offset begins with a word."""
    return any(item.label.startswith(word) for item in complete(document, workspace, typed_at).items)


def _entry_at_its_end(document: Document, offset: int) -> Span | None:
    """Return the list item that ends at an offset, None if more of it follows."""
    cursor = cursor_at(document.tree, offset)
    path = (*cursor.container_path, *((cursor.key,) if cursor.role == "value" and cursor.key else ()))
    root = document.tree.root
    while path and root is not None:
        node = root.get(*path)
        if isinstance(path[-1], int) and node is not None:
            rest = document.text[offset : node.span.end].strip()
            return None if rest else Span(node.span.start, offset + 1)
        path = path[:-1]
    return None
