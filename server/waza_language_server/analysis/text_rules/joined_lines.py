"""One line that holds two: `parallel: false executor: mock`, `inputs: prompt: Go`, `graders: - type: text`.

YAML reads the second key, or the dash, as a part of the first value. The known keys show where the line was
intended to end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_at
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_ENTRY = compiled_later(r"(?P<lead> *(?:- +)*)(?P<key>[A-Za-z_][\w-]*):[ \t]+(?=\S)")
_KEY = compiled_later(r"(?P<key>[A-Za-z_][\w-]*):(?=[ \t]|$)")
_KEY_INSIDE = compiled_later(r"(?:(?<=\w)[,;]|(?<=[^\s,;]))[ \t]+(?P<key>[A-Za-z_][\w-]*):(?=[ \t]|$)")
_BLOCK = compiled_later(r"[ \t]*(?:$|[\[{])")
_LEAD = compiled_later(r"(?P<blanks> *)(?:- +)*(?=[^\s#])")
_DASH = compiled_later(r"- +(?=\S)")
_INDENT = compiled_later(r"[\r\n]+ *")
_LOOKED_AT = 40
"""The most lines above a fault to search for its cause."""


@frozen()
class JoinedLine:
    """A missing line break before the key or the dash at ``place``; ``edit`` writes it.

    ``holder`` is the key before it. ``below`` means that the second belongs into the value of the first.
    """

    place: Span
    holder: str
    edit: Edit
    below: bool
    outside: bool = False
    """True if the second belongs into a block around the one that holds the first."""

    @property
    def moved_to(self) -> tuple[int, ...]:
        """Return the offsets of the keys, or of the dash, after the edit."""
        start = self.edit.span.start
        return tuple(start + match.end() for match in _INDENT.finditer(self.edit.text))


def joined_lines(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[JoinedLine]:
    """Yield the places where another line may begin: at a fault, and in the lines above that contain it."""
    for line in _around(text, lines, fault):
        yield from _in_line(text, lines, line)


def joined_with_outer(
    text: str, lines: LineIndex, fault: SyntaxFault, keys: Collection[str]
) -> Iterator[JoinedLine]:
    """Yield those where one of some keys may begin a block further out: `prompt: Go expected:`."""
    line_break = "\r\n" if "\r\n" in text else "\n"
    for number in _around(text, lines, fault):
        line = lines.line_span(number)
        written = text[line.start : line.end].rstrip()
        entry = _ENTRY.match(written)
        for other in _KEY_INSIDE.finditer(written, entry.end()) if entry is not None else ():
            if entry is None or other["key"] not in keys or _BLOCK.match(written, other.end()) is None:
                continue
            place = Span(line.start + other.start("key"), line.start + other.end("key"))
            cut = Span(line.start + other.start(), place.start)
            for column in _columns_around(text, lines, number, len(entry["lead"])):
                edit = Edit(cut, f"{line_break}{' ' * column}")
                yield JoinedLine(place, entry["key"], edit, below=False, outside=True)


def _around(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[int]:
    """Yield the line of a fault, and those above that contain it."""
    number = lines.line_of(fault.span.start)
    margin: int | None = None
    for line in range(number, max(-1, number - _LOOKED_AT), -1):
        span = lines.line_span(line)
        written = text[span.start : span.end].rstrip()
        column = len(written) - len(written.lstrip(" "))
        if not written.strip() or (margin is not None and column >= margin):
            continue
        margin = column
        yield line
        if not column:
            return


def _columns_around(text: str, lines: LineIndex, number: int, column: int) -> Iterator[int]:
    """Yield the columns of the keys of the blocks around that of a line, the innermost first."""
    margin = column
    for line in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        span = lines.line_span(line)
        lead = _LEAD.match(text[span.start : span.end])
        if lead is None or len(lead["blanks"]) >= margin:
            continue
        margin = len(lead["blanks"])
        if lead.end() < column:
            column = lead.end()
            yield column


def _in_line(text: str, lines: LineIndex, number: int) -> Iterator[JoinedLine]:
    line = lines.line_span(number)
    written = text[line.start : line.end].rstrip()
    entry = _ENTRY.match(written)
    if entry is None:
        return
    column = len(entry["lead"])
    line_break = "\r\n" if "\r\n" in text else "\n"
    blanks = len(entry[0]) - len(entry[0].rstrip())
    second = _DASH.match(written, entry.end()) or _KEY.match(written, entry.end())
    if second is not None:
        is_dash = written.startswith("-", entry.end())
        inner = _column_below(text, lines, number, column, is_dash=is_dash)
        cut = Span(line.start + entry.end() - blanks, line.start + entry.end())
        end = second.end("key") if not is_dash else second.start() + 1
        place = Span(line.start + second.start(), line.start + end)
        yield JoinedLine(place, entry["key"], Edit(cut, f"{line_break}{' ' * inner}"), below=True)
    others = list(_KEY_INSIDE.finditer(written, entry.end()))
    groups = [[other] for other in others]
    for group in [*groups, others] if len(others) > 1 else groups:
        broken = f"{line_break}{' ' * column}"
        for one, following in pairwise(group):
            broken += f"{written[one.start('key') : following.start()]}{line_break}{' ' * column}"
        cut = Span(line.start + group[0].start(), line.start + group[-1].start("key"))
        place = Span(line.start + group[0].start("key"), line.start + group[0].end("key"))
        yield JoinedLine(place, entry["key"], Edit(cut, broken), below=False)


def is_line_of_its_own(joined: JoinedLine, repaired: Tree, kind: SchemaName, catalog: Catalog) -> bool:
    """Return whether the keys, or the list, are known where the edit has put them.

    ``repaired`` is the tree after the edit.
    """
    return all(_is_known(joined, offset, repaired, kind, catalog) for offset in joined.moved_to)


def _is_known(joined: JoinedLine, offset: int, repaired: Tree, kind: SchemaName, catalog: Catalog) -> bool:
    root = repaired.root
    node = root.at(offset) if root is not None else None
    if node is None:
        return False
    if repaired.text.startswith("-", offset):
        while node is not None and node.kind != "sequence":
            node = node.parent
        shape = shape_at(kind, node.path, root, catalog) if node is not None else None
        return shape is not None and shape.wants_list
    mapping = node.parent
    shape = shape_at(kind, mapping.path, root, catalog) if mapping is not None else None
    if mapping is None or shape is None or node.step is not None or node.value not in shape.properties:
        return False
    value, known = mapping.get(node.value), shape.properties[node.value].shape
    has_block = value is not None and value.kind != "scalar" and known.fits(value.kind)
    holds_blocks = bool(known.types) and known.types <= {"array", "object", "null"}
    if not has_block and (joined.outside or (not joined.below and holds_blocks)):
        # The lines below may belong to a key further out.
        return False
    return joined.outside or joined.below or not _is_prose(mapping, joined.holder, node.value, shape)


def _is_prose(mapping: Node, holder: str, key: str, shape: Shape) -> bool:
    """Return whether the text of a key may contain a word and a colon, as in `Compare these files: …`."""
    value, following = mapping.get(holder), mapping.get(key)
    written = shape.properties.get(holder)
    if value is None or written is None or value.kind != "scalar" or value.style != "plain":
        return False
    text = written.shape
    if "string" not in text.types or text.enum or text.kind == "switch":
        return False
    if text.kind == "prompt.text":
        return True
    if following is not None and following.style in {"block", "literal", "folded"}:
        return False
    return " " in value.value


def _column_below(text: str, lines: LineIndex, number: int, column: int, *, is_dash: bool) -> int:
    """Return the column at which the text after the key of a line continues below it."""
    for line in range(number + 1, lines.line_count):
        span = lines.line_span(line)
        written = text[span.start : span.end].rstrip()
        if not written.strip() or written.lstrip().startswith("#"):
            continue
        below = len(written) - len(written.lstrip(" "))
        if below < column + (not is_dash):
            break
        if not is_dash:
            is_sibling = _KEY.match(written, below) is not None and not _opens_block(text, lines, number)
            return below if is_sibling else column + 2
        return below if written.startswith("-", below) else max(below - 2, column)
    return column + 2


def _opens_block(text: str, lines: LineIndex, number: int) -> bool:
    span = lines.line_span(number)
    return re.search(r":[ \t]+[|>][-+0-9]*\s*$", text[span.start : span.end].rstrip()) is not None
