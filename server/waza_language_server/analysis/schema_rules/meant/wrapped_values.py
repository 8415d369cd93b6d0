"""A value without its container: the list that it is an item of, the block with its key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.schema_rules.meant.metrics import is_metric
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import slip_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tried_edits import value_of
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span

_OF_TEXT = frozenset({"equals", "contains"})
"""Matchers that may be intended by a plain string."""
_EXPECTATION = "output_contains"
"""The key of an expectation that is a single string."""
_NO_TEXT = frozenset({"object", "array", "null"})
_OPENED_TEXT = compiled_later(r"(?P<key>[A-Za-z_]\w*)[ ]*:?[ ]*(?P<sign>[|>][-+]?)[ \t]*(?=\r?\n)")
"""A block scalar whose key lacks its colon, or the space after it."""
_KEY_AND_VALUE = compiled_later(
    r"(?P<key>[a-z_]+)(?P<blank>[ ]+)(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s\"':#][^:#\r\n]*)"
)
"""A key that lacks its colon, and its value."""
_KEY_ALONE = compiled_later(r"(?P<key>[A-Za-z_]\w*)[ \t]*(?=\r?\n|\Z)")
"""A word on a line of its own: a key that is still being written."""
_BEGINNING = 3
"""The fewest letters of a word that count as the beginning of a key."""
_WORD = compiled_later(r"[A-Za-z]\w*")
_KEY_BEFORE = compiled_later(r"(?![A-Z])[\w-]+:|[\w-]+[ ]*:?[ ]*[|>][-+]?(?:\s|$)")
_HEADER = compiled_later(r"[ \t]*(?P<sign>[|>][-+0-9]*)")
_WRITTEN_LINE = compiled_later(r"\n(?=[^\r\n])")


def blocks_of_text(subject: Subject, node: Node, shape: Shape) -> Iterator[Fix]:
    """Yield the ways to make a block of keys of a string; only certain if the string fits a single key."""
    block = shape.branch("mapping")
    if node.style in {"literal", "folded"}:
        read = value_of(node.value)
        if isinstance(read, dict) and read and read.keys() <= block.properties.keys():
            yield from without_sign(subject, node)
            return
    written = subject.text[node.span.start : node.span.end]
    opened = _OPENED_TEXT.match(written) if node.style == "plain" else None
    if opened is not None and opened["key"] in block.properties:
        start = node.span.start
        place = Span(start + opened.end("key"), start + opened.start("sign"))
        yield Fix(f"Write `{opened['key']}: {opened['sign']}`", (Edit(place, ": "),))
        return
    begun = _KEY_ALONE.match(written) if node.style == "plain" else None
    meant = _meant_key(begun["key"], block) if begun is not None else None
    if begun is not None and meant is not None:
        yield from _with_colon(node, begun, meant)
        return
    unparted = _KEY_AND_VALUE.fullmatch(written) if node.style == "plain" else None
    if unparted is not None and unparted["key"] in block.properties:
        blank = Span(node.span.start + unparted.start("blank"), node.span.start + unparted.end("blank"))
        yield Fix(f"Write `{unparted['key']}: `", (Edit(blank, ": "),))
    if (json_text := _without_quotes(node, block)) is not None:
        yield json_text
        return
    yield from _below_a_key(subject, node, shape, may_be_text=unparted is None)


def _below_a_key(subject: Subject, node: Node, shape: Shape, *, may_be_text: bool) -> Iterator[Fix]:
    """Yield the ways to make a string the value of one of the keys that are due."""
    block, written = shape.branch("mapping"), subject.text[node.span.start : node.span.end]
    for option in block.exactly_one:
        # A string among patterns and ranges is intended as it is, or as a part.
        if option in _OF_TEXT and (edit := as_block(subject, node, option)) is not None:
            yield Fix(f"Write `{option}: …`", (edit,))
    key = only_text(shape)
    if key is not None and (edit := as_block(subject, node, key)) is not None:
        # Text that looks like a key is probably not a plain string.
        is_text = node.style not in {"literal", "folded"} and _KEY_BEFORE.match(node.value) is None
        is_text = is_text and may_be_text
        yield Fix(f"Write `{key}: …`", (edit,), preferred=is_text)
    elif key is None and "type" in block.properties and _WORD.fullmatch(written):
        if (edit := as_block(subject, node, "type")) is not None:
            yield Fix(f"Write `type: {written}`", (edit,))
    elif key is None and _EXPECTATION in block.properties and "\n" not in written:
        edit = as_block(subject, node, _EXPECTATION, in_brackets=True)
        if edit is not None:
            yield Fix(f"Write `{_EXPECTATION}: […]`", (edit,))


def _without_quotes(node: Node, block: Shape) -> Fix | None:
    """Return the fix of a mapping written as quoted JSON, as it is in JSON files."""
    if node.style not in {"single", "double"} or not node.value.startswith("{") or "\n" in node.value:
        return None
    try:
        read = json.loads(node.value)
    except ValueError:
        return None
    known = block.properties
    fits = not known or set(read) <= known.keys()
    return Fix("Write it without the quotes", (Edit(node.span, node.value),)) if fits else None


def _with_colon(node: Node, begun: re.Match[str], meant: str) -> Iterator[Fix]:
    """Yield the fix of a key that lacks its colon, if the lines below it may be its text."""
    below = begun.string[begun.end() :].strip()
    if below:
        sign = ": |" if "\n" in below else ":"
        place = Span(node.span.start, node.span.start + begun.end("key"))
        yield Fix(f"Write `{meant}{sign}`", (Edit(place, f"{meant}{sign}"),))


def _meant_key(word: str, block: Shape) -> str | None:
    """Return the key of a block that a word is, begins, or is a typo of; None if there is none."""
    known = block.properties
    begun = [key for key in known if word == key or (len(word) >= _BEGINNING and key.startswith(word))]
    return min(begun, key=len) if begun else slip_of(word, known)


def list_due(shape: Shape) -> str | None:
    """Return the key whose list of strings may replace a mapping: `expected: [a, b]`.

    It is the list of strings that an answer should contain, or the only list that there is.
    """
    properties = shape.branch("mapping").properties
    lists = [key for key, known in properties.items() if known.shape.wants_list]
    return _EXPECTATION if _EXPECTATION in lists else lists[0] if len(lists) == 1 else None


def only_list_of_texts(subject: Subject, node: Node, key: str) -> Edits:
    """Return the edits that put a list of strings below a key, in the mapping that should be there."""
    holder, text = subject.entry(node), subject.text
    if holder is None or node.kind != "sequence" or not node.items:
        return ()
    if any(item.kind != "scalar" for item in node.items) or node.green.anchor is not None:
        return ()
    if node.style == "flow":
        edit = as_block(subject, node, key)
        return () if edit is None or "\n" in text[node.span.start : node.span.end] else (edit,)
    column, outer = (column_of(text, at) for at in (node.span.start, holder.key.span.start))
    if column <= outer:
        return ()
    start = node.span.start - column
    return (Edit(Span(start, start), f"{' ' * min(column, outer + 2)}{key}:{line_break(text)}"),)


def without_sign(subject: Subject, node: Node) -> Iterator[Fix]:
    """Yield the fix that turns a block scalar into keys or items by deleting its indicator."""
    holder, text = subject.entry(node), subject.text
    colon = text.find(":", holder.key.span.end, node.span.start) + 1 if holder is not None else 0
    header = _HEADER.match(text, colon) if colon else None
    if header is not None and node.green.anchor is None and node.green.tag is None:
        yield Fix(f"Remove the `{header['sign']}`", (Edit(Span(colon, header.end()), ""),))


def only_text(shape: Shape) -> str | None:
    """Return the key of a block that requires one string and nothing else; None if a bare string is valid."""
    block = shape.branch("mapping")
    needed = ("name",) if is_metric(block) else block.required or block.at_least_one[:1]
    takes_text = shape.fits("scalar") and not (shape.types and shape.types <= _NO_TEXT)
    if takes_text or (len(needed) != 1):
        return None
    known = block.properties.get(needed[0])
    return needed[0] if known is not None and "string" in known.shape.types else None


def as_block(subject: Subject, node: Node, key: str, *, in_brackets: bool = False) -> Edit | None:
    """Return the edit that makes a string the value of the only key of a mapping, or of a list there.

    None if the key that holds it is followed by more than the string, such as an anchor.
    """
    text, written = subject.text, subject.text[node.span.start : node.span.end]
    if in_brackets:
        quoted = node.style in {"single", "double"}
        written = f"[{written if quoted else plain_or_quoted(node.value, flow=True)}]"
    if node.parent is not None and node.parent.style == "flow":
        return Edit(node.span, f"{{{key}: {written}}}")
    # Continuation lines of the text must be indented further than its new key.
    written = _WRITTEN_LINE.sub("\n  ", written)
    holder = subject.entry(node)
    colon = text.find(":", holder.key.span.end, node.span.start) + 1 if holder is not None else 0
    if holder is None or "\n" in text[colon : node.span.start] or "\r" in text[colon : node.span.start]:
        return Edit(node.span, f"{key}: {written}") if node.green.anchor is None else None
    if not colon or text[colon : node.span.start].strip():
        return None
    margin = " " * (column_of(text, holder.key.span.start) + 2)
    return Edit(Span(colon, node.span.end), f"{line_break(text)}{margin}{key}: {written}")


def as_list(subject: Subject, node: Node, shape: Shape) -> Edit | None:
    """Return the edit that makes a value on one line the only item of a list; None if impossible."""
    items = shape.branch("sequence").items
    holder = subject.entry(node)
    text = subject.text
    key = only_text(items) if items is not None and not items.fits("scalar") else ""
    written = text[node.span.start : node.span.end]
    if holder is None or "\n" in written or key is None:
        return None
    if holder.key.parent is not None and holder.key.parent.style == "flow":
        return Edit(node.span, f"[{{{key}: {written}}}]" if key else f"[{written}]")
    indent = " " * (column_of(text, holder.key.span.start) + 2)
    colon = text.find(":", holder.key.span.end, node.span.start) + 1
    item = f"{key}: {written}" if key else written
    return Edit(Span(colon, node.span.end), f"{line_break(text)}{indent}- {item}") if colon else None
