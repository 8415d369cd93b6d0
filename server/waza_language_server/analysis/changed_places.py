"""Which parts of a document an edit has touched: the entries of the file and the items of its lists.

Items that an edit left alone keep their green nodes, so what differs is found by identity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_below
from waza_language_server.syntax.nodes import Green, Node, Placed
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

_COMPARED = frozenset({"checkpoints", "mcp_mocks"})
"""Lists of a file whose items are compared with each other; they are never cut."""
SHORT_LIST = 8
"""Lists up to this length are taken whole: some rules count their items."""


class Changes:
    """Edits that do not overlap, and the way from the text after them to the text before."""

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
        """Return where a span of the text after the edits was before them; None when one touches it."""
        index = bisect_right(self._starts, span.end)
        if index and self._ends[index - 1] >= span.start:
            return None
        return span.shifted(-self._moved[index])

    def places(self, tree: Tree) -> list[Span]:
        """Return the items or entries of the text before that an edit touches, once each."""
        places = {_place(tree.root, edit.span) for edit in self._edits}
        return sorted(places)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The roots of a document before and after an edit, their long lists cut down to the items that differ.

    All offsets are those of the document. ``only_graders`` says that nothing differs but entries of lists of
    graders.
    """

    before: Node
    after: Node
    only_graders: bool

    def covers(self, spans: Sequence[Span]) -> bool:
        """Whether what was said of these places before the edit is judged again after it."""
        judged = sorted(self._judged())
        starts = [place.start for place in judged]
        for span in spans:
            index = bisect_right(starts, span.start)
            if not index or judged[index - 1].end < span.end:
                return False
        return True

    def _judged(self) -> Iterator[Span]:
        """Yield the places before the edit that are judged again; they lie apart from each other."""
        if not self.only_graders:
            yield Span(0, self.before.span.start - 1)
        for entry in self.before.each_entry():
            if not self.only_graders:
                yield entry.key.span
            value, now = entry.value, self.after.get(entry.key.value)
            if now is None or value.kind != "sequence" or now.kind != "sequence":
                if now is None or now.green is not value.green:
                    yield value.span
                continue
            left = {item.green for item in now.green.children}
            yield from (item.span for item in value.each_item() if item.green not in left)


def excerpts(before: Tree, after: Tree, kind: SchemaName, catalog: Catalog) -> Excerpt | None:
    """Return what differs between two trees; None when they are not two mappings with the same keys.

    Neither may have faults or anchors.
    """
    old, new = before.root, after.root
    if old is None or new is None or old.kind != "mapping" or new.kind != "mapping":
        return None
    top = catalog.document(kind)
    old_values = {key.green.value: value.green for key, value in _pairs(old.green)}
    old_cut: dict[str, Green] = {}
    new_cut: dict[str, Green] = {}
    only_graders = len(old_values) == len(new.green.children) // 2
    for key, value in _pairs(new.green):
        name = key.green.value
        was, now = old_values.get(name), value.green
        if was is None:
            only_graders = False
            continue
        if name not in _COMPARED and _is_long_list(was) and _is_long_list(now):
            old_cut[name], new_cut[name] = _cut(was, now)
        if was is now:
            continue
        shape = shape_below(top, name)
        items = shape.branch("sequence").items if shape is not None else None
        if items is None or items.kind != "grader" or not (_holds_mappings(was) and _holds_mappings(now)):
            only_graders = False
    return Excerpt(_with_values(old, old_cut), _with_values(new, new_cut), only_graders)


def _place(root: Node | None, span: Span) -> Span:
    """Return the item of a list of the file, or else the entry of the file, that holds a span."""
    if root is None or root.kind != "mapping":
        return root.span if root is not None else span
    found = span
    for entry in root.each_entry():
        if entry.span.start <= span.start and span.end <= entry.span.end:
            found = entry.span
            index = entry.value.children_before(span.start + 1) - 1
            item = entry.value.get(index) if entry.value.kind == "sequence" else None
            if item is not None and span.end <= item.span.end:
                found = item.span
    return found


def _cut(old: Green, new: Green) -> tuple[Green, Green]:
    """Return two lists without the items that they share; the first stays, so that no list seems empty."""
    before, after = old.children, new.children
    if len(before) == len(after):
        differing = [
            index
            for index in range(len(before))
            if index == 0 or before[index].green is not after[index].green
        ]
        return _with_children(old, before, differing), _with_children(new, after, differing)
    return old, new


def _with_children(green: Green, children: tuple[Placed, ...], kept: list[int]) -> Green:
    chosen = tuple(children[index] for index in kept)
    return Green("sequence", green.start, green.end, green.style, "", green.tag, green.anchor, chosen)


def _with_values(root: Node, values: dict[str, Green]) -> Node:
    green = root.green
    children: list[Placed] = []
    for key, value in _pairs(green):
        children += (key, Placed(values.get(key.green.value, value.green), value.offset))
    changed = Green("mapping", green.start, green.end, green.style, children=tuple(children))
    return Node(changed, root.offset)


def _pairs(mapping: Green) -> list[tuple[Placed, Placed]]:
    return list(zip(mapping.children[::2], mapping.children[1::2], strict=False))


def _is_long_list(green: Green) -> bool:
    return green.kind == "sequence" and len(green.children) > SHORT_LIST


def _holds_mappings(green: Green) -> bool:
    return green.kind == "sequence" and all(child.green.kind == "mapping" for child in green.children)
