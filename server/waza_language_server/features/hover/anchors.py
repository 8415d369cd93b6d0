"""Hover of an alias, an anchor and a merge key: the aliased value, and the origin of merged keys.

Architecture invariant: no alias is followed without a bound; mappings may be merged into each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import TYPE_CHECKING

from waza_engine.markdown import code, fenced
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.project.mentions import anchor_at
from waza_language_server.syntax.aliases import anchored_node
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.green import Green
    from waza_language_server.syntax.nodes import Entry, Node

MAX_LINES = 15
MAX_WIDTH = 200
_MOST_KEYS = 30
"""Keys of one merged mapping that are named."""
_MOST_NODES = 20_000
"""The most nodes that are visited to count the aliases of an anchor."""
_MOST_MERGED = 100
"""The most merge keys that are followed."""


def anchored_value(document: Document, offset: int) -> tuple[Span, str] | None:
    """Return the value of an alias or an anchor at an offset, in Markdown; None if there is neither."""
    mention = anchor_at(document.tree, offset)
    root = document.tree.root
    if mention is None or root is None:
        return None
    span = Span(mention.span.start - 1, mention.span.end)
    if mention.defines:
        anchored = root.at(mention.whole.start)
        while anchored.green.anchor != mention.name and anchored.parent is not None:
            anchored = anchored.parent
        times = _times(root.green, anchored.green)
        return span, f"**Anchor {code('&' + mention.name)}**{times and ': ' + times}"
    node = root.at(mention.span.start)
    target = node.target
    if node.kind != "alias" or target is node:
        return None
    heading = f"**Alias {code('*' + mention.name)}** stands for the value of line {_line(document, target)}"
    return span, f"{heading}\n\n{fenced(_excerpt(document.text, target), 'yaml')}"


def merged_keys(document: Document, entry: Entry) -> str | None:
    """Return the keys that a merge key adds, and their origin, in Markdown; None if there are none."""
    holder = entry.value.parent
    if entry.key.value != MERGE_KEY or entry.key.style != "plain" or holder is None:
        return None
    own = {key: "here" for key in holder.key_names if key != MERGE_KEY}
    sources = list(_sources(entry.value))
    if not sources:
        return None
    lines: list[str] = []
    origins: dict[str, str] = dict(own)
    for written, source in sources:
        keys = _keys_of(source)
        taken = [key for key in keys if key not in origins]
        line = f"- from {written} (line {_line(document, source)}): {_listed(taken) or 'nothing'}"
        left: dict[str, list[str]] = {}
        for key in keys:
            if key in origins:
                left.setdefault(origins[key], []).append(key)
        line += "".join(f"; not {_listed(others)}, said {where}" for where, others in left.items())
        lines.append(line)
        origins |= dict.fromkeys(taken, f"by {written}")
    return "**Merge key**: takes over the keys that are not written here\n\n" + "\n".join(lines)


def _sources(value: Node) -> Iterator[tuple[str, Node]]:
    """Yield the mappings that the value of a merge key names, each with how to call it."""
    merged = value.target
    for each in merged.items if merged.kind == "sequence" else (value,):
        target = each.target
        if target.kind == "mapping":
            yield (code("*" + each.value) if each.kind == "alias" else "the block there"), target


def _keys_of(mapping: Node) -> Mapping[str, None]:
    """Return the keys that a mapping has, those that it takes over itself included."""
    found: dict[str, None] = {}
    waiting, seen = [mapping], set[int]()
    while waiting and len(seen) < _MOST_MERGED:
        node = waiting.pop(0)
        if id(node.green) in seen:
            continue
        seen.add(id(node.green))
        for entry in node.each_entry():
            if entry.key.value == MERGE_KEY and entry.key.style == "plain":
                waiting += [source for _, source in _sources(entry.value)]
            else:
                found.setdefault(entry.key.value)
    return found


def _times(root: Green, anchored: Green) -> str:
    """Return how often an anchor is repeated, "" in a document too large to look through."""
    waiting, found, looked_at = [root], 0, 0
    while waiting:
        green = waiting.pop()
        looked_at += 1
        if looked_at > _MOST_NODES:
            return ""
        if green.kind == "alias" and green.value == anchored.anchor:
            found += anchored_node(root, green) is anchored
        waiting += [placed.green for placed in green.children]
    match found:
        case 0:
            return "no alias repeats it"
        case 1:
            return "1 alias repeats it"
        case _:
            return f"{found:,} aliases repeat it"


def _line(document: Document, node: Node) -> int:
    return document.lines.line_of(node.span.start) + 1


def _listed(keys: list[str]) -> str:
    named = ", ".join(code(key) for key in keys[:_MOST_KEYS])
    return named + (f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else "")


def _excerpt(text: str, node: Node) -> str:
    """Return how a value is written, moved to the left, at most ``MAX_LINES`` of it."""
    start = node.span.start
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    written = " " * (start - begin) if not text[begin:start].strip(" ") or node.style == "block" else ""
    lines = dedent(written + text[start : node.span.end]).splitlines() or [""]
    kept = [line[:MAX_WIDTH] for line in lines[:MAX_LINES]]
    return "\n".join(kept + (["…"] if len(lines) > MAX_LINES else []))
