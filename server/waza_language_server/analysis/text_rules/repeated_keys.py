"""A key that occurs twice in a mapping: the same entry again, parts of one list, or two values."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.joined_lists import items_added
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import deleted, line_end, own_text
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edits, Fix
from waza_language_server.text.span import Span


def without_repetition(tree: Tree, problem: Problem) -> Problem:
    """Return the problem of a key that occurs twice, with its fixes; a safe one only for equal entries."""
    if not problem.related:
        return problem
    first, second = (_entry(tree, span) for span in (problem.related[0].span, problem.span))
    if first is None or second is None:
        return problem
    text = tree.text
    key = text[problem.span.start : problem.span.end]
    delete = partial(_without, tree, second)
    if own_text(text, first).rstrip() == own_text(text, second).rstrip():
        fix = Fix("Delete the repeated entry", delete, preferred=True)
        return replace(problem, fixes=(fix,))
    fixes = (
        Fix(f"Join the lists of `{key}`", partial(_joined, tree, first, second)),
        Fix(f"Keep the first `{key}`", delete),
        Fix("Keep this one", partial(_without, tree, first)),
    )
    if _is_empty(text, first):
        fixes = (fixes[2], fixes[1])
    return replace(problem, fixes=fixes)


def _is_empty(text: str, entry: Entry) -> bool:
    """Return whether an entry has no value and the next line is another key at its column."""
    end = line_end(text, entry.key.span.end)
    below = text[end:].lstrip("\r\n").partition("\n")[0]
    is_bare = text[entry.key.span.end : end].strip() == ":"
    column = len(below) - len(below.lstrip(" "))
    return (
        is_bare
        and bool(below.strip())
        and column == column_of(text, entry.key.span.start)
        and below[column] != "-"
    )


def _joined(tree: Tree, first: Entry, second: Entry) -> Edits:
    more = items_added(tree.text, first, second)
    gone = _without(tree, second)
    return (more, *gone) if more is not None and gone else ()


def _without(tree: Tree, entry: Entry) -> Edits:
    mapping = entry.value.parent
    return deleted(tree.text, mapping, entry) if mapping is not None else ()


def _entry(tree: Tree, key: Span) -> Entry | None:
    node: Node | None = tree.root.at(key.start) if tree.root is not None else None
    entry = node.holder if node is not None and node.step is None else None
    return entry if entry is not None and entry.key.span == key else None
