"""Validation of an edit where it is created: whether the text then parses as intended, and no worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import Json
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.text.edit import Edit

Edits = tuple[Edit, ...]
Path = tuple[str | int, ...]


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after edits that do not overlap, in any order."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts.extend((text[at : edit.span.start], edit.text))
        at = max(at, edit.span.end)
    return "".join((*parts, text[at:]))


def checked(tree: Tree, edits: Edits, path: Path, change: Callable[[object], object]) -> Edits:
    """Return the edits if the value at ``path`` then equals ``change`` of the old one, else none."""
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
