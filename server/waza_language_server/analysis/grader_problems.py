"""The problems of one grader entry, cached until the entry changes.

A grader entry is checked on its own: after an edit one entry is checked again, whatever the size of the
suite.

Architecture invariant: the cache holds no tree. The fixes of cached problems are created again from the
current text when they are requested; a fix that held its tree would keep every version of a long file alive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.analysis.failures import guarded
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import NODES_AT_ONCE, FileView, Found, GraderView, Rule, found_by
from waza_language_server.analysis.rules import GRADER_RULES
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import grader_shape, grader_type, graders_below, located_below
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.aliases import contains_alias
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import ItemMemo, Node
from waza_language_server.text.edit import Edits, Fix
from waza_language_server.text.span import Span

_Where = tuple[SchemaName, tuple[str, ...]]
"""The kind of document that holds a grader entry, and the keys that lead to it."""
Memory = WeakKeyDictionary[Green, tuple[Problem, ...]]
_kept: WeakKeyDictionary[Catalog, dict[_Where, Memory]] = WeakKeyDictionary()
"""The problems of a grader entry, relative to its start, by schemas, place and entry.

There are few places: none is below a key that an author names.
"""

_rules_by_shape: WeakKeyDictionary[Catalog, dict[tuple[str | None, Shape], Sequence[Rule[GraderView]]]] = (
    WeakKeyDictionary()
)

_KeptOfItems = dict[tuple[SchemaName, Shape], ItemMemo[tuple[Problem, ...]]]
_kept_of_items: WeakKeyDictionary[Catalog, _KeptOfItems] = WeakKeyDictionary()
"""The problems in the items of lists of grader entries, relative to the start of each item.

By the shape of the items: an edit can move items from one list into another, where they mean something else.
"""


def problems_of_all(view: FileView, graders: GraderEntries) -> Found:
    """Yield the problems of all grader entries of a file, skipping cached ones without any."""
    known = _kept_of_items.setdefault(view.catalog, {})
    for node, shape, items in graders.places:
        if items is None:
            yield from _problems_below(view, node, shape)
            continue
        key = view.kind, items
        kept = known.get(key) or known.setdefault(key, ItemMemo())
        fresh: dict[object, list[Problem]] = {}
        look = partial(_looked_at, view, items, fresh)
        found = kept.of(node, look, _touched(node, view.tree.guesses))
        for index, problems in enumerate(found):
            if not problems:
                continue
            if index in fresh:
                yield from fresh[index]
                continue
            placed = node.green.children[index]
            entries = partial(_entries_at, node, index, items)
            place = _Place(view, placed.green, node.offset + placed.offset, entries)
            yield from map(place.problem_of_today, problems)


def _problems_below(view: FileView, node: Node, shape: Shape) -> Found:
    for entry in graders_below(node, shape):
        yield from grader_problems(view, entry)
        checkpoint()


def _entries_at(items: Node, index: int, shape: Shape) -> Iterator[Node]:
    item = items.get(index)
    return graders_below(item, shape) if item is not None else iter(())


def _looked_at(
    view: FileView, shape: Shape, fresh: dict[object, list[Problem]], item: Node
) -> tuple[Problem, ...]:
    """Return the problems of an item of a list for the cache, and add them to ``fresh``."""
    found = list(_problems_below(view, item, shape))
    fresh[item.step] = found
    return _all_to_keep(found, item.offset) if found else ()


def _touched(items: Node, spans: Sequence[Span]) -> list[int]:
    """Return the indexes of the items that spans touch."""
    found: set[int] = set()
    last = len(items.green.children) - 1
    for number, span in enumerate(spans, 1):
        if not number % NODES_AT_ONCE:
            checkpoint()
        first = max(0, items.children_before(span.start) - 1)
        found.update(range(first, min(last, items.children_before(span.end + 1)) + 1))
    return sorted(found)


def grader_problems(view: FileView, entry: Node) -> Found:
    """Yield the problems of one grader entry, cached if neither the entry nor its place changed."""
    if view.tree.broken(entry):
        yield from _checked(view, entry)
        return
    memory = _memory_at(view, entry)
    kept = memory.get(entry.green)
    if kept is not None:
        yield from map(_Place(view, entry.green, entry.offset, lambda: (entry,)).problem_of_today, kept)
        return
    found = list(_checked(view, entry))
    yield from found
    if not contains_alias(entry.green):
        memory[entry.green] = _all_to_keep(found, entry.offset) if found else ()


def _memory_at(view: FileView, entry: Node) -> Memory:
    places = _kept.setdefault(view.catalog, {})
    where = view.kind, tuple([step for step in entry.path if isinstance(step, str)])
    return places.get(where) or places.setdefault(where, Memory())


def _checked(view: FileView, entry: Node) -> Found:
    catalog = view.catalog
    shape = grader_shape(entry, catalog)
    located = list(guarded("shapes", lambda: located_below(entry, shape, catalog)))
    rules = _rules_about(grader_type(entry), shape, catalog)
    yield from found_by(rules, GraderView(view, entry, located))


def _rules_about(grader_type: str | None, shape: Shape, catalog: Catalog) -> Sequence[Rule[GraderView]]:
    known = _rules_by_shape.setdefault(catalog, {})
    rules = known.get((grader_type, shape))
    if rules is None:
        rules = [rule for rule in GRADER_RULES if rule.is_about(grader_type, shape)]
        if grader_type is None or catalog.grader(grader_type) is not None:
            known[grader_type, shape] = rules
    return rules


def _all_to_keep(problems: Sequence[Problem], offset: int) -> tuple[Problem, ...]:
    """Return problems relative to an offset, with fixes that hold no tree; a grader can have thousands."""
    found: list[Problem] = []
    for number, problem in enumerate(problems, 1):
        fixes = tuple([Fix(fix.title, (), fix.preferred) for fix in problem.fixes])
        found.append(replace(problem, fixes=fixes).shifted(-offset))
        if not number % NODES_AT_ONCE:
            checkpoint()
    return tuple(found)


@frozen()
class _Place:
    """The current place of a value with cached problems; ``entries`` are the grader entries there."""

    view: FileView
    green: Green
    offset: int
    entries: Callable[[], Iterable[Node]]

    def problem_of_today(self, kept: Problem) -> Problem:
        """Return a cached problem at its current place, with fixes for the current text."""
        fixes = tuple(
            [
                Fix(fix.title, partial(_made_again, self, kept, number), fix.preferred)
                for number, fix in enumerate(kept.fixes)
            ]
        )
        related = tuple([each.shifted(self.offset) for each in kept.related]) if kept.related else ()
        span = kept.span.shifted(self.offset)
        # Copied field by field: ``replace`` takes as long as all the rest, and there may be hundreds.
        return Problem(kept.code, span, kept.message, kept.severity, fixes, related, kept.tag)

    def is_same(self, other: _Place) -> bool:
        """Return whether both places hold the same node of the same text."""
        return self.view == other.view and self.green is other.green and self.offset == other.offset


def _made_again(place: _Place, kept: Problem, number: int) -> Edits:
    """Return the edits of a fix; empty if its rule does not find the problem any more."""
    if not (_checked_last and _checked_last[-1].place.is_same(place)):
        found = chain.from_iterable(_checked(place.view, entry) for entry in place.entries())
        _checked_last.append(_Checked(place, {_key(each): each for each in found}))
    again = _checked_last[-1].problems.get(_key(kept, place.offset))
    if again is None or number >= len(again.fixes):
        return ()
    return again.fixes[number].edits


@frozen()
class _Checked:
    """A check that was repeated to get its fixes, and its problems."""

    place: _Place
    problems: dict[tuple[str, int, int, str], Problem]


_checked_last: deque[_Checked] = deque(maxlen=1)
"""The last one: the fixes of an entry are requested one after another."""


def _key(problem: Problem, moved: int = 0) -> tuple[str, int, int, str]:
    return problem.code, problem.span.start + moved, problem.span.end + moved, problem.message
