"""Two documents in one file that may be one."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_LONGEST = 30_000
_REST_OF_LINE = compiled_later(r"[ \t]*(?:\r\n|\r|\n|\Z)")


def fixes(view: FileView, problem: Problem) -> Iterator[Fix]:
    """Yield the fix that joins two documents; none if both have the same key."""
    text = view.tree.text
    line = _REST_OF_LINE.match(text, problem.span.end)
    edits = (Edit(Span(problem.span.start, line.end() if line is not None else problem.span.end), ""),)
    if len(text) <= _LONGEST and not parse(apply(text, edits), view.tree).errors:
        yield Fix(f"Delete the `{text[problem.span.start : problem.span.end]}`", edits)
