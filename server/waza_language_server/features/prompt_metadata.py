"""The keys and values of `metadata` that the lines of a file of prompts use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_language_server.syntax.nodes import ItemMemo, Node

if TYPE_CHECKING:
    from waza_language_server.project.document import Document

METADATA = "metadata"
_MOST_SHOWN = 10
_entries: ItemMemo[tuple[tuple[str, str], ...]] = ItemMemo()


def used_metadata(document: Document, without: object = None) -> Mapping[str, Counter[str]]:
    """Return how many lines have each value of each key, the most frequent keys first.

    Values are written as JSON, "" for lists and objects. ``without`` is the index of a line to leave out.
    """
    root = document.tree.root
    found: dict[str, Counter[str]] = {}
    if document.kind == "prompts" and root is not None:
        for index, entries in enumerate(_entries.of(root, _entries_of)):
            for key, value in entries if index != without else ():
                found.setdefault(key, Counter())[value] += 1
    return dict(sorted(found.items(), key=lambda item: -item[1].total()))


def metadata_story(document: Document, key: str) -> str:
    """Return which values a key has in the lines of a file, as Markdown."""
    values = used_metadata(document).get(key, Counter[str]())
    shown = [f"- `{value}`: {counted(count, 'line')}" for value, count in values.most_common() if value]
    more = [f"- {len(shown) - _MOST_SHOWN:,} more values"] if len(shown) > _MOST_SHOWN else []
    return "\n".join([f"In {counted(values.total(), 'line')} of this file.\n", *shown[:_MOST_SHOWN], *more])


def _entries_of(line: Node) -> tuple[tuple[str, str], ...]:
    metadata = line.get(METADATA) if line.kind == "mapping" else None
    return tuple(_written(metadata)) if metadata is not None else ()


def _written(metadata: Node) -> Iterator[tuple[str, str]]:
    for entry in metadata.each_entry():
        is_scalar = entry.value.kind == "scalar" and len(entry.value.span)
        value = json.dumps(entry.value.to_python(), ensure_ascii=False) if is_scalar else ""
        yield entry.key.value, value
