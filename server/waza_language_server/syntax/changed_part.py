"""The part of a document that an edit changes: outside of it the same nodes are in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.syntax.green import Placed
from waza_language_server.syntax.items import greens_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.common_ends import common_head, common_tail
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.syntax.tree import Tree


@frozen()
class ChangedPart:
    """Characters ``start:old_end`` of the old text correspond to ``start:new_end`` of the new one."""

    start: int
    old_end: int
    new_end: int


def changed_part(old: Tree, new: Tree) -> ChangedPart | None:
    """Return the part in which the texts and their trees differ, None if it may be everything.

    Before and after it there are the same values, below keys of the same names and in items of lists that are
    the same as a whole: results that depend on a node, its item, and the keys around are the same. With an
    anchor anywhere it is unknown what depends on the part.
    """
    if old.root is None or new.root is None or old.anchored or new.anchored:
        return None
    most = min(len(old.text), len(new.text))
    start = common_head(old.text, new.text, most)
    left = common_tail(old.text, new.text, most - start)
    spans = _differing(old.root, new.root)
    if spans is None:
        return None
    for span, text in zip(spans, (old.text, new.text), strict=True):
        if span is not None:
            start = min(start, span.start)
            left = min(left, len(text) - span.end)
    return ChangedPart(start, len(old.text) - left, len(new.text) - left)


def _differing(old: Node, new: Node) -> tuple[Span | None, Span | None] | None:
    """Return where the nodes below two roots differ, None for everywhere."""
    while old.green is not new.green:
        if old.kind != new.kind or not old.green.children or not new.green.children:
            return old.span, new.span
        ends = _common_ends(old.green.children, new.green.children)
        if old.kind == "sequence":
            return _between(old, *ends), _between(new, *ends)
        if _keys(old) != _keys(new):
            # The allowed values depend on the keys next to them.
            return None if new.parent is None else (old.span, new.span)
        head, tail = ends
        index = len(new.green.children) - tail - 1
        # The key of a list that is cut again is another node; only the differing value is compared further.
        alone = index >= 0 and head // 2 == index // 2
        before, after = (each.nth_child(index | 1) if alone else None for each in (old, new))
        if before is None or after is None:
            return _between(old, *ends), _between(new, *ends)
        old, new = before, after
    return None, None


def _keys(mapping: Node) -> list[tuple[str, str]]:
    # Keys that are not scalars are all treated as equal.
    return [
        (green.kind if green.kind in {"scalar", "alias"} else f"{id(green)}", green.value)
        for green in greens_of(mapping.green.children[::2])
    ]


def _common_ends(old: Sequence[Placed], new: Sequence[Placed]) -> tuple[int, int]:
    olds, news = greens_of(old), greens_of(new)
    return olds.common_ends(news)


def _between(node: Node, head: int, tail: int) -> Span | None:
    """Return the span of the children that differ, None if there are none."""
    if head + tail >= len(node.green.children):
        return None
    first, last = node.nth_child(head), node.nth_child(len(node.green.children) - tail - 1)
    return None if first is None or last is None else Span(first.span.start, last.span.end)
