"""An alias without an anchor: a misspelt name."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_engine.spelling import slip_of
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

ANCHOR = compiled_later(r"(?<=[\s\[{,])&([^\s,\[\]{}]+)")
_LONGEST = 30_000


def fixes(view: FileView, problem: Problem) -> Iterator[Fix]:
    """Yield the anchor before an alias with a similar name."""
    text, alias = view.tree.text, problem.span
    names = dict.fromkeys(ANCHOR.findall(text, 0, alias.start)) if len(text) <= _LONGEST else ()
    name = slip_of(text[alias.start + 1 : alias.end], names)
    if name is not None:
        yield Fix(f"Change to `*{name}`", (Edit(Span(alias.start + 1, alias.end), name),))
