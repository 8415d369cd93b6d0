"""Edit locations, and the text that was there before the edits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from waza_engine.checkpoint import collect
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span


class Changes:
    """Edits that do not overlap, and the mapping from offsets after them to offsets before."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._edits = sorted(edits, key=lambda edit: edit.span)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._moved = [0]
        for edit in self._edits:
            start = edit.span.start + self._moved[-1]
            self._starts.append(start)
            self._ends.append(start + len(edit.text))
            self._moved.append(self._moved[-1] + len(edit.text) - len(edit.span))

    def before(self, span: Span) -> Span | None:
        """Return where a span of the text after the edits was before them; None if an edit touches it."""
        index = bisect_right(self._starts, span.end)
        if index and self._ends[index - 1] >= span.start:
            return None
        return span.shifted(-self._moved[index])

    def behind(self, edit: Edit) -> int:
        """Return the offset after one of the edits, in the text after them."""
        return self._ends[self._edits.index(edit)]

    def nearest(self, span: Span) -> Edit:
        """Return the edit at a span of the text after them, else the last one before it, else the first."""
        return self._edits[max(bisect_right(self._starts, span.end) - 1, 0)]

    def places(self, tree: Tree) -> list[Span]:
        """Return the spans of items or entries, in the text before, that an edit touches."""
        return sorted({*collect(_place(tree.root, edit.span) for edit in self._edits)})


def _place(root: Node | None, span: Span) -> Span:
    """Return the item of a list of the file, or else the entry of the file, that holds a span."""
    if root is None or root.kind != "mapping":
        return root.span if root is not None else span
    entry = root.entry_at(span.start)
    if entry is None or entry.span.end < span.end:
        return span
    index = entry.value.children_before(span.start + 1) - 1
    item = entry.value.get(index) if entry.value.kind == "sequence" else None
    return item.span if item is not None and span.end <= item.span.end else entry.span
