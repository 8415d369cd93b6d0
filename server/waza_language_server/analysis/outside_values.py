"""Checks of every value of a file outside its grader entries, cached for the items of long lists.

A suite can have ten thousand inline tasks, metrics or prompts. The result for an item depends on the item
alone, and is empty for nearly all: these are skipped until they are edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from weakref import WeakKeyDictionary

from waza_engine.steps import Steps
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import NODES_AT_ONCE, FileView, Found
from waza_language_server.schema.catalog import Catalog
from waza_language_server.schema.locate import outside_graders
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.kept_items import KeptItems
from waza_language_server.syntax.nodes import Node

Look = Callable[[Node, Shape], Iterable[Problem | None]]
_LONG = 64
"""Length from which the items of a list without problems are cached."""
_Kept = dict[tuple[str, Shape], KeptItems[bool]]
_kept: WeakKeyDictionary[Catalog, _Kept] = WeakKeyDictionary()


def found_outside(view: FileView, root: Node, top: Shape, look: Look, name: str = "") -> Found:
    """Yield the problems that ``look`` finds at each value outside the grader entries, top down, with pauses.

    With a ``name``, the result for a value must depend on that value alone as long as the entire text can be
    parsed. It is then cached for the items of long lists.
    """
    tree = view.tree
    if not name or tree.errors or tree.guesses or tree.anchored:
        yield from _found_below(root, top, look)
        return
    known = _kept.setdefault(view.catalog, {})
    long: list[tuple[Node, Shape]] = []

    def is_short(node: Node, shape: Shape) -> bool:
        if node.kind != "sequence" or shape.items is None or len(node.green.children) < _LONG:
            return True
        long.append((node, shape.items))
        return False

    yield from _found_below(root, top, look, is_short)
    for node, items in long:
        kept = known.get((name, items)) or known.setdefault((name, items), KeptItems(bool))
        fresh: dict[object, list[Problem]] = {}
        found = yield from kept.of(node, partial(_finds, look, items, fresh))
        for index in found.marked:
            item = node.get(index)
            if index in fresh:
                yield from fresh[index]
            elif item is not None:
                yield from _found_below(item, items, look)


def _finds(look: Look, shape: Shape, fresh: dict[object, list[Problem]], item: Node) -> Steps[bool]:
    """Return whether a look finds anything in an item, and add the problems to ``fresh``."""
    problems: list[Problem] = []
    for problem in _found_below(item, shape, look):
        if problem is None:
            yield
        else:
            problems.append(problem)
    if problems:
        fresh[item.step] = problems
    return bool(problems)


def _found_below(
    root: Node, top: Shape, look: Look, enters: Callable[[Node, Shape], bool] | None = None
) -> Found:
    for number, (node, shape) in enumerate(outside_graders(root, top, enters), 1):
        if not number % NODES_AT_ONCE:
            yield None
        yield from look(node, shape)
