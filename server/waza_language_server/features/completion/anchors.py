"""Completion of aliases (``*name``): the anchors above the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.features.completion.item import Completion, Place
from waza_language_server.syntax.aliases import anchors_of

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node


def anchor_items(place: Place) -> Iterator[Completion]:
    """Yield the aliases of nodes that end before the cursor; below a merge key only those of mappings."""
    root = place.document.tree.root
    if root is None:
        return
    merges = place.cursor.key == MERGE_KEY
    for name, path in anchors_of(root.green).items():
        node: Node | None = root
        for step in path:
            node = node.nth_child(step) if node is not None else None
        if node is None or node.span.end > place.offset or (merges and node.kind != "mapping"):
            continue
        alias = f"*{name}"
        yield Completion(alias, "reference", node.kind, "", f"1{name}", place.raw(alias), filter_text=alias)
