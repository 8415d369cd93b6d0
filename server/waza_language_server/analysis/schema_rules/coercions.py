"""Fixes for a value of the wrong type: a scalar for a list and back, a list for a mapping, quotes, numbers.

Each fix is a conversion of the form alone: every word of the value stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.spelling import typo_of
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.escapes import quoted, with_missing_quote
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.syntax.tried_edits import value_of
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_EXPECTATION = "output_contains"
"""The key of an expectation that is a single string, or a list of strings."""
_NO_TEXT = frozenset({"object", "array", "null"})
_KEY_BEFORE = compiled_later(r"(?![A-Z])[\w-]+:|[\w-]+[ ]*:?[ ]*[|>][-+]?(?:\s|$)")
_WRITTEN_LINE = compiled_later(r"\n(?=[^\r\n])")
_COMMAS = compiled_later(r"[^,]*[^,\s][^,]*(?:,[^,]*[^,\s][^,]*)+,?")
_PLACEHOLDER = compiled_later(r"<[^<>]*>|\{\{?[^{}]*\}?\}")
"""Placeholders of templates."""
_LEADING_ZERO = compiled_later(r"[-+]?0[0-9_]")
"""Numbers that some parsers read as octal, others as decimal."""
_MOST_ITEMS = 100
_SWITCHES = {
    **dict.fromkeys(("yes", "on", "y", "1"), "true"),
    **dict.fromkeys(("no", "off", "n", "0"), "false"),
}


def type_fixes(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    """Yield the fixes that convert a value to one of JSON Schema's expected types, the likeliest first."""
    yield from _regrouped(subject, node, shape, expected)
    if node.kind == "scalar" and len(node.span) and node.green.tag is None:
        # With a tag the same words mean something else.
        yield from _converted_scalar(subject, node, shape, expected)


def in_quotes(text: str, node: Node) -> Edit | None:
    """Return the edit that quotes a one-line mapping which is a string with `: ` in it."""
    written = text[node.span.start : node.span.end]
    if node.kind != "mapping" or node.style != "block" or "\n" in written or "\r" in written:
        return None
    return Edit(node.span, with_missing_quote(written) or quoted(written))


def template_in_quotes(text: str, node: Node) -> Edit | None:
    """Return the edit that quotes a one-line mapping without values, a template: `{{name}}`, `{name}`."""
    written = text[node.span.start : node.span.end]
    if node.kind != "mapping" or not node.entries or node.style != "flow" or "\n" in written:
        return None
    is_bare = not any(len(entry.value.span) for entry in node.entries)
    if not is_bare or _goes_on(text, node) or _is_marked(node):
        return None
    return Edit(node.span, quoted(written))


def only_text(shape: Shape) -> str | None:
    """Return the key of a block that requires one string and nothing else; None if a bare string is valid."""
    block = shape.branch("mapping")
    name = block.properties.get("name")
    is_metric = name is not None and name.shape.kind == "metric"
    needed = ("name",) if is_metric else block.required or block.at_least_one[:1]
    takes_text = shape.fits("scalar") and not (shape.types and shape.types <= _NO_TEXT)
    if takes_text or len(needed) != 1:
        return None
    known = block.properties.get(needed[0])
    return needed[0] if known is not None and "string" in known.shape.types else None


def as_block(subject: Subject, node: Node, key: str, *, in_brackets: bool = False) -> Edit | None:
    """Return the edit that makes a string the value of the only key of a mapping, or of a list there.

    None if the key that holds it is followed by more than the string, such as an anchor.
    """
    text, written = subject.text, subject.text[node.span.start : node.span.end]
    if in_brackets:
        is_quoted = node.style in {"single", "double"}
        written = f"[{written if is_quoted else plain_or_quoted(node.value, flow=True)}]"
    if node.parent is not None and node.parent.style == "flow":
        return Edit(node.span, f"{{{key}: {written}}}")
    # Continuation lines of the text must be indented further than its new key.
    written = _WRITTEN_LINE.sub("\n  ", written)
    holder = subject.entry(node)
    colon = _after_colon(subject, node)
    if holder is None or "\n" in text[colon : node.span.start] or "\r" in text[colon : node.span.start]:
        return Edit(node.span, f"{key}: {written}") if node.green.anchor is None else None
    if not colon or text[colon : node.span.start].strip():
        return None
    margin = " " * (column_of(text, holder.key.span.start) + 2)
    return Edit(Span(colon, node.span.end), f"{line_break(text)}{margin}{key}: {written}")


def as_list(subject: Subject, node: Node, shape: Shape) -> Edit | None:
    """Return the edit that makes a value on one line the only item of a list; None if impossible."""
    items = shape.branch("sequence").items
    key = only_text(items) if items is not None and not items.fits("scalar") else ""
    written = subject.text[node.span.start : node.span.end]
    if "\n" in written or key is None:
        return None
    return _listed(subject, node, (f"{key}: {written}" if key else written,), braces=bool(key))


# Lists and mappings.


def _regrouped(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    text = subject.text
    if "array" in expected and (dash := _dash_before(text, node)) is not None:
        yield Fix("Make it a list", (dash,), preferred=True)
    elif "object" in expected and (edits := _without_dashes(text, node)):
        known = shape.branch("mapping").properties
        are_known = all(key in known for item in node.items for key in item.key_names)
        # Any key may be intended, but several in an item may be the values of one of them.
        are_pairs = not known and all(len(item.key_names) == 1 for item in node.items)
        title = "Remove the dashes" if len(edits) > 1 else "Remove the dash"
        yield Fix(title, edits, preferred=are_known or are_pairs)
    elif "string" in expected and (edit := in_quotes(text, node)) is not None:
        # A word before the colon may be a key of another notation, and one at the end a key of the next line.
        first = node.entries[0]
        is_text = not first.key.value.isidentifier() and len(first.value.span) > 0
        yield Fix("Put it in quotes", (edit,), preferred=is_text)
    elif "string" in expected and (edit := template_in_quotes(text, node)) is not None:
        # Double braces are a template in many tools, and invalid in YAML.
        yield Fix("Put it in quotes", (edit,), preferred=text.startswith("{{", node.span.start))
    elif not {"array", "object"} & {*expected} and (edit := _out_of_list(subject, node)) is not None:
        yield Fix("Write the value without the list", (edit,), preferred=True)


def _dash_before(text: str, node: Node) -> Edit | None:
    """Return the edit that makes a block mapping the only item of a list; None if there is no space for it.

    The dash replaces two of the spaces before the first key, so no other line changes.
    """
    if node.kind != "mapping" or node.style != "block" or node.parent is None:
        return None
    names, start = node.key_names, node.span.start
    column = column_of(text, start)
    holder = node.holder
    outer = column_of(text, holder.key.span.start) if holder is not None else column
    # Each repetition of the first key begins another item.
    if names[:1] and names[0] in names[1:]:
        return None
    if column < outer + 2 or text[start - column : start].strip(" "):
        return None
    if text.startswith("-", start):
        # The dash exists, the space after it is missing.
        return Edit(Span(start + 1, start + 1), " ") if len(node.green.children) == 2 else None
    return Edit(Span(start - 2, start), "- ")


def _without_dashes(text: str, node: Node) -> Edits:
    """Return the edits that merge the items of a block list into one mapping; empty if they share a key.

    A file that is a list with one item is that item; several may be parts of one, or different things.
    """
    if node.kind != "sequence" or node.style != "block" or (node.parent is None and len(node.items) != 1):
        return ()
    names = [key for item in node.items for key in item.key_names]
    items = [item.span.start for item in node.items if item.kind == "mapping" and item.style == "block"]
    are_plain = all(text[start - 2 : start] == "- " for start in items)
    if len(items) < len(node.items) or not are_plain or len(set(names)) < len(names):
        return ()
    return tuple(Edit(Span(start - 2, start), "  ") for start in items)


def _out_of_list(subject: Subject, node: Node) -> Edit | None:
    """Return the edit that replaces a list with its only value; None if anything else would be lost.

    The brackets are a part of `[draft] Summary`.
    """
    text, item = subject.text, node.items[0] if node.kind == "sequence" and len(node.items) == 1 else None
    if item is None or item.kind != "scalar" or not len(item.span) or _is_marked(node) or _is_marked(item):
        return None
    before = text[node.span.start : item.span.start].strip()
    after = "".join(text[item.span.end : node.span.end].split())
    written = text[item.span.start : item.span.end]
    if (before, after) not in {("[", "]"), ("[", ",]"), ("-", "")} or "\n" in written or "\r" in written:
        return None
    if node.style == "flow":
        return None if _goes_on(text, node) else Edit(node.span, written)
    colon = _after_colon(subject, node)
    if not colon or text[colon : node.span.start].strip():
        return None
    return Edit(Span(colon, node.span.end), f" {written}")


def _goes_on(text: str, node: Node) -> bool:
    """Return whether unparsed text follows a value in a block on its line."""
    end = text.find("\n", node.span.end)
    after = text[node.span.end : end if end >= 0 else len(text)].strip()
    return node.parent is not None and node.parent.style != "flow" and after[:1] not in {"", "#"}


def _after_colon(subject: Subject, node: Node) -> int:
    """Return the offset after the colon of the key that holds a value; 0 without a colon."""
    holder = subject.entry(node)
    return subject.text.find(":", holder.key.span.end, node.span.start) + 1 if holder is not None else 0


def _is_marked(node: Node) -> bool:
    return node.green.anchor is not None or node.green.tag is not None


# Scalars.


def _converted_scalar(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    value = resolve_scalar(node.value)
    is_padded = _LEADING_ZERO.match(node.value) is not None
    if node.style != "plain" and _matches(value, expected) and not is_padded and "_" not in node.value:
        yield Fix("Remove the quotes", (Edit(node.span, node.value),), preferred=True)
    elif "boolean" in expected and (switch := _as_switch(node.value)) is not None:
        is_sure = node.value.strip().isalpha()
        yield Fix(f"Write `{switch}`", (Edit(node.span, switch),), preferred=is_sure)
    elif "integer" in expected and isinstance(value, float) and abs(value) < 1e15:
        yield Fix(f"Change to `{int(value)}`", (Edit(node.span, str(int(value))),))
    elif "array" in expected:
        yield from _as_items(subject, node, shape)
    elif "object" in expected:
        yield from _below_a_key(subject, node, shape)
    elif "boolean" in expected:
        for choice in ("true", "false"):
            yield Fix(f"Change to `{choice}`", (Edit(node.span, choice),))


def _as_switch(written: str) -> str | None:
    """Return the switch that a word means."""
    word = written.strip().lower()
    if word in _SWITCHES:
        return _SWITCHES[word]
    return typo_of(word, ("true", "false")) if word.isalpha() else None


def _matches(value: Any, expected: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in expected
    if isinstance(value, int):
        return "integer" in expected or "number" in expected
    return isinstance(value, float) and "number" in expected


def _as_items(subject: Subject, node: Node, shape: Shape) -> Iterator[Fix]:
    """Yield the ways to make a list of a string, the likeliest first; only certain for a single item."""
    items, single = shape.branch("sequence").items, as_list(subject, node, shape)
    parts = _parts(node.value) if items is not None and items.fits("scalar") else ()
    edit = _listed(subject, node, parts) if len(parts) > 1 else None
    if edit is not None:
        yield Fix(f"Make it a list of {len(parts)} items", (edit,))
    if single is not None:
        title = "Make it a list" if edit is None else "Make it a list of one item"
        # A placeholder is not a value.
        is_value = edit is None and _PLACEHOLDER.fullmatch(node.value) is None
        yield Fix(title, (single,), preferred=is_value)


def _parts(written: str) -> tuple[str, ...]:
    """Return the items, as YAML, that a text on one line lists: `a, b`, `["a", "b"]`."""
    value = written.strip()
    if "\n" in value:
        return ()
    if value.startswith("[") and value.endswith("]"):
        read = value_of(value)
        texts = [item for item in read if isinstance(item, str) and item] if isinstance(read, list) else []
        is_whole = isinstance(read, list) and len(texts) == len(read) <= _MOST_ITEMS
        return tuple(map(plain_or_quoted, texts)) if is_whole else ()
    if _COMMAS.fullmatch(value) is None:
        return ()
    return tuple(plain_or_quoted(part.strip()) for part in value.rstrip(",").split(",")[:_MOST_ITEMS])


def _listed(subject: Subject, node: Node, items: Sequence[str], *, braces: bool = False) -> Edit | None:
    """Return the edit that writes items in place of a value, with brackets inside a flow collection."""
    holder, text = subject.entry(node), subject.text
    if holder is None or _is_marked(node):
        return None
    if holder.key.parent is not None and holder.key.parent.style == "flow":
        inner = ", ".join(f"{{{item}}}" if braces else item for item in items)
        return Edit(node.span, f"[{inner}]")
    colon = _after_colon(subject, node)
    if not colon or text[colon : node.span.start].strip():
        return None
    margin = line_break(text) + " " * (column_of(text, holder.key.span.start) + 2)
    return Edit(Span(colon, node.span.end), "".join(f"{margin}- {item}" for item in items))


def _below_a_key(subject: Subject, node: Node, shape: Shape) -> Iterator[Fix]:
    """Yield the fix that makes a string the value of the key that is due."""
    block, written = shape.branch("mapping"), subject.text[node.span.start : node.span.end]
    key = only_text(shape)
    if key is not None and (edit := as_block(subject, node, key)) is not None:
        # Text that looks like a key is probably not a plain string.
        is_text = node.style not in {"literal", "folded"} and _KEY_BEFORE.match(node.value) is None
        yield Fix(f"Write `{key}: …`", (edit,), preferred=is_text)
    elif key is None and _EXPECTATION in block.properties and "\n" not in written:
        edit = as_block(subject, node, _EXPECTATION, in_brackets=True)
        if edit is not None:
            yield Fix(f"Write `{_EXPECTATION}: […]`", (edit,))
