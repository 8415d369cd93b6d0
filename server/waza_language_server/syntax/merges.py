"""Merge keys (``<<``) of a mapping."""

from __future__ import annotations

from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.syntax.nodes import Node

_MOST_MERGED = 100
"""The most mappings to search for one key, because one may be merged into itself."""


def value_at(node: Node | None, key: str) -> Node | None:
    """Return the value of a mapping's key, also from its merge keys: the first one wins."""
    found = None if node is None else node.get(key)
    if node is None or found is not None or node.get(MERGE_KEY) is None:
        return found
    holders = [node]
    for _ in range(_MOST_MERGED):
        if not holders:
            return None
        holder = holders.pop(0)
        if (found := holder.get(key)) is not None:
            return found
        if (merged := holder.get(MERGE_KEY)) is not None:
            holders[:0] = merged.target.items or (merged,)
    return None
