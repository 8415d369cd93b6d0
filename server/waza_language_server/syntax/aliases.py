"""What aliases stand for: anchors by name, the size of what is behind them, plain values through them.

Architecture invariant: no alias is followed without a bound; a few lines can stand for more than any memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from waza_engine.spec.reading.scalars import Json, resolve_scalar
from waza_engine.steps import Steps
from waza_language_server.syntax.green import Green

ALIAS_BUDGET = 10_000
"""How many nodes ``Node.to_python`` may visit.

An anchor bomb ends as a null instead of filling the memory.
"""

_known_anchors: WeakKeyDictionary[Green, Mapping[str, tuple[int, ...]]] = WeakKeyDictionary()
_known_references: WeakKeyDictionary[Green, bool] = WeakKeyDictionary()
_known_aliased: WeakKeyDictionary[Green, int] = WeakKeyDictionary()
_COUNTED_AT_ONCE = 500


def anchors_of(root: Green) -> Mapping[str, tuple[int, ...]]:
    """Return where the first node of each anchor is: the positions among the children, from the root down."""
    known = _known_anchors.get(root)
    if known is not None:
        return known
    found: dict[str, tuple[int, ...]] = {}
    stack: list[tuple[Green, tuple[int, ...]]] = [(root, ())]
    while stack:
        green, path = stack.pop()
        if green.anchor:
            found.setdefault(green.anchor, path)
        below = [(placed.green, (*path, index)) for index, placed in enumerate(green.children)]
        stack += [each for each in reversed(below) if each[0].children or each[0].anchor]
    _known_anchors[root] = found
    return found


def refers_elsewhere(green: Green) -> bool:
    """Whether an alias stands in a node: then its meaning depends on text outside."""
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


def aliased_nodes(root: Green) -> Steps[int]:
    """Return how many nodes the aliases of a document stand for, those behind other aliases included.

    No alias is followed to count them: an anchor stands before its aliases, so its size is known by then.
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
            # All below the anchor was counted since.
            sizes.setdefault(green.anchor or "", counted - before)
            continue
        if green.anchor:
            rest.append((green, counted))
        counted += 1
        looked_at += 1
        if not looked_at % _COUNTED_AT_ONCE:
            yield
        if green.kind == "alias":
            size = sizes.get(green.value, 0)
            aliased += size
            counted += size
        rest.extend([(placed.green, None) for placed in reversed(green.children)])
    _known_aliased[root] = aliased
    return aliased


def plain_value(green: Green, root: Green) -> Json:
    """Return the plain value of a node of a document, scalars resolved as YAML 1.2 core.

    The first of duplicate keys wins, for that is where a path leads. Aliases are followed within
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
        target = _anchored(root, green.value)
        if target is None or target.kind == "alias" or id(target) in seen:
            return None
        return _plain(target, root, budget, seen | {id(target)})
    return None


def _anchored(root: Green, name: str) -> Green | None:
    path = anchors_of(root).get(name)
    for index in path or ():
        root = root.children[index].green
    return None if path is None else root
