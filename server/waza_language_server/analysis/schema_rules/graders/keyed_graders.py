"""Grader entries below their name or their type: `- my_check: {type: text}`, `- text: {contains: [a]}`."""

from __future__ import annotations

import re

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY, resolve_scalar
from waza_language_server.schema.catalog import Catalog
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits
from waza_language_server.text.span import Span

_WRITTEN_LINE = compiled_later(r"^(?=[^\r\n])", re.MULTILINE)


@frozen()
class KeyedGrader:
    """A grader entry and the key above it, which is its ``name`` or its ``type``."""

    entry: Entry
    role: str
    has_options: bool = False
    """True if options that belong below ``config`` are below the key."""

    @property
    def key(self) -> str:
        """Return the key above the grader."""
        return self.entry.key.value


def keyed_grader(catalog: Catalog, entry: Entry) -> KeyedGrader | None:
    """Return the grader nested below an entry's key; None if the key is neither a name nor a type."""
    value, key = entry.value, entry.key.value
    if value.kind != "mapping" or value.green.anchor is not None or value.green.tag is not None:
        return None
    below, known = set(value.key_names), set(catalog.any_grader.branch("mapping").properties)
    if key in known or not below or MERGE_KEY in below or not isinstance(resolve_scalar(key), str):
        return None
    if "type" in below:
        return KeyedGrader(entry, "name") if "name" not in below else None
    if key not in catalog.grader_types:
        return None
    if below <= catalog.options_of(key) - known:
        return KeyedGrader(entry, "type", has_options=True)
    return KeyedGrader(entry, "type") if below <= known else None


def as_item(text: str, grader: KeyedGrader, item: Node) -> Edits:
    """Return the edits that write the only key of a list item as name or type next to the others."""
    entry = grader.entry
    if entry.value.style == "flow":
        return _in_braces(text, grader, braces=item.style != "flow")
    key, colon = entry.key.span, _colon(text, entry)
    if not colon:
        return ()
    head = f"{grader.role}: {text[key.start : key.end]}"
    if grader.has_options:
        margin = line_break(text) + " " * column_of(text, key.start)
        return (Edit(Span(key.start, colon), f"{head}{margin}config:"),)
    # The key moves to the column of the others, which stay in place.
    blanks = " " * (column_of(text, entry.value.span.start) - column_of(text, key.start))
    return (Edit(Span(key.start, colon), f"{blanks}{head}"),)


def bare_key(catalog: Catalog, text: str, item: Node, entry: Entry) -> str | None:
    """Return the kind of a grader's first key without a value: ``name``, ``type``, or neither.

    The name of a type counts as ``type`` if none is given; any other key is a name if there is a type.
    """
    value, key = entry.value, entry.key.value
    first = next(item.each_entry(), None)
    if first is None or first.key.span != entry.key.span or len(item.key_names) < 2:
        return None
    if value.kind != "scalar" or len(value.span) or value.green.anchor or value.green.tag:
        return None
    if key in catalog.any_grader.branch("mapping").properties or not isinstance(resolve_scalar(key), str):
        return None
    if not key_as_value(text, entry, "name"):
        return None
    if "type" not in item.key_names:
        return "type" if key in catalog.grader_types else None
    return "name" if "name" not in item.key_names else None


def key_as_value(text: str, entry: Entry, role: str) -> Edits:
    """Return the edit that turns a key without a value into the value of another key."""
    key = entry.key.span
    colon = text.find(":", key.end, key.end + 2) + 1
    return (Edit(Span(key.start, colon), f"{role}: {text[key.start : key.end]}"),) if colon else ()


def list_of_keyed(catalog: Catalog, text: str, node: Node) -> Edits | None:
    """Return the edits that make a list of a mapping of graders by their types.

    None if all keys are names. Empty if a value cannot be moved.
    """
    graders = [keyed_grader(catalog, entry) for entry in node.entries]
    if not any(grader is not None and grader.role == "type" for grader in graders):
        return None
    edits: list[Edit] = []
    for grader in graders:
        if grader is None:
            return ()
        in_block = grader.entry.value.style == "block"
        written = _in_block(text, grader) if in_block else _in_braces(text, grader, braces=True)
        if not written:
            return ()
        start = grader.entry.key.span.start
        with_dash = in_block or node.style == "flow"
        edits += written if with_dash else (Edit(Span(start, start), "- "), *written)
    if node.style == "flow":
        first, last = node.span.start, node.span.end - 1
        edits += Edit(Span(first, first + 1), "["), Edit(Span(last, last + 1), "]")
    return tuple(edits)


def _in_block(text: str, grader: KeyedGrader) -> Edits:
    """Return the edits for a multi-line grader that becomes the item of a list, its dash included."""
    entry = grader.entry
    key, colon, value = entry.key.span, _colon(text, entry), entry.value.span
    column, below = column_of(text, key.start), column_of(text, value.start)
    if not colon or below < column + 2 or text[line_start_of(text, value.start) : value.start].strip(" "):
        return ()
    if not grader.has_options:
        blanks = " " * (below - column - 1)
        return (Edit(Span(key.start, colon), f"-{blanks}{grader.role}: {text[key.start : key.end]}"),)
    margin = line_break(text) + " " * (column + 2)
    head = Edit(Span(key.start, colon), f"- {grader.role}: {text[key.start : key.end]}{margin}config:")
    if below > column + 2:
        return (head,)
    # The options become the value of `config`: they all move two columns to the right.
    first = line_start_of(text, value.start)
    starts = (match.start() for match in _WRITTEN_LINE.finditer(text, first, value.end))
    return head, *(Edit(Span(start, start), "  ") for start in starts)


def _in_braces(text: str, grader: KeyedGrader, *, braces: bool) -> Edits:
    """Return the edits for a grader in braces; ``braces`` if there are none around its key."""
    key, value = grader.entry.key.span, grader.entry.value
    colon = _colon(text, grader.entry)
    if value.style != "flow" or not colon or text[colon : value.span.start].strip(" \t"):
        return ()
    head = f"{'{' if braces else ''}{grader.role}: {text[key.start : key.end]}, "
    start, end = value.span.start, value.span.end
    if grader.has_options:
        behind = (Edit(Span(end, end), "}"),) if braces else ()
        return Edit(Span(key.start, start), f"{head}config: "), *behind
    behind = () if braces else (Edit(Span(end - 1, end), ""),)
    return Edit(Span(key.start, start + 1), head), *behind


def _colon(text: str, entry: Entry) -> int:
    """Return where a value may begin after the colon of its key; 0 if there is no colon."""
    return text.find(":", entry.key.span.end, entry.value.span.start) + 1
