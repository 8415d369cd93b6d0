"""The problems of a file outside the entries of its list of graders.

Most edits are inside one grader. If the rest had no problems and has not changed, it still has none: the
rules do not run again.

Architecture invariant: everything that the rules read here is in ``_around``, or they declare that they read
comments. They always run if an alias can bring a grader elsewhere, or text cannot be parsed.
"""

from __future__ import annotations

from collections import deque
from weakref import WeakKeyDictionary, ref

from waza_engine.steps import Steps
from waza_language_server.analysis.grader_entries import GraderEntries, holds_others
from waza_language_server.analysis.rule import FileView, Found, found_by
from waza_language_server.analysis.rules import FILE_RULES, ITEM_RULES
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.syntax.green import Green

_Around = tuple[tuple[ref[Green], ...], tuple[int, ...]]
"""The keys and values of a file except its lists of graders, and the lengths of those.

Weak references stay equal while their target lives, and are equal to no other one afterwards.
"""
_FILES_KEPT = 16
_RULES = (*FILE_RULES, *ITEM_RULES)
_OF_COMMENTS = tuple(rule for rule in _RULES if rule.reads_comments)

_quiet: WeakKeyDictionary[Catalog, dict[SchemaName, deque[_Around]]] = WeakKeyDictionary()
"""Contents around graders that had no problems, the most recent first."""


def problems_outside(view: FileView, graders: GraderEntries) -> Found:
    """Yield the problems from rules that do not read the file's lists of graders."""
    around = yield from _around(view, graders)
    kinds = _quiet.setdefault(view.catalog, {})
    quiet = kinds.get(view.kind) or kinds.setdefault(view.kind, deque(maxlen=_FILES_KEPT))
    if around is not None and around in quiet:
        yield from found_by(_OF_COMMENTS, view)
        return
    found_nothing = True
    for problem in found_by(_RULES, view):
        found_nothing = found_nothing and problem is None
        yield problem
    if found_nothing and around is not None:
        quiet.appendleft(around)


def _around(view: FileView, graders: GraderEntries) -> Steps[_Around | None]:
    """Return the content around the graders of a file; None if it alone does not determine the problems."""
    tree = view.tree
    if tree.root is None or tree.root.kind != "mapping" or tree.errors or tree.guesses or tree.anchored:
        return None
    lists = [node for node, _, items in graders.places if items is not None and items.kind == "grader"]
    for node in lists:
        if (yield from holds_others(node)):
            return None
    left_out = {node.green for node in lists}
    greens = (child.green for child in tree.root.green.children)
    return (
        tuple(ref(green) for green in greens if green not in left_out),
        tuple(len(node.green.children) for node in lists),
    )
