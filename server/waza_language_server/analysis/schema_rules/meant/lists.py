"""Strings and mappings that should be lists: `a, b`, `["a", "b"]`, `-a`, `1. a`, `{a, b}`, lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.analysis.schema_rules.meant.wrapped_values import as_list, without_sign
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tried_edits import value_of
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span

_NUMBERED = compiled_later(r"(?:\d+[.)]|[+~_])[ ]+(?=\S)")
"""Markers of list items in other notations, instead of a dash."""
_GLUED_DASH = compiled_later(r"-(?=[^\s-])")
_COMMAS = compiled_later(r"[^,]*[^,\s][^,]*(?:,[^,]*[^,\s][^,]*)+,?")
_OTHER_SIGNS = compiled_later(r"[ ]+\|[ ]+|[ ]*(?:->|→)[ ]*|;[ ]+")
"""Other separators between strings."""
_ROW = compiled_later(r"[^\s][^\r\n]*(?<=\S)")
_PAIR = compiled_later(r"(?P<key>[A-Za-z_]\w*)=(?P<value>[^\r\n]*)")
_PLACEHOLDER = compiled_later(r"<[^<>]*>|\{\{?[^{}]*\}?\}")
"""Placeholders of templates."""
_MOST_ITEMS = 100


def lists_of_text(subject: Subject, node: Node, shape: Shape) -> Iterator[Fix]:
    """Yield the ways to make a list of a string, the likeliest first; only certain for a single item."""
    items = shape.branch("sequence").items
    if node.style in {"literal", "folded"} and isinstance(value_of(node.value), list):
        yield from without_sign(subject, node)
        return
    if (first := _above_items(subject.text, node)) is not None:
        yield Fix("Make it the first item", (first,))
        return
    if items is not None and items.fits("scalar"):
        if node.style in {"literal", "folded"}:
            yield from _of_lines(subject, node)
            return
        if rows := _rows_as_items(subject, node):
            yield Fix("Make an item of each line", rows)
        parts = _parts(subject.text[node.span.start : node.span.end], node)
        if not parts and items.branch("scalar").kind == "tool.name":
            # Tool names contain no spaces.
            parts = tuple(node.value.split()) if len(node.value.split()) > 1 else ()
        edit = _listed(subject, node, parts) if parts else None
        if edit is not None:
            is_single = as_list(subject, node, shape)
            yield Fix(
                "Make it a list" if len(parts) == 1 else f"Make it a list of {len(parts)} items", (edit,)
            )
            if is_single is not None and len(parts) > 1:
                yield Fix("Make it a list of one item", (is_single,))
            return
    single = as_list(subject, node, shape)
    if single is not None:
        # A placeholder is not a value.
        is_value = _PLACEHOLDER.fullmatch(node.value) is None
        yield Fix("Make it a list", (single,), preferred=is_value)


def _above_items(text: str, node: Node) -> Edit | None:
    """Return the edit that makes a text after its key an item; YAML joins the items below to the text."""
    if node.style != "plain":
        return None
    _, *rows = text[node.span.start : node.span.end].split("\n")
    indents = {row[: len(row) - len(row.lstrip(" "))] for row in rows}
    if len(indents) != 1 or not all(row.lstrip(" ").startswith("- ") for row in rows):
        return None
    blanks = len(text[: node.span.start]) - len(text[: node.span.start].rstrip(" "))
    if text[node.span.start - blanks - 1 : node.span.start - blanks] != ":":
        return None
    dash = f"{line_break(text)}{indents.pop()}- "
    return Edit(Span(node.span.start - blanks, node.span.start), dash)


def list_of_keys(subject: Subject, node: Node) -> Edits:
    """Return the edits that make a list of a mapping without values, or of one with numbers for keys."""
    if node.kind != "mapping" or not node.entries or node.green.anchor is not None:
        return ()
    numbered = all(
        re.fullmatch(r"\d{1,3}", each.key.value) and each.value.kind == "scalar" and len(each.value.span)
        for each in node.entries
    )
    bare = all(not len(each.value.span) and each.value.green.tag is None for each in node.entries)
    if not (numbered or bare) or any(each.key.value == MERGE_KEY for each in node.entries):
        return ()
    edits: list[Edit] = []
    dash = "" if node.style == "flow" else "- "
    for entry in node.entries:
        key = entry.key.span
        if numbered:
            edits.append(Edit(Span(key.start, entry.value.span.start), dash))
            continue
        colon = subject.text.find(":", key.end, key.end + 1)
        edits.append(Edit(Span(key.start, key.start), dash))
        if colon >= 0:
            edits.append(Edit(Span(colon, colon + 1), ""))
        elif node.style != "flow":
            return ()
    if node.style == "flow":
        first, last = node.span.start, node.span.end - 1
        edits += Edit(Span(first, first + 1), "["), Edit(Span(last, last + 1), "]")
    return tuple(edit for edit in edits if edit.text or edit.span)


def pairs_of_list(text: str, node: Node, shape: Shape) -> Edits:
    """Return the edits that convert a list as `- DEBUG=1` to keys with values; empty for other lists.

    Other tools list environment variables this way.
    """
    items = node.items if node.kind == "sequence" and not shape.branch("mapping").properties else ()
    pairs = [_PAIR.fullmatch(item.value) if item.kind == "scalar" else None for item in items]
    names = [pair["key"] for pair in pairs if pair is not None]
    if not items or len(set(names)) < len(items) or node.green.anchor is not None:
        return ()
    edits: list[Edit] = []
    in_brackets = node.style == "flow"
    for item, pair in zip(items, pairs, strict=True):
        dash = item.span.start if in_brackets else text.rfind("-", 0, item.span.start)
        if pair is None or item.green.anchor is not None or text[dash + 1 : item.span.start].strip(" "):
            return ()
        value = plain_or_quoted(pair["value"], flow=in_brackets)
        edits.append(Edit(Span(dash, item.span.end), f"{pair['key']}: {value}"))
    if in_brackets:
        first, last = node.span.start, node.span.end - 1
        edits = [Edit(Span(first, first + 1), "{"), *edits, Edit(Span(last, last + 1), "}")]
    return tuple(edits)


def out_of_lists(text: str, node: Node) -> Edits:
    """Return the edits that unwrap a nested list: `- - a`, `[[a, b]]`; empty for anything else."""
    around = node.parent
    if around is None or around.kind != "sequence" or node.kind != "sequence" or not node.items:
        return ()
    if node.green.anchor is not None or node.green.tag is not None:
        return ()
    if node.style == "flow":
        inner = text[node.span.start + 1 : node.span.end - 1].strip()
        in_brackets = around.style == "flow"
        if not in_brackets or any(sign in inner for sign in "\r\n#"):
            return ()
        return (Edit(node.span, inner.rstrip(", ")),)
    first = node.items[0].span.start
    if len(node.items) > 1 or text[node.span.start : first].strip() != "-":
        return ()
    return (Edit(Span(node.span.start, first), ""),)


def _parts(written: str, node: Node) -> tuple[str, ...]:
    """Return the items, as YAML, that a text on one line lists; empty if it is a single text."""
    if any(sign in written for sign in "\r\n"):
        return ()
    value = node.value.strip()
    if value.startswith("[") and value.endswith("]"):
        return _items(value)
    if value.startswith("(") and value.endswith(")"):
        return _items(f"[{value[1:-1]}]")
    if value.endswith("]") and "[" not in value:
        return _items(f"[{value}")
    if node.style == "plain":
        sign = _NUMBERED.match(written) or _GLUED_DASH.match(written)
        if sign is not None:
            rest = written[sign.end() :]
            read = value_of(f"[{rest}]")
            return (rest,) if isinstance(read, list) and len(read) == 1 else ()
    if _OTHER_SIGNS.search(value) is not None and "," not in value:
        parts = [part.strip() for part in _OTHER_SIGNS.split(value)]
        return tuple(map(plain_or_quoted, parts[:_MOST_ITEMS])) if all(parts) else ()
    if _COMMAS.fullmatch(value) is not None:
        parts = [part.strip() for part in value.rstrip(",").split(",")]
        return tuple(plain_or_quoted(part) for part in parts[:_MOST_ITEMS])
    return ()


def _items(written: str) -> tuple[str, ...]:
    read = value_of(written)
    if not isinstance(read, list) or not read or len(read) > _MOST_ITEMS:
        return ()
    texts = [item for item in read if isinstance(item, str) and item]
    return tuple(map(plain_or_quoted, texts)) if len(texts) == len(read) else ()


def _of_lines(subject: Subject, node: Node) -> Iterator[Fix]:
    rows = [row for row in node.value.splitlines() if row.strip()]
    if not rows or len(rows) > _MOST_ITEMS:
        return
    if all(row == row.strip() for row in rows):
        edit = _listed(subject, node, tuple(map(plain_or_quoted, rows)), ends_line=True)
        if edit is not None:
            yield Fix("Make an item of each line", (edit,))


def _rows_as_items(subject: Subject, node: Node) -> Edits:
    """Return the edits that make each line of an unquoted text below its key an item."""
    text, start, holder = subject.text, node.span.start, subject.entry(node)
    written = text[start : node.span.end]
    if node.style != "plain" or node.green.anchor is not None or "\n" not in written or holder is None:
        return ()
    if text[line_start_of(text, start) : start].strip():
        return ()
    rows = list(_ROW.finditer(text, start, node.span.end))
    if len(rows) > _MOST_ITEMS or len({column_of(text, row.start()) for row in rows}) > 1:
        return ()
    signs = [_NUMBERED.match(row[0]) for row in rows]
    # The number before each line is not a part of it, nor is the dash of some lines.
    lines = [
        row[0][sign.end() :] if sign and all(signs) else row[0].removeprefix("- ").lstrip(" ")
        for row, sign in zip(rows, signs, strict=True)
    ]
    items = [line if value_of(line) == line else plain_or_quoted(line) for line in lines]
    return tuple(
        Edit(Span(row.start(), row.end()), f"- {item}") for row, item in zip(rows, items, strict=True)
    )


def _listed(subject: Subject, node: Node, items: Sequence[str], *, ends_line: bool = False) -> Edit | None:
    """Return the edit that writes items in place of a value, with brackets inside a flow collection."""
    holder, text = subject.entry(node), subject.text
    if holder is None or node.green.anchor is not None or node.green.tag is not None:
        return None
    if holder.key.parent is not None and holder.key.parent.style == "flow":
        return Edit(node.span, f"[{', '.join(items)}]")
    colon = text.find(":", holder.key.span.end, node.span.start) + 1
    if not colon or text[colon : node.span.start].strip():
        return None
    margin = line_break(text) + " " * (column_of(text, holder.key.span.start) + 2)
    ending = line_break(text) if ends_line and text[node.span.start : node.span.end].endswith("\n") else ""
    return Edit(Span(colon, node.span.end), "".join(f"{margin}- {item}" for item in items) + ending)
