"""Keys that became a part of a block scalar, or of a block with free keys; switches without a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_LINE = compiled_later(r"(?<=\n)(?=[ ]*[^\s])")
_KEY = compiled_later(r"[ ]*(?P<key>[a-z_]+):[ ]+(?P<value>\S+)[ \t]*\Z")
_PAIR = compiled_later(r"[ \t]*(?:-[ ]+)?[\w\"'. -]{1,40}:(?:[ \t]|\Z)")
_BARE_KEY = compiled_later(r"^[ ]*(?P<key>[a-z_]+):[ \t]*$", re.MULTILINE)
_FIRST_BELOW = compiled_later(r"[ ]*(?P<dash>-[ ]+)?(?:(?P<key>[a-z_]+):(?:[ ]|\Z))?")
_BLOCKS = frozenset({"literal", "folded"})


def may_have_swallowed(node: Node) -> bool:
    """Return whether ``swallowed_key`` may report something about a block scalar. Cheaper than calling it."""
    green = node.green
    if green.style not in _BLOCKS:
        return False
    last = green.value.rstrip().rpartition("\n")[2]
    return _KEY.match(last) is not None or _BARE_KEY.search(green.value) is not None


def swallowed_key(subject: Subject, node: Node) -> Iterator[Problem]:
    """Yield the last line of a block scalar that is a key which a mapping around it knows and lacks.

    If several lines look like keys, they belong to the text.
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


def swallowed_block(subject: Subject, node: Node) -> Iterator[Problem]:
    """Yield the key and the lines below it, at the end of a block scalar, that are a block of the file.

    None if other lines above look like keys, or if its end is not such a block.
    """
    text, mapping, holder = subject.text, node.parent, subject.entry(node)
    if mapping is None or holder is None or mapping.style != "block":
        return
    behind = node.span.start + len(text[node.span.start : node.span.end].rstrip())
    first = text.find("\n", node.span.start, behind) + 1
    match = _BARE_KEY.search(text, first, behind) if first else None
    if match is None or not text[first : match.start()].strip():
        return
    if any(_PAIR.match(row) for row in text[first : match.start()].splitlines()):
        return
    owner = _owner(subject, mapping, match["key"], None)
    shape = subject.shape_at(owner) if owner is not None else None
    rows = text[match.end() + 1 : behind].splitlines()
    column = match.start("key") - match.start()
    if owner is None or shape is None or not rows or not _is_block(shape, match["key"], rows, column):
        return
    far = column - column_of(text, next(owner.each_entry()).key.span.start)
    if far <= 0:
        return
    edits = _moved_left(text, Span(match.start(), behind), far)
    message = (
        f"From here on this is a part of the text of `{holder.key.value}`, so `{match['key']}` is not set; "
        f"move it to the left by {far} columns."
    )
    place = Span(match.start("key"), match.end("key"))
    # A prompt may contain such a block on purpose.
    yield Problem("yaml-indentation", place, message, "information", (Fix("Align the lines", edits),))


def block_among_free_keys(subject: Subject, mapping: Node) -> Iterator[Problem]:
    """Yield the last key of a block with free keys that a mapping around it knows and lacks."""
    entry, above = mapping.last_entry, mapping.parent
    if entry is None or mapping.style != "block" or above is None or entry.value.kind == "scalar":
        return
    key, text = entry.key.value, subject.text
    owner = _owner(subject, above, key, None)
    shape = subject.shape_at(owner) if owner is not None else None
    if owner is None or shape is None or entry.value.style != "block":
        return
    held = entry.value.items if entry.value.kind == "sequence" else (entry.value,)
    known = _keys_of_block(shape, key, listed=entry.value.kind == "sequence")
    if not known or not all(item.kind == "mapping" and known.issuperset(item.key_names) for item in held):
        return
    far = column_of(text, entry.key.span.start) - column_of(text, next(owner.each_entry()).key.span.start)
    start = entry.key.span.start - column_of(text, entry.key.span.start)
    end = max(entry.value.span.end, entry.key.span.end)
    edits = _moved_left(text, Span(start, end), far)
    message = (
        f"`{key}` is one of the free keys of `{mapping.step}` here, and not set where it belongs; "
        f"move it to the left by {far} columns."
    )
    yield Problem("misplaced-key", entry.key.span, message, "information", (Fix("Align the lines", edits),))


def _moved_left(text: str, block: Span, far: int) -> Edits:
    """Return the edits that move the lines of a block to the left, as far as they are indented."""
    starts = [block.start, *(at.start() for at in _LINE.finditer(text, block.start + 1, block.end))]
    return tuple(Edit(Span(at, at + far), "") for at in starts if text[at : at + far] == " " * far)


def _is_block(shape: Shape, key: str, rows: list[str], column: int) -> bool:
    """Return whether the lines below a key are valid for it: items, or keys that it knows."""
    written = [row for row in rows if row.strip()]
    if not written or any(len(row) - len(row.lstrip(" ")) <= column for row in written):
        return False
    first = _FIRST_BELOW.match(written[0])
    if first is None:
        return False
    known = _keys_of_block(shape, key, listed=first["dash"] is not None)
    if first["key"] is not None:
        return first["key"] in known
    return first["dash"] is not None and shape.properties[key].shape.wants_list and not known


def _keys_of_block(shape: Shape, key: str, *, listed: bool) -> frozenset[str]:
    """Return the keys of the block of a key, or of the items of its list."""
    known = shape.properties[key].shape
    items = known.branch("sequence").items if listed else known
    if items is None:
        return frozenset()
    if items.kind == "grader":
        return frozenset({"type", "name", "config", "weight", "required", "ref"})
    return frozenset(items.branch("mapping").properties)


def _owner(subject: Subject, mapping: Node, key: str, written: str | None) -> Node | None:
    """Return the nearest mapping around a text that knows, and lacks, a key with such a value."""
    owner: Node | None = mapping
    while owner is not None and owner.kind == "mapping" and owner.style == "block":
        shape = subject.shape_at(owner)
        known = shape.properties.get(key) if shape is not None else None
        if known is not None:
            fits = written is None or _is_value(known.shape, written)
            return owner if owner.entry(key) is None and fits else None
        owner = owner.parent
    return None


def _is_value(shape: Shape, written: str) -> bool:
    """Return whether a word is valid for a key that takes only a switch, a number or one of a few words."""
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
    """Return whether an optional switch has no value."""
    is_bare = node.kind == "scalar" and node.style == "plain" and not len(node.span)
    is_alone = node.green.tag is None and node.green.anchor is None
    return is_bare and is_alone and shape.kind == "switch" and isinstance(node.step, str) and shape.nullable


def switch_without_value(subject: Subject, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a switch with a key and no value, which has no effect."""
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
