"""Document symbols of a suite file, as a tree: for an outline, breadcrumbs and jumps within the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.syntax.merges import value_at

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Entry, Node
    from waza_language_server.text.span import Span

SymbolWord = Literal["block", "list", "value", "grader", "task", "item"]
MOST_IN_DETAIL = 200
"""Items of a list whose own keys are listed; of a longer list the items are, but for plain words."""
_NAMES = ("name", "id", "prompt", "tool", "path", "type")
"""The keys by which people know an item of a list: the first that it has."""
_ITEMS: Mapping[str, SymbolWord] = {"graders": "grader", "tasks": "task"}
_BLOCKS: Mapping[str, SymbolWord] = {"mapping": "block", "sequence": "list"}
_LONGEST = 60
_PASSED_OVER_AT_ONCE = 1_000


@frozen()
class OutlineSymbol:
    """A key, or an item of a list. ``whole`` is all that is written of it, ``named`` what to select in it."""

    name: str
    detail: str
    kind: SymbolWord
    whole: Span
    named: Span
    below: tuple[OutlineSymbol, ...] = ()


def outline(document: Document) -> tuple[OutlineSymbol, ...]:
    """Return the keys of a document, and below each its blocks and the items of its lists.

    Plain values are listed at the top level only. The target of an alias is listed where it is written.
    """
    root = document.tree.root
    found: list[OutlineSymbol] = []
    for entry in root.each_entry() if root is not None else ():
        found += [_key(entry)]
    return tuple(found)


def _key(entry: Entry) -> OutlineSymbol:
    checkpoint()
    key, value = entry.key, entry.value
    below = _below(value, key.value)
    detail = _word(value.value) if value.kind == "scalar" else ""
    return OutlineSymbol(
        _word(key.value) or "?", detail, _BLOCKS.get(value.kind, "value"), entry.span, key.span, below
    )


def _below(node: Node, key: str) -> tuple[OutlineSymbol, ...]:
    found: list[OutlineSymbol] = []
    for entry in node.each_entry():
        if entry.value.kind in _BLOCKS:
            found += [_key(entry)]
    detailed = len(node.green.children) <= MOST_IN_DETAIL
    for number, item in enumerate(node.each_item(), 1):
        if not detailed and key not in _ITEMS and item.green.kind == "scalar":
            # An outline with thousands of items is of no use.
            if not number % _PASSED_OVER_AT_ONCE:
                checkpoint()
            continue
        found += [_item(item, _ITEMS.get(key, "item"), detailed=detailed)]
    return tuple(found)


def _item(item: Node, kind: SymbolWord, *, detailed: bool) -> OutlineSymbol:
    checkpoint()
    if item.kind != "mapping":
        kind = _BLOCKS.get(item.kind, "value")
        below = _below(item, "") if detailed else ()
        return OutlineSymbol(_word(item.value) or f"{item.step}", "", kind, item.span, item.span, below)
    names = (value for name in _NAMES if (value := item.get(name)) is not None and value.kind == "scalar")
    named = next((value for value in names if value.value.strip()), None)
    type_ = value_at(item, "type") if kind == "grader" else None
    detail = _word(type_.value) if type_ is not None and (named is None or type_.span != named.span) else ""
    below = _below(item, "") if detailed else ()
    if named is None:
        return OutlineSymbol(_beginning(item), detail, kind, item.span, item.span, below)
    return OutlineSymbol(_word(named.value), detail, kind, item.span, named.span, below)


def _beginning(item: Node) -> str:
    """Return the first key and value of a mapping without a name, its index if the value is not a string."""
    key, value = item.nth_child(0), item.nth_child(1)
    if key is None or value is None or value.kind != "scalar" or not value.value.strip():
        return f"{item.step}"
    return _word(f"{key.value}: {value.value}")


def _word(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
