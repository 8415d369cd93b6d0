"""Two documents in one file that may be one."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix

_LONGEST = 30_000


def fixes(view: FileView, problem: Problem) -> Iterator[Fix]:
    """Yield the fix that joins two documents; none if both have the same key."""
    text, edits = view.tree.text, (Edit(problem.span, ""),)
    if len(text) <= _LONGEST and not parse(apply(text, edits), view.tree).errors:
        yield Fix(f"Delete the `{text[problem.span.start : problem.span.end]}`", edits)
