"""Green nodes: parse results of a piece of text, without a place, shared between versions of a document.

A green node knows its spans relative to the start of the piece of text it was parsed from; an unchanged piece
keeps its green nodes when the text before it grows. ``nodes.py`` adds their places.

Architecture invariant: nothing here mutates a green node after it is built, and none of them holds document
offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal
from weakref import WeakKeyDictionary

from waza_engine.frozen import frozen

Kind = Literal["mapping", "sequence", "scalar", "alias", "broken"]
Style = Literal["plain", "single", "double", "literal", "folded", "flow", "block"]

_FEW_CHILDREN = 64
"""In mappings up to this size a key is found as fast without an index."""
_known_keys: WeakKeyDictionary[Green, Mapping[str, int]] = WeakKeyDictionary()


@frozen(eq=False)
class Green:
    """A node without a place. ``start``/``end`` are relative to ``anchor point`` of its piece of text.

    ``children`` are keys and values in turn for a mapping, and items for a sequence. Each child has its own
    ``offset`` (see ``Placed``), so an entire subtree moves by changing one number. ``end`` is the end of the
    last descendant, never the trailing whitespace and comments that libyaml counts in. ``value`` is the
    decoded string of a scalar and the name of an alias. A scalar with an empty span is an empty value: a
    place to complete at. Green nodes compare by identity, so they serve as cache keys.
    """

    kind: Kind
    start: int
    end: int
    style: Style = "plain"
    value: str = ""
    tag: str | None = None
    anchor: str | None = None
    children: Sequence[Placed] = ()
    names: tuple[str, ...] | None = None
    """The keys of a small mapping (``names_of``), cached because most lookups are by key."""
    aliased: bool | None = None
    """True if a collection contains an alias; None if that is not computed yet (``refers_elsewhere``)."""


@frozen(eq=False)
class Placed:
    """A green child and the offset to add to its spans, relative to its parent's own piece of text."""

    green: Green
    offset: int = 0


def names_of(children: Sequence[Placed]) -> tuple[str, ...] | None:
    """Return the keys of a mapping with these children, duplicates included; None for a large one."""
    if len(children) > _FEW_CHILDREN:
        return None
    return tuple([children[index].green.value for index in range(0, len(children) - 1, 2)])


def position_of(mapping: Green, key: str) -> int | None:
    """Return the index of the first scalar key of this name among the children of a mapping."""
    children, names = mapping.children, mapping.names
    if names is not None:
        if key not in names:
            return None
        index = 2 * names.index(key)
        if children[index].green.kind == "scalar":
            return index
    if len(children) <= _FEW_CHILDREN:
        for index in range(0, len(children) - 1, 2):
            green = children[index].green
            if green.value == key and green.kind == "scalar":
                return index
        return None
    known = _known_keys.get(mapping)
    if known is None:
        known = _known_keys[mapping] = {
            children[index].green.value: index
            for index in range((len(children) - 2) // 2 * 2, -1, -2)
            if children[index].green.kind == "scalar"
        }
    return known.get(key)
