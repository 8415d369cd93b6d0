"""Alias resolution: anchors by name, the number of aliased nodes, plain values with aliases resolved.

Architecture invariant: no alias is followed without a limit; a few lines can expand beyond any memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.reading.scalars import Json, resolve_scalar
from waza_language_server.syntax.green import Green

ALIAS_BUDGET = 10_000
"""The most nodes that ``Node.to_python`` visits.

An anchor bomb becomes null instead of filling the memory.
"""

Way: TypeAlias = tuple[int, ...]
"""Indexes among children, from the root down."""

_known_anchors: WeakKeyDictionary[Green, tuple[Mapping[str, Way], Mapping[int, Way]]] = WeakKeyDictionary()
_known_references: WeakKeyDictionary[Green, bool] = WeakKeyDictionary()
_known_aliased: WeakKeyDictionary[Green, int] = WeakKeyDictionary()
_COUNTED_AT_ONCE = 500


def anchors_of(root: Green) -> Mapping[str, Way]:
    """Return the path to the first node of each anchor: the indexes among children, from the root down."""
    return _anchors(root)[0]


def anchored_by(root: Green, alias: Green) -> Way | None:
    """Return the path to the node that an alias of a document refers to; None if there is no such anchor.

    A name may be redefined further down: the last node of that name before the alias counts. An alias before
    all of them refers to the first.
    """
    first, later = _anchors(root)
    return later.get(id(alias)) or first.get(alias.value)


def _anchors(root: Green) -> tuple[Mapping[str, Way], Mapping[int, Way]]:
    """Return the first node of each anchor, and by alias the nodes that redefined a name before it."""
    known = _known_anchors.get(root)
    if known is not None:
        return known
    first: dict[str, Way] = {}
    last: dict[str, Way] = {}
    later: dict[int, Way] = {}
    stack: list[tuple[Green, Way]] = [(root, ())]
    while stack:
        green, path = stack.pop()
        if green.anchor:
            (last if green.anchor in first else first)[green.anchor] = path
        if green.kind == "alias" and green.value in last:
            later[id(green)] = last[green.value]
        below = [(placed.green, (*path, index)) for index, placed in enumerate(green.children)]
        stack += [
            each for each in reversed(below) if each[0].children or each[0].anchor or each[0].kind == "alias"
        ]
    _known_anchors[root] = first, later
    return first, later


def contains_alias(green: Green) -> bool:
    """Return whether a node contains an alias: then its meaning depends on text outside."""
    known = _known_references.get(green) if green.aliased is None else green.aliased
    if known is None:
        known = _known_references[green] = _has_alias(green)
    return known


def _has_alias(green: Green) -> bool:
    stack = [green]
    while stack:
        node = stack.pop()
        if node.kind == "alias":
            return True
        stack.extend([placed.green for placed in node.children])
    return False


def aliased_nodes(root: Green) -> int:
    """Return how many nodes the aliases of a document expand to, including nested aliases.

    No alias is followed to count them: an anchor precedes its aliases, so its size is known by then.
    """
    known = _known_aliased.get(root)
    if known is not None:
        return known
    sizes: dict[str, int] = {}
    counted = aliased = looked_at = 0
    rest: list[tuple[Green, int | None]] = [(root, None)]
    while rest:
        green, before = rest.pop()
        if before is not None:
            # Everything below the anchor has been counted since.
            sizes[green.anchor or ""] = counted - before
            continue
        if green.anchor:
            rest.append((green, counted))
        counted += 1
        looked_at += 1
        if not looked_at % _COUNTED_AT_ONCE:
            checkpoint()
        if green.kind == "alias":
            size = sizes.get(green.value, 0)
            aliased += size
            counted += size
        rest.extend([(placed.green, None) for placed in reversed(green.children)])
    _known_aliased[root] = aliased
    return aliased


def plain_value(green: Green, root: Green) -> Json:
    """Return the plain value of a node of a document, scalars resolved as YAML 1.2 core.

    The first of duplicate keys wins, because a path leads to it. Aliases are followed within
    ``ALIAS_BUDGET``; broken nodes become None.
    """
    return _plain(green, root, _Budget(ALIAS_BUDGET), frozenset())


@dataclass(slots=True)
class _Budget:
    left: int


def _plain(green: Green, root: Green, budget: _Budget, seen: frozenset[int]) -> Json:
    kind = green.kind
    if kind == "alias" or seen:
        budget.left -= 1
        if budget.left < 0:
            return None
    if kind == "scalar":
        if green.tag is None and green.style != "plain":
            return green.value
        return resolve_scalar(green.value, plain=green.style == "plain", tag=green.tag)
    if kind == "mapping":
        children = green.children
        pairs = {
            children[index].green.value: _plain(children[index + 1].green, root, budget, seen)
            for index in range(0, len(children) - 1, 2)
        }
        if len(pairs) * 2 < len(children) - 1:
            for index in range(len(children) // 2 * 2 - 2, -1, -2):
                pairs[children[index].green.value] = _plain(children[index + 1].green, root, budget, seen)
        return pairs
    if kind == "sequence":
        return [_plain(child.green, root, budget, seen) for child in green.children]
    if kind == "alias":
        target = anchored_node(root, green)
        if target is None or target.kind == "alias" or id(target) in seen:
            return None
        return _plain(target, root, budget, seen | {id(target)})
    return None


def anchored_node(root: Green, alias: Green) -> Green | None:
    """Return the node that an alias of a document refers to; None if there is no such anchor."""
    path = anchored_by(root, alias)
    for index in path or ():
        root = root.children[index].green
    return None if path is None else root
