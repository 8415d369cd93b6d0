"""An unknown key: its problem, and its intended place."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from waza_engine.frozen import frozen
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.nodes import Node


@frozen()
class UnknownKey:
    """An unknown key of ``mapping`` and where it should be: at the path ``meant`` from ``home``.

    ``home`` is the mapping itself or one further up; ``meant`` is empty when unknown.
    """

    problem: Problem
    mapping: Node
    home: Node
    meant: tuple[str, ...]
    held: frozenset[str] = frozenset()
    """Keys below it that belong into ``mapping`` itself."""
    beside: frozenset[str] = frozenset()
    """Keys of ``mapping`` that belong into ``home``, as this one does."""
    cause: str = "Without it"
    """The beginning of the sentence about the consequence of the mistake."""

    def stands_for(self, mapping: Node, key: str) -> bool:
        """Return whether this key leaves ``key`` missing in a mapping, or the block in which it would be."""
        if key in self.held and _place(self.mapping) == _place(mapping):
            return True
        if not self.meant:
            return False
        if _place(self.home) == _place(mapping):
            return self.meant[0] == key or key in self.beside
        if len(self.meant) < 2 or self.meant[-1] != key:
            return False
        child = self.home.get(self.meant[0])
        return child is not None and _place(child.target) == _place(mapping)


@frozen()
class OneMistake:
    """The one problem of several unknown keys of a mapping, ``keys`` in their order there."""

    unknown: UnknownKey
    keys: frozenset[str]


class UnknownKeys:
    """The unknown keys of one subject, by the place that they affect."""

    def __init__(self, keys: Iterable[UnknownKey] = ()) -> None:
        self.all = tuple(keys)
        self._by_home: dict[Place, list[UnknownKey]] = {}
        self._by_mapping: dict[Place, list[UnknownKey]] = {}
        for home, alike in groupby(self.all, key=lambda key: key.home):
            self._by_home.setdefault(_place(home), []).extend(alike)
        for mapping, alike in groupby(self.all, key=lambda key: key.mapping):
            self._by_mapping.setdefault(_place(mapping), []).extend(alike)

    def standing_for(self, mapping: Node, key: str) -> list[UnknownKey]:
        """Return the unknown keys that leave ``key`` missing in a mapping."""
        near = list(self._by_home.get(_place(mapping), ()))
        if mapping.parent is not None:
            near += self._by_home.get(_place(mapping.parent), ())
        return [each for each in near if each.stands_for(mapping, key)]

    def without_meaning(self, mapping: Node) -> list[UnknownKey]:
        """Return the unknown keys of a mapping for which no intended key is known."""
        return [each for each in self._by_mapping.get(_place(mapping), ()) if not each.meant]


Place = tuple[int, int, str]


def _place(node: Node) -> Place:
    return node.span.start, node.span.end, node.kind
