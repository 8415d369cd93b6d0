"""Metrics in other forms: numbers by their name, a name as the key of an item."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_MARGIN = compiled_later(r"^ +", re.MULTILINE)
_NUMBERS = ("threshold", "weight")
"""The possible meanings of a metric's number, the likeliest first."""


def is_metric(shape: Shape) -> bool:
    """Return whether a mapping is a metric: one that has the name of a metric."""
    name = shape.properties.get("name")
    return name is not None and name.shape.kind == "metric"


def metric_by_key(text: str, mapping: Node, shape: Shape, entry: Entry) -> Iterator[Fix]:
    """Yield the ways to write a metric's name as `name` when it is the first key of an item."""
    value, key = entry.value, entry.key.span
    if not is_metric(shape) or mapping.entry("name") is not None:
        return
    first = next(mapping.each_entry(), None)
    if first is None or first.key.span != key:
        return
    if text[key.end : value.span.start].strip() != ":" or value.green.anchor is not None:
        return
    written, colon = f"name: {text[key.start : key.end]}", text.index(":", key.end) + 1
    number = _number_of(value)
    if number is not None:
        start, end = ("{", "}") if text[mapping.span.start] != "{" and mapping.style == "flow" else ("", "")
        for known in (known for known in _NUMBERS if mapping.entry(known) is None):
            if 0 <= number <= 1 or known == "weight":
                before = Edit(Span(key.start, value.span.start), start + _before(text, entry, 0, known))
                behind = (Edit(Span(value.span.end, value.span.end), end),) if end else ()
                yield Fix(f"Write `{written}` and `{known}`", (before, *behind))
    elif not len(value.span):
        yield Fix(f"Write `{written}`", (Edit(Span(key.start, colon), written),))
    elif value.kind == "mapping" and value.style != "flow" and shape.properties.keys() >= {*value.key_names}:
        deeper = column_of(text, value.span.start) - column_of(text, key.start)
        margins = (margin.span() for margin in _MARGIN.finditer(text, key.end, value.span.end))
        moved = (Edit(Span(start, min(end, start + deeper)), "") for start, end in margins)
        yield Fix(f"Write `{written}`", (Edit(Span(key.start, colon), written), *moved))


def metrics_by_name(text: str, node: Node, items: Shape) -> Iterator[Fix]:
    """Yield the fixes that convert a mapping of names to numbers to a list of metrics, one per meaning.

    Shares of several metrics add up to 1; the number of a single one is its threshold.
    """
    item = items.branch("mapping").properties
    numbers = [_number_of(entry.value) for entry in node.entries] if node.kind == "mapping" else []
    amounts = [number for number in numbers if number is not None]
    names = node.key_names
    if not is_metric(items.branch("mapping")) or not amounts or len(amounts) < len(node.entries):
        return
    if any(name in item or name == MERGE_KEY for name in names) or node.green.anchor is not None:
        return
    are_shares = len(amounts) > 1 and abs(sum(amounts) - 1) < 0.001
    for key in reversed(_NUMBERS) if are_shares else _NUMBERS:
        fits = all(0 <= each <= 1 for each in amounts) if key == "threshold" else min(amounts) > 0
        edits = _named_amounts(text, node, key) if fits else ()
        if edits:
            yield Fix(f"Make it a list, with `{key}`", edits)


def _number_of(node: Node) -> float | None:
    value = node.to_python() if node.kind == "scalar" else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _named_amounts(text: str, node: Node, key: str) -> Edits:
    edits: list[Edit] = []
    in_brackets = node.style == "flow"
    for entry in node.entries:
        start, value = entry.key.span.start, entry.value.span
        if text[entry.key.span.end : value.start].strip(" ") != ":":
            return ()
        before = ("{" if in_brackets else "- ") + _before(text, entry, 2, key)
        edits.append(Edit(Span(start, value.start), before))
        if in_brackets:
            edits.append(Edit(Span(value.end, value.end), "}"))
    if in_brackets:
        first, last = node.span.start, node.span.end - 1
        edits = [Edit(Span(first, first + 1), "["), *edits, Edit(Span(last, last + 1), "]")]
    return tuple(edits)


def _before(text: str, entry: Entry, further: int, key: str) -> str:
    """Return the text before the number of a metric whose name was a key, indented ``further``."""
    start = entry.key.span.start
    in_brackets = entry.key.parent is not None and entry.key.parent.style == "flow"
    margin = ", " if in_brackets else f"{line_break(text)}{' ' * (column_of(text, start) + further)}"
    return f"name: {text[start : entry.key.span.end]}{margin}{key}: "
