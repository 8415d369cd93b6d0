"""Dedented lines of a block scalar: `Note: this` at the column of its key is a key for YAML."""

from __future__ import annotations

from collections.abc import Container

from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_BLOCKS_OF_TEXT = frozenset({"literal", "folded"})


def fallen_text(text: str, mapping: Node, known: Container[str], entry: Entry) -> tuple[str, Fix] | None:
    """Return the problem of words and a colon below a block scalar, and its fix; None for a key."""
    key = entry.key.value
    if entry.key.style != "plain" or mapping.style != "block" or not (key[:1].isupper() or " " in key):
        return None
    above = _entry_above(mapping, entry)
    if above is None or above.value.style not in _BLOCKS_OF_TEXT or above.key.value not in known:
        return None
    edits = _indented(text, above.value, entry)
    if not edits:
        return None
    holder = above.key.value
    message = (
        f"`{key}` stands at the column of the keys, so the text of `{holder}` ends above it; "
        "indent it to make it a part of the text."
    )
    return message, Fix(f"Indent it as text of `{holder}`", edits)


def _entry_above(mapping: Node, entry: Entry) -> Entry | None:
    above = None
    for each in mapping.each_entry():
        if each.key.span == entry.key.span:
            return above
        above = each
    return None


def _indented(text: str, block: Node, entry: Entry) -> Edits:
    """Return the edits that indent the lines of an entry to the column of a block scalar."""
    first = text.find("\n", block.span.start, block.span.end) + 1
    rows = text[first : block.span.end].split("\n") if first else []
    column = next((len(row) - len(row.lstrip(" ")) for row in rows if row.strip()), None)
    start = entry.key.span.start
    if column is None or text[line_start_of(text, start) : start].strip():
        return ()
    shift = " " * (column - column_of(text, start))
    edits: list[Edit] = []
    at = line_start_of(text, start)
    while at >= 0 and at < entry.span.end:
        end = text.find("\n", at)
        if text[at : end if end >= 0 else len(text)].strip():
            edits.append(Edit(Span(at, at), shift))
        at = end + 1 if end >= 0 else -1
    return tuple(edits) if shift else ()
