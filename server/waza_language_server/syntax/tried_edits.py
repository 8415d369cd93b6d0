"""Validation of an edit where it is created: whether the text then parses as intended, and no worse."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import cast

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import Json
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.text.edit import Edit, Edits, composed
from waza_language_server.text.span import Span

Path = tuple[str | int, ...]
_KEY = compiled_later(r"[\w.$-]+")
_SURROGATE = compiled_later(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
"""An escape that YAML refuses; any other of the same length keeps the offsets."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after edits that do not overlap, in any order."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts.extend((text[at : edit.span.start], edit.text))
        at = max(at, edit.span.end)
    return "".join((*parts, text[at:]))


def as_json(tree: Tree, edits: Edits) -> Edits:
    """Return edits that write YAML as edits that write JSON, if the text is JSON.

    So rules and fixes are written once. None if the text would have more faults than before.
    """
    if not tree.is_json or not edits:
        return edits
    edits = tuple([_with_quoted_key(tree, edit) for edit in edits])
    if is_no_worse(tree, parse(apply(tree.text, edits), tree)):
        return edits
    holder = _holder(tree, edits)
    if holder is None:
        return ()
    # The brackets around the edits are short: YAML takes twenty times as long to read.
    inner = tuple(edit.shifted(-holder.span.start) for edit in edits)
    text = apply(tree.text[holder.span.start : holder.span.end], inner)
    root, new = parse(_SURROGATE.sub(r"\\u0041", text)).root, _placed(inner)
    written = (_written_as_json(node, new) for node in root.walk()) if root is not None else ()
    quoted = tuple(edit.shifted(holder.span.start) for edit in written if edit is not None)
    found = composed(tree.text, (edits, quoted))
    return found if is_no_worse(tree, parse(apply(tree.text, found), tree)) else ()


def _with_quoted_key(tree: Tree, edit: Edit) -> Edit:
    """Return the edit that renames a key with quotes: YAML needs a space after the colon of a plain one."""
    node = tree.root.at(edit.span.start) if tree.root is not None else None
    is_key = node is not None and node.step is None and node.parent is not None and node.span == edit.span
    return Edit(edit.span, json.dumps(edit.text)) if is_key and _KEY.fullmatch(edit.text) else edit


def _holder(tree: Tree, edits: Edits) -> Node | None:
    """Return the innermost brackets around all edits."""
    start, end = min(edit.span.start for edit in edits), max(edit.span.end for edit in edits)
    node = tree.root.at(start) if tree.root is not None else None
    while node is not None and not (
        node.kind in {"mapping", "sequence"} and node.span.start < start and end < node.span.end
    ):
        node = node.parent
    return node


def _placed(edits: Edits) -> list[Span]:
    """Return where the new text of edits is after them."""
    spans: list[Span] = []
    moved = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start = edit.span.start + moved
        spans.append(Span(start, start + len(edit.text)))
        moved += len(edit.text) - len(edit.span)
    return spans


def _written_as_json(node: Node, new: list[Span]) -> Edit | None:
    """Return the edit that writes a new scalar as JSON, None for one that is JSON already."""
    span = node.span
    is_new = any(span.start < each.end and each.start < span.end for each in new)
    if node.kind != "scalar" or node.style == "double" or not is_new:
        return None
    is_key = node.step is None
    value = node.value if is_key else node.to_python()
    return Edit(span, json.dumps(value, ensure_ascii=False))


def checked(tree: Tree, edits: Edits, path: Path, change: Callable[[object], object]) -> Edits:
    """Return the edits if the value at ``path`` then equals ``change`` of the old one, else none."""
    edits = as_json(tree, edits)
    if not edits:
        return ()
    old = tree.root.get(*path) if tree.root is not None else None
    whole = tree.anchored
    wanted = change(_content(old, whole=whole) if old is not None else None)
    good = reads(tree, edits, path, lambda new: _content(new, whole=whole) == wanted)
    return edits if good else ()


@frozen(eq=False)
class _Below:  # noqa: PLW1641 - it is compared only
    """A value below the node that an edit changes: read only if the edit touched it."""

    holder: Node
    index: int
    green: Green

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Below):
            return self.green is other.green or self.to_python() == other.to_python()
        return self.to_python() == other

    def to_python(self) -> Json:
        child = self.holder.nth_child(self.index)
        return child.to_python() if child is not None else None


def _content(node: Node, *, whole: bool) -> object:
    """Return the plain value of a node; its children are read lazily, unless ``whole``.

    With aliases all must be read: the target of one may change though the alias stays the same.
    """
    if node.kind == "mapping" and not whole:
        children = node.green.children
        return {
            children[at - 1].green.value: _Below(node, at, children[at].green)
            for at in range(1, len(children), 2)
        }
    if node.kind == "sequence" and not whole:
        return [_Below(node, at, child.green) for at, child in enumerate(node.green.children)]
    return node.to_python()


def reads(tree: Tree, edits: Edits, path: Path, good: Callable[[Node], bool]) -> bool:
    """Return whether the node at ``path`` is ``good`` after the edits, and nothing else parses worse."""
    new = parse(apply(tree.text, edits), tree)
    checkpoint()
    if not is_no_worse(tree, new):
        return False
    node = new.root.get(*path) if new.root is not None else None
    if node is None:
        return new.root is None and not path
    return good(node)


def is_no_worse(old: Tree, new: Tree) -> bool:
    """Return whether a text has no more faults than the one before."""
    return len(new.errors) <= len(old.errors)


def value_of(text: str) -> Json:
    """Return the plain value of YAML text."""
    root = parse(text).root
    return root.to_python() if root is not None else None


def entries_of(value: object) -> dict[str, object]:
    """Return the entries of the argument of ``change``; empty if it is not a mapping."""
    value = value.to_python() if isinstance(value, _Below) else value
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def items_of(value: object) -> list[object]:
    """Return the items of the argument of ``change``; empty if it is not a list."""
    return cast("list[object]", value) if isinstance(value, list) else []
