"""A key that occurs twice in a mapping: the same entry again, parts of one list, or two values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import deleted, items_added, own_text
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edits, Fix
from waza_language_server.text.span import Span


def fixes(view: FileView, problem: Problem) -> Iterator[Fix]:
    """Yield the fixes of a repeated key; a safe one only for equal entries."""
    tree = view.tree
    first = _entry(tree, problem.related[0].span) if problem.related else None
    second = _entry(tree, problem.span)
    if first is None or second is None:
        return
    delete = partial(_without, tree, second)
    if own_text(tree.text, first).rstrip() == own_text(tree.text, second).rstrip():
        yield Fix("Delete the repeated entry", delete, preferred=True)
        return
    key = second.key.value
    yield Fix(f"Join the lists of `{key}`", partial(_joined, tree, first, second))
    yield Fix(f"Keep the first `{key}`", delete)
    yield Fix("Keep this one", partial(_without, tree, first))


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
