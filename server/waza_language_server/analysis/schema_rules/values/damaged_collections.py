"""Brackets that are valid YAML, with another meaning than intended: `[x; y]`, `{a=1}`, `{a:"1"}`."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_WORDS = compiled_later(r"\w[\w./*-]*(?:[ \t]*;[ \t]*\w[\w./*-]*)+")
_SEMICOLON = compiled_later(r"[ \t]*;[ \t]*")
_GLUED_PAIR = compiled_later(r"(?P<key>[A-Za-z_][\w.-]*)(?P<sign>=|:(?=[\"']))(?P<value>[^\s=:,]+)")


def may_be_one_item(node: Node) -> bool:
    """Return whether ``joined_items`` may report something about a list."""
    children = node.green.children
    return node.green.style == "flow" and len(children) == 1 and ";" in children[0].green.value


def joined_items(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the only item of a list in brackets if it is words separated by semicolons."""
    item, items = node.items[0], shape.branch("sequence").items
    if items is None or items.kind == "python.assertion" or item.style != "plain" or item.kind != "scalar":
        return
    # Without a space it may be a row of a table.
    if _WORDS.fullmatch(item.value) is None or not {" ", "\t"} & set(item.value):
        return
    start, end = item.span.start, item.span.end
    edits = tuple(Edit(Span(*each.span()), ", ") for each in _SEMICOLON.finditer(text, start, end))
    message = f"`{shown(item.value)}` is one item for YAML; commas part the items in brackets, not `;`."
    fix = Fix("Write `,` for `;`", edits)
    yield Problem("unlikely-value", item.span, message, "warning", (fix,))


def glued_pairs(text: str, node: Node) -> Iterator[Problem]:
    """Yield the keys without a value, of a mapping in braces, that contain a separator."""
    for entry in node.each_entry():
        key, value = entry.key, entry.value
        glued = _GLUED_PAIR.fullmatch(key.value) if key.style == "plain" else None
        if glued is None or value.kind != "scalar" or len(value.span) or value.green.tag is not None:
            continue
        at = key.span.start + glued.start("sign")
        if text[key.span.start : key.span.end] != key.value:
            continue
        message = f"`{shown(key.value)}` is a key without a value; write `{glued['key']}: ` before the value."
        fix = Fix(f"Write `{glued['key']}: `", (Edit(Span(at, at + 1), ": "),))
        yield Problem("unlikely-value", key.span, message, "warning", (fix,))
