"""Keys that have become the last line of a block of text, and switches that say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_KEY = re.compile(r"[ ]*(?P<key>[a-z_]+):[ ]+(?P<value>\S+)[ \t]*\Z")
_PAIR = re.compile(r"[ \t]*(?:-[ ]+)?[\w\"'. -]{1,40}:(?:[ \t]|\Z)")
_BLOCKS = frozenset({"literal", "folded"})


def may_have_swallowed(node: Node) -> bool:
    """Whether ``swallowed_key`` may say something of a block of text: a look that is cheaper."""
    green = node.green
    return green.style in _BLOCKS and _KEY.match(green.value.rstrip().rpartition("\n")[2]) is not None


def swallowed_key(subject: Subject, node: Node) -> Iterator[Problem]:
    """Yield the last line of a block of text that is a key which a mapping around it knows and lacks.

    Where several lines look like keys, the text itself is of that kind.
    """
    text, mapping, holder = subject.text, node.parent, subject.entry(node)
    if mapping is None or holder is None or mapping.style != "block":
        return
    end = node.span.start + len(text[node.span.start : node.span.end].rstrip())
    start = text.rfind("\n", node.span.start, end) + 1
    match = _KEY.match(text[start:end])
    rows = text[node.span.start : start].splitlines()[1:]
    if match is None or not any(row.strip() for row in rows) or any(_PAIR.match(row) for row in rows):
        return
    owner = _owner(subject, mapping, match["key"], match["value"])
    if owner is None:
        return
    column = column_of(text, next(owner.each_entry()).key.span.start)
    place = Span(start + match.start("key"), end)
    fix = Fix("Align the line", (Edit(Span(start, place.start), " " * column),))
    where = f"indent it by {column} spaces" if column else "write it at the margin"
    message = (
        f"This line is a part of the text of `{holder.key.value}`, so `{match['key']}` is not set; "
        f"{where} to set it."
    )
    yield Problem("yaml-indentation", place, message, "information", (fix,))


def _owner(subject: Subject, mapping: Node, key: str, written: str) -> Node | None:
    """Return the nearest mapping around a text that knows a key with such a value, where it lacks it."""
    owner: Node | None = mapping
    while owner is not None and owner.kind == "mapping" and owner.style == "block":
        shape = subject.shape_at(owner)
        known = shape.properties.get(key) if shape is not None else None
        if known is not None:
            return owner if owner.entry(key) is None and _is_value(known.shape, written) else None
        owner = owner.parent
    return None


def _is_value(shape: Shape, written: str) -> bool:
    """Whether a word is what a key takes that takes no other words: a switch, a number, one of a few."""
    if shape.enum:
        return written in shape.enum
    if shape.kind == "model":
        return re.fullmatch(r"[a-z]+[\w.]*-[\w.-]+", written) is not None
    value = resolve_scalar(written)
    if shape.kind == "switch" or "boolean" in shape.types:
        return isinstance(value, bool)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and "string" not in shape.types and bool(shape.types & {"integer", "number"})


def says_nothing(node: Node, shape: Shape) -> bool:
    """Whether a switch that may be left out has no value."""
    is_bare = node.kind == "scalar" and node.style == "plain" and not len(node.span)
    is_alone = node.green.tag is None and node.green.anchor is None
    return is_bare and is_alone and shape.kind == "switch" and isinstance(node.step, str) and shape.nullable


def switch_without_value(subject: Subject, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a switch that has a key and no value: it is as if the key were not there."""
    entry = subject.entry(node)
    if entry is None or entry.value.span != node.span:
        return
    key, end = entry.key.value, entry.key.span.end
    colon = subject.text.find(":", end, end + 3)
    message = f"`{key}` has no value, as if it were not there; write `true` or `false`."
    fixes: tuple[Fix, ...] = ()
    if colon >= 0:
        written = ("false", "true") if shape.default is True else ("true", "false")
        fixes = tuple(
            Fix(f"Write `{key}: {each}`", (Edit(Span(colon + 1, colon + 1), f" {each}"),)) for each in written
        )
    yield Problem("empty-value", entry.key.span, message, "information", fixes)
