"""The problems of one grader entry, cached until the entry changes.

A grader entry is checked on its own: after an edit one entry is checked again, whatever the size of the
suite.

Architecture invariant: the cache holds no tree. The fixes of cached problems are created again from the
current text when they are requested; a fix that held its tree would keep every version of a long file alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.analysis.failures import guarded
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found, GraderView, found_by
from waza_language_server.analysis.rules import GRADER_RULES
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import (
    grader_shape,
    grader_type,
    grader_values,
    graders_below,
    located_below,
)
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import ItemMemo, Node
from waza_language_server.text.edit import Edits, Fix
from waza_language_server.text.span import Span

_Cache = dict[tuple[SchemaName, Shape], ItemMemo[tuple[Problem, ...]]]
_caches: WeakKeyDictionary[Catalog, _Cache] = WeakKeyDictionary()
"""The problems in the items of lists of grader entries, relative to the start of each item.

By the shape of the items: an edit can move items from one list into another, where they mean something else.
"""


def problems_of_graders(view: FileView) -> Found:
    """Yield the problems of all grader entries of a file; unchanged items of a list are not checked again."""
    root, cache = view.tree.root, _caches.setdefault(view.catalog, {})
    for node, shape in grader_values(root, view.kind, view.catalog) if root is not None else ():
        items = shape.branch("sequence").items if node.kind == "sequence" else None
        if items is None:
            yield from _problems_below(view, shape, node)
            continue
        memo = cache.setdefault((view.kind, items), ItemMemo())
        fresh: dict[object, list[Problem]] = {}
        look = partial(_check_item, view, items, fresh)
        for index, problems in enumerate(memo.of(node, look, _touched(node, view.tree.guesses))):
            if index in fresh:
                yield from fresh[index]
            elif problems:
                item = _Item(view, items, node, index)
                yield from map(item.current, problems)


def _problems_below(view: FileView, shape: Shape, node: Node) -> Iterable[Problem]:
    for entry in graders_below(node, shape):
        yield from _checked(view, entry)
        checkpoint()


def _check_item(
    view: FileView, shape: Shape, fresh: dict[object, list[Problem]], item: Node
) -> tuple[Problem, ...]:
    """Return the problems of an item of a list for the cache, and add them to ``fresh``."""
    found = fresh[item.step] = list(_problems_below(view, shape, item))
    without_trees = (
        replace(each, fixes=tuple(Fix(fix.title, (), fix.preferred) for fix in each.fixes)) for each in found
    )
    return tuple(each.shifted(-item.offset) for each in without_trees)


def _touched(items: Node, spans: Sequence[Span]) -> set[int]:
    """Return the indexes of the items that spans touch."""
    found: set[int] = set()
    for span in spans:
        found.update(
            range(max(0, items.children_before(span.start) - 1), items.children_before(span.end + 1))
        )
    return found


def _checked(view: FileView, entry: Node) -> Found:
    catalog = view.catalog
    shape, written = grader_shape(entry, catalog), grader_type(entry)
    located = list(guarded("shapes", lambda: located_below(entry, shape, catalog)))
    rules = [rule for rule in GRADER_RULES if rule.is_about(written, shape)]
    yield from found_by(rules, GraderView(view, entry, located))


@frozen(eq=False, slots=False)
class _Item:
    """The current place of an item of a list, whose problems are cached."""

    view: FileView
    shape: Shape
    items: Node
    index: int

    def current(self, cached: Problem) -> Problem:
        """Return a cached problem at its current place, with fixes for the current text."""
        offset = self.items.offset + self.items.green.children[self.index].offset
        moved = cached.shifted(offset)
        fixes = (
            Fix(fix.title, partial(self._edits, moved, number), fix.preferred)
            for number, fix in enumerate(cached.fixes)
        )
        return replace(moved, fixes=tuple(fixes)) if cached.fixes else moved

    def _edits(self, problem: Problem, number: int) -> Edits:
        """Return the edits of a fix; empty if its rule does not find the problem any more."""
        again = self._checked_again.get(_key(problem))
        return again.fixes[number].edits if again is not None and number < len(again.fixes) else ()

    @cached_property
    def _checked_again(self) -> dict[tuple[str, Span, str], Problem]:
        node = self.items.get(self.index)
        found = _problems_below(self.view, self.shape, node) if node is not None else ()
        return {_key(each): each for each in found}


def _key(problem: Problem) -> tuple[str, Span, str]:
    return problem.code, problem.span, problem.message
