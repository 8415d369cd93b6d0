"""Items of a list without the dash that begins them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MISSING_DASH, sentence
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, as_one
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_at, shape_of
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.repair import ITEM_AMONG_KEYS
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

NO_DASH = sentence(MISSING_DASH)
_BARE_KEY = compiled_later(r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*):[ \t]*(?:#.*)?\Z")
_LOOKED_AT = 40
_MOST_ROWS = 100
_DASH_AND_ODD_BLANK = compiled_later(r"(?P<dash>-)[^\S \t\r\n]\s*")
_DASH_AND_KEY = compiled_later(r"-[ ]+(?P<key>[A-Za-z_]\w*):(?:[ \t]|$)", re.MULTILINE)
_KEY = compiled_later(r"[A-Za-z_][\w-]*:(?=\s|$)")
_KEY_AND_VALUE = compiled_later(r"(?P<lead>[ ]*)(?P<key>[A-Za-z_][\w-]*):[ \t]+[^\s#]")
_KEY_OR_ITEM = compiled_later(r"[A-Za-z_][\w-]*:(?:\s|$)|- ")


def missing_dash(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the missing dash of a single item, at the fault."""
    odd = _DASH_AND_ODD_BLANK.match(text, fault.span.start)
    if odd is not None:
        edit = Edit(Span(odd.end("dash"), odd.end()), " ")
        message = "The blank after this dash is none that YAML knows; write a plain one."
        fix = Fix("Write `- `", (edit,), preferred=True)
        yield Slip(Problem("yaml-syntax", Span(odd.start(), odd.end()), message, "error", (fix,)), edit)
        return
    line = lines.line_span(lines.line_of(fault.span.start))
    indent = fault.span.start - line.start
    before = text[line.start : fault.span.start]
    if not before.strip(" ") and not _KEY_OR_ITEM.match(text, fault.span.start):
        # A string at the column of the dashes; a key there may be one of the item above.
        edit = Edit(Span(fault.span.start, fault.span.start), "- ")
        fix = Fix("Insert the dash", (edit,))
        yield Slip(Problem("yaml-syntax", fault.span, NO_DASH, "error", (fix,)), edit)
    if indent >= 2 and not text[line.start : fault.span.start].strip(" "):
        edit = Edit(Span(fault.span.start - 2, fault.span.start), "- ")
        fix = Fix("Insert the dash", (edit,))
        yield Slip(Problem("yaml-syntax", fault.span, NO_DASH, "error", (fix,)), edit)


def dash_of_first_key(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the missing dash of a key above lines that are indented further than it.

    The key already has a value, so they are the other keys of its item: `type: text` above ` name: a`.
    """
    number = lines.line_of(fault.span.start)
    below = column_of(text, fault.span.start)
    if fault.code != "yaml-indentation":
        return
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        key = _KEY_AND_VALUE.match(text, line.start, line.end)
        if key is None or len(key["lead"]) >= below:
            continue
        if len(key["lead"]) == below - len("- "):
            at = key.start("key")
            edit = Edit(Span(at, at), "- ")
            fix = Fix("Insert the dash", (edit,))
            place = Span(at, key.end("key"))
            problem = Problem("yaml-syntax", place, NO_DASH, "error", (fix,))
            yield Slip(problem, edit, known_at=edit.span.start + len("- "), cures=Span(0, len(text)))
        return


def first_item_without_dash(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the missing dash of a list's first item, whose keys are at the column of the other items."""
    number = lines.line_of(fault.span.start)
    item = lines.line_span(number)
    column = fault.span.start - item.start
    if fault.message != ITEM_AMONG_KEYS or text[item.start : fault.span.start].strip(" "):
        return
    first = number
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        written = text[line.start : line.end].rstrip()
        if not written:
            continue
        if len(written) - len(written.lstrip(" ")) < column or _BARE_KEY.match(written):
            break
        first = above
    holder = lines.line_span(max(first - 1, 0))
    start = lines.line_span(first).start
    key = _KEY.match(text, start + column)
    if first == number or _BARE_KEY.match(text[holder.start : holder.end].rstrip()) is None or key is None:
        return
    starts = _starts(text, lines, first, number - 1)
    edits = [Edit(Span(at, at), "- " if at == start + column else "  ") for at in starts]
    place = Span(key.start(), key.end() - 1)
    problem = Problem("yaml-syntax", place, NO_DASH, "error", (Fix("Insert the dash", tuple(edits)),))
    yield Slip(problem, as_one(text, edits), known_at=start + column + len("- "), cures=Span(0, len(text)))


def key_at_dashes(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield a key at the dashes that belongs to the item above, alone, with its block, and with all below."""
    number = lines.line_of(fault.span.start)
    line = lines.line_span(number)
    column = fault.span.start - line.start
    if fault.message != NO_DASH or text[line.start : fault.span.start].strip(" "):
        return
    if not _KEY.match(text, fault.span.start, line.end):
        return
    last = _last_further_right(text, lines, number, column)
    rest = last
    while rest + 1 < lines.line_count and rest - number < _MOST_ROWS:
        at = lines.line_span(rest + 1).start + column
        is_key = not text[at - column : at].strip(" ") and _KEY.match(text, at) is not None
        if not is_key:
            break
        rest = _last_further_right(text, lines, rest + 1, column)
    below = next((column_of(text, at) for at in _starts(text, lines, number + 1, last)), 0)
    # Lines at the new column already, or to the left of it, belong to the key and move with it.
    ends = (number, last, rest) if below > column + 2 else (last, number, rest)
    for end in dict.fromkeys(ends):
        rows = (lines.line_span(each) for each in range(number, end + 1))
        starts = [row.start for row in rows if text[row.start : row.end].strip()]
        edits = tuple(Edit(Span(at, at), "  ") for at in starts)
        place = Span(fault.span.start, fault.span.start + len(text[fault.span.start : line.end].rstrip()))
        message = f"This key belongs to the item above, so indent it by {column + 2} spaces."
        title = "Align the line" if len(edits) == 1 else "Align the lines"
        problem = Problem("yaml-indentation", place, message, "error", (Fix(title, edits),))
        yield Slip(problem, as_one(text, edits), known_at=fault.span.start + 2, cures=Span(0, len(text)))


def _last_further_right(text: str, lines: LineIndex, number: int, column: int) -> int:
    """Return the last line below one that is, with all between them, to the right of a column."""
    last = number
    while last + 1 < lines.line_count and last - number < _MOST_ROWS:
        below = lines.line_span(last + 1)
        written = text[below.start : below.end]
        if written.strip() and len(written) - len(written.lstrip(" ")) <= column:
            break
        last += 1
    return last


def _starts(text: str, lines: LineIndex, first: int, last: int) -> Iterator[int]:
    """Yield the offsets of lines that are not empty, after their indentation."""
    for number in range(first, last + 1):
        line = lines.line_span(number)
        written = text[line.start : line.end]
        if written.strip() and not written.lstrip().startswith("#"):
            yield line.start + len(written) - len(written.lstrip(" "))


def stray_dash(text: str, lines: LineIndex, fault: SyntaxFault, known: Container[str]) -> Iterator[Slip]:
    """Yield the dash of one of the ``known`` keys that is the only dash among keys, at a fault or below it.

    The key moves to the column of those around it, or to that of the dash.
    """
    if fault.fixes:
        # A character of the line itself is wrong.
        return
    number = lines.line_of(fault.span.start)
    for below in range(number, min(lines.line_count, number + _LOOKED_AT)):
        line = lines.line_span(below)
        start = next(_starts(text, lines, below, below), line.end)
        item = _DASH_AND_KEY.match(text, start)
        if item is None or item.start() >= line.end or item["key"] not in known:
            continue
        key, column = item.start("key"), start - line.start
        around = next(_starts(text, lines, max(below - 1, 0), max(below - 1, 0)), start)
        for margin in dict.fromkeys((column_of(text, around), column)):
            edit = Edit(Span(line.start, key), " " * margin)
            message = f"`{item['key']}` is a key among others here, not an item of a list; delete the dash."
            fix = Fix("Delete the dash", (edit,))
            problem = Problem("yaml-syntax", Span(start, start + 1), message, "error", (fix,))
            yield Slip(problem, edit, cures=Span(0, len(text)))
        return


def needless_dash(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the dash of the only item above a key, which turns a key among others into a list."""
    number = lines.line_of(fault.span.start)
    column = fault.span.start - lines.line_span(number).start
    if fault.message != NO_DASH or not _KEY_OR_ITEM.match(text, fault.span.start):
        return
    yield from _dash_for_blanks(text, lines, number, column)
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        at = line.start + column
        item = _DASH_AND_KEY.match(text, at)
        if item is not None and at < line.end and not text[line.start : at].strip(" "):
            edit = Edit(Span(at, item.start("key")), "")
            message = f"`{item['key']}` is a key among others here, not an item of a list; delete the dash."
            problem = Problem(
                "yaml-syntax", Span(at, at + 1), message, "error", (Fix("Delete the dash", (edit,)),)
            )
            yield Slip(problem, edit, known_at=at, cures=Span(0, len(text)))
            return


def _dash_for_blanks(text: str, lines: LineIndex, number: int, column: int) -> Iterator[Slip]:
    """Yield a dash typed instead of the spaces before a key, below keys at its column."""
    for below in range(number + 1, min(lines.line_count, number + _LOOKED_AT)):
        line = lines.line_span(below)
        at = line.start + column - len("- ")
        item = _DASH_AND_KEY.match(text, at) if column >= len("- ") and at < line.end else None
        if item is not None and not text[line.start : at].strip(" ") and item.start("key") == at + len("- "):
            edit = Edit(Span(at, at + 1), " ")
            message = f"`{item['key']}` is a key among others here, not an item of a list; delete the dash."
            fix = Fix("Delete the dash", (edit,))
            problem = Problem("yaml-syntax", Span(at, at + 1), message, "error", (fix,))
            yield Slip(problem, edit, known_at=item.start("key"), cures=Span(0, len(text)))
            return


def repeats_first_key(text: str, lines: LineIndex, fault: SyntaxFault) -> bool:
    """Return whether a key occurs again that opens a list item two columns to its left.

    Then the next item begins here.
    """
    if fault.code != "duplicate-key" or not fault.related:
        return False
    first = fault.related[0].span.start
    line = lines.line_span(lines.line_of(first))
    indent = fault.span.start - lines.line_span(lines.line_of(fault.span.start)).start
    return text[line.start : first] == " " * (indent - 2) + "- "


def repeats_keys_of_item(tree: Tree, fault: SyntaxFault) -> bool:
    """Return whether two or more keys of a list item occur again: the line that began the next is missing."""
    key = tree.root.at(fault.span.start) if tree.root is not None and fault.code == "duplicate-key" else None
    item = key.parent if key is not None and key.step is None else None
    if item is None or item.style != "block" or item.parent is None or item.parent.kind != "sequence":
        return False
    names = item.key_names
    starts = [entry.key.span.start for entry in item.each_entry()]
    before, again = names[: starts.index(fault.span.start)], names[starts.index(fault.span.start) :]
    return len(set(again) & set(before)) > 1 and len(set(again)) == len(again)


def items_without_dashes(
    tree: Tree, fault: SyntaxFault, kind: SchemaName, catalog: Catalog
) -> Iterator[Slip]:
    """Yield the missing dashes of a list without any, so that its items are parsed as one mapping.

    Each item begins with the same key. Only if no item has a key twice then.
    """
    key = tree.root.at(fault.related[0].span.start) if tree.root is not None and fault.related else None
    items = key.parent if key is not None and key.step is None else None
    if fault.code != "duplicate-key" or items is None or items.style != "block":
        return
    first = next(items.each_entry(), None)
    shape = shape_of(kind, items, catalog)
    holder = items.holder
    if first is None or shape is None or not shape.wants_list or holder is None or shape.items is None:
        return
    begins = [entry for entry in items.each_entry() if entry.key.value == first.key.value]
    if len(begins) < 2 or not shape.items.fits("mapping"):
        return
    edits = tuple(_dash(tree.text, entry, holder) for entry in begins)
    if any(edit is None for edit in edits):
        return
    yield _inserted(tree.text, items, tuple(edit for edit in edits if edit is not None))


def texts_without_dashes(
    tree: Tree, lines: LineIndex, fault: SyntaxFault, kind: SchemaName, catalog: Catalog
) -> Iterator[Slip]:
    """Yield the missing dashes of a list of strings, one on each line below the key."""
    text, number = tree.text, lines.line_of(fault.span.start)
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        holder = _BARE_KEY.match(text, line.start, line.end)
        if holder is None:
            continue
        rows = list(_rows(text, lines, above + 1))
        if len(rows) < 2 or rows[0].start - lines.line_span(above + 1).start < len(holder["lead"]):
            return
        if any(_KEY_OR_ITEM.match(text, row.start) for row in rows) or not rows[0].start <= fault.span.start:
            return
        if fault.span.start > rows[-1].end or not _takes_texts(tree, holder.start("key"), kind, catalog):
            return
        edits = tuple(Edit(Span(row.start, row.start), "- ") for row in rows)
        place = Span(holder.start("key"), holder.end("key"))
        message = f"Each item of `{holder['key']}` begins with a dash; write `- ` before each."
        problem = Problem("yaml-syntax", place, message, "error", (Fix("Insert the dashes", edits),))
        yield Slip(problem, as_one(text, edits))
        return


def _rows(text: str, lines: LineIndex, first: int) -> Iterator[Span]:
    """Yield the strings on the lines that begin at the column of the first."""
    column: int | None = None
    for number in range(first, min(lines.line_count, first + _MOST_ROWS)):
        line = lines.line_span(number)
        written = text[line.start : line.end]
        at = len(written) - len(written.lstrip(" "))
        column = at if column is None else column
        if not written.strip() or at != column or _KEY_OR_ITEM.match(written, at):
            return
        yield Span(line.start + at, line.start + len(written.rstrip()))


def _takes_texts(tree: Tree, key: int, kind: SchemaName, catalog: Catalog) -> bool:
    """Return whether a list of strings is due at the key at an offset."""
    node = tree.root.at(key) if tree.root is not None else None
    if node is None or node.parent is None or node.step is not None or node.kind != "scalar":
        return False
    shape = shape_at(kind, (*node.parent.path, node.value), tree.root, catalog)
    return shape is not None and shape.wants_list and shape.items is not None and shape.items.fits("scalar")


def _dash(text: str, entry: Entry, holder: Entry) -> Edit | None:
    """Return the edit that replaces two of the spaces before a key with a dash."""
    start = entry.key.span.start
    column = column_of(text, start)
    if (
        text[line_start_of(text, start) : start].strip(" ")
        or column < column_of(text, holder.key.span.start) + 2
    ):
        return None
    return Edit(Span(start - 2, start), "- ")


def _inserted(text: str, items: Node, edits: tuple[Edit, ...]) -> Slip:
    second = edits[1].span.end
    key = text[second : text.find(":", second)]
    message = f"Each item of `{items.step}` begins with a dash; write `- ` before each `{key}`."
    fix = Fix("Insert the dashes", edits, preferred=True)
    place = Span(second, second + len(key))
    return Slip(Problem("yaml-syntax", place, message, "error", (fix,)), as_one(text, edits))
