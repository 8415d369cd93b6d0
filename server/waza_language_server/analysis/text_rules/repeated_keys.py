"""A key that stands twice in a mapping: the same line again, parts of one list, two values to choose from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.joined_lists import items_added
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import whole_lines
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_WHOLE_ENTRY = compiled_later(r" *[A-Za-z_][\w-]*: +[^\s|>#&*!].*")


def without_repetition(tree: Tree, problem: Problem) -> Problem:
    """Return the problem of a key that stands twice, with what can be done about it.

    Unasked only where both lines say the very same.
    """
    if not problem.related:
        return problem
    text, earlier = tree.text, problem.related[0].span
    # Looked at by text, not by lines: a file may have very many such keys.
    start, end = _line_around(text, problem.span.start)
    first, first_end = _line_around(text, earlier.start)
    written = text[start:end]
    below = text[end : text.find("\n", end) + 1 or len(text)]
    indent = len(written) - len(written.lstrip(" "))
    is_whole = _WHOLE_ENTRY.fullmatch(written.strip("\r\n")) is not None
    goes_on = bool(below.strip()) and len(below) - len(below.lstrip(" ")) > indent
    if is_whole and not goes_on and written.strip() == text[first:first_end].strip():
        fix = Fix("Delete the repeated line", (Edit(whole_lines(text, problem.span), ""),), preferred=True)
        return replace(problem, fixes=(fix,))
    if column_of(text, problem.span.start) != indent:
        return problem
    key = text[problem.span.start : problem.span.end]
    fixes = (
        Fix(f"Join the lists of `{key}`", partial(_joined, tree, problem.span, earlier)),
        Fix(f"Keep the first `{key}`", partial(_without, tree, problem.span)),
        Fix("Keep this one", partial(_without, tree, earlier)),
    )
    if _is_empty(text, first_end, earlier):
        fixes = (fixes[2], fixes[1])
    return replace(problem, fixes=fixes)


def _is_empty(text: str, line_end: int, key: Span) -> bool:
    """Whether nothing stands behind a key and the next line is no further to the right."""
    below = text[line_end : text.find("\n", line_end) + 1 or len(text)]
    is_bare = text[key.end : line_end].strip() == ":"
    column = len(below) - len(below.lstrip(" "))
    return is_bare and bool(below.strip()) and column == column_of(text, key.start) and below[column] != "-"


def _joined(tree: Tree, key: Span, earlier: Span) -> Edits:
    first, second = _entry(tree, earlier), _entry(tree, key)
    more = items_added(tree.text, first, second) if first is not None and second is not None else None
    gone = _without(tree, key)
    return (more, *gone) if more is not None and gone else ()


def _without(tree: Tree, key: Span) -> Edits:
    """Return the edit that deletes an entry that stands on lines of its own."""
    entry = _entry(tree, key)
    if entry is None or tree.text[line_start_of(tree.text, key.start) : key.start].strip():
        return ()
    return (Edit(whole_lines(tree.text, Span(key.start, max(entry.span.end - 1, key.end))), ""),)


def _entry(tree: Tree, key: Span) -> Entry | None:
    node: Node | None = tree.root.at(key.start) if tree.root is not None else None
    mapping = node.parent if node is not None and node.step is None else None
    if mapping is None or mapping.style != "block":
        return None
    return next((entry for entry in mapping.each_entry() if entry.key.span == key), None)


def _line_around(text: str, offset: int) -> tuple[int, int]:
    return text.rfind("\n", 0, offset) + 1, text.find("\n", offset) + 1 or len(text)
