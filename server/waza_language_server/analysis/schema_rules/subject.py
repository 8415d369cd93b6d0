"""The input of a structural rule: a part of a document, its schema, and the paths between the two."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.schema.catalog import LINE_KINDS, Catalog, SchemaName
from waza_language_server.schema.locate import shape_of
from waza_language_server.schema.shape import SchemaRoot, Shape
from waza_language_server.syntax.aliases import contains_alias
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span


@frozen()
class Subject:
    """An entire document without its grader entries, or one grader entry.

    ``node`` is the part, ``root`` its schema file. ``is_grader`` distinguishes the two.
    """

    tree: Tree
    document_kind: SchemaName
    catalog: Catalog
    node: Node
    root: SchemaRoot
    is_grader: bool = False

    @property
    def text(self) -> str:
        """Return the text of the entire document."""
        return self.tree.text

    @property
    def outcome(self) -> str:
        """Return what a missing key or value leads to, for messages."""
        is_record = self.document_kind in {"captures", "trials"}
        return "no command reads the line" if is_record else "the run fails"

    def find(self, path: Sequence[str | int]) -> Node:
        """Return the node at a path, or the deepest one on the way there."""
        node = self.node.target
        for step in path:
            below = node.get(step)
            if below is None:
                merged = node.entry(MERGE_KEY) if node.kind == "mapping" else None
                return merged.value if merged is not None else node
            node = below.target
        return node

    def alias(self, path: Sequence[str | int]) -> Node | None:
        """Return the alias at a path, None if the value itself is written there."""
        if self.tree.root is None or not path or not contains_alias(self.tree.root.green):
            return None
        found = self.find(path[:-1]).get(path[-1])
        return found if found is not None and found.kind == "alias" else None

    def entry(self, node: Node) -> Entry | None:
        """Return the ``key: value`` whose value this node is; None for list items and the top."""
        if node.parent is None or not isinstance(node.step, str):
            return None
        return node.parent.entry(node.step)

    def shape_at(self, node: Node) -> Shape | None:
        """Return the shape of any node of the document."""
        return shape_of(self.document_kind, node, self.catalog)

    def is_guess(self, node: Node) -> bool:
        """Return whether text between a key and its value was not parsed, so that the value is a guess."""
        if not self.tree.guesses:
            return False
        holder = self.entry(node)
        return holder is not None and bool(self._unreadable(holder.key.span.end, node.span.start))

    def may_lack(self, mapping: Node) -> bool:
        """Return whether a key that seems to be missing in a mapping may be in text that was not parsed."""
        if not self.tree.guesses:
            return False
        holder = self.entry(mapping)
        start = holder.key.span.end if holder is not None else 0
        if isinstance(mapping.step, int):
            start = mapping.span.start
        end = self._end_of_block(mapping)
        return any(not _is_within_collection(mapping, guess.start) for guess in self._unreadable(start, end))

    def _unreadable(self, start: int, end: int) -> Sequence[Span]:
        """Return the unparsed spans from ``start`` up to ``end``."""
        guesses = self.tree.guesses
        first, last = (bisect_left(guesses, at, key=lambda guess: guess.start) for at in (start, end))
        return guesses[first:last]

    def _end_of_block(self, node: Node) -> int:
        """Return where the node after this one starts; for a grader its own end."""
        while (parent := node.parent) is not None:
            if self.is_grader and node.span == self.node.span:
                return node.span.end
            following = parent.nth_child(parent.children_before(node.span.end + 1))
            if following is not None:
                return following.span.start
            node = parent
        return len(self.text) + 1

    def anchor_of_missing(self, mapping: Node) -> Span:
        """Return where to report a missing key: at the ``type``, the key that holds it, the first key."""
        type_entry = mapping.entry("type")
        if type_entry is not None and len(type_entry.value.span) and type_entry.value.kind == "scalar":
            return type_entry.value.span
        holder = self.entry(mapping)
        if holder is not None:
            return holder.key.span
        first = next(mapping.each_entry(), None)
        return first.key.span if first is not None else self.first_line(mapping)

    def value_span(self, node: Node) -> Span:
        """Return where to mark a value: its first line; an empty value is marked at its key."""
        if len(node.span) == 0:
            holder = self.entry(node)
            return holder.key.span if holder is not None else node.span
        return self.first_line(node)

    def first_line(self, node: Node) -> Span:
        """Return the part of a node on its first line."""
        span = node.span
        breaks = [at for mark in "\r\n" if (at := self.text.find(mark, span.start, span.end)) >= 0]
        return Span(span.start, min(breaks, default=span.end))

    def name_of(self, mapping: Node) -> str:
        """Return a mapping's name for messages: its key in backticks, "this grader", "the file"."""
        if isinstance(mapping.step, str):
            return f"`{mapping.step}`"
        if isinstance(mapping.step, int):
            if self.is_grader and mapping.span == self.node.span:
                return "this grader"
            listed = mapping.parent.step if mapping.parent is not None else None
            if isinstance(listed, str):
                return f"this item of `{listed}`"
            return "this line" if self.document_kind in LINE_KINDS else "this item"
        return "this grader" if self.is_grader else "the file"


def needed_key_with(mapping: Node, shape: Shape, written: str) -> str | None:
    """Return the required key that a mapping lacks and for which a value is one of its few."""
    for key in shape.required:
        known = shape.properties.get(key)
        if known is not None and mapping.entry(key) is None and written in known.shape.enum:
            return key
    return None


def _is_within_collection(mapping: Node, offset: int) -> bool:
    """Return whether an offset is in a list or a mapping that is a value of a mapping."""
    entry = mapping.entry_at(offset)
    if entry is None or entry.value.kind not in {"mapping", "sequence"}:
        return False
    return entry.value.span.start <= offset < entry.value.span.end


def capitalized(sentence: str) -> str:
    """Return a sentence with a capital letter at its start."""
    return sentence[:1].upper() + sentence[1:]
