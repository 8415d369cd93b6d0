"""Formatting of text to insert in a file: lines, brackets, commas, indentation.

Nothing is validated here: ``edits.py`` does that with the results.
"""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.author_style import indent_step, line_break
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.syntax.tree import Tree
from waza_language_server.syntax.tried_edits import (
    Edits,
)
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span


def inserted(tree: Tree, mapping: Node | None, entry_text: str, after: Entry | None) -> Edits:
    """Put an entry into a mapping, an empty value or an empty document (None), perhaps after another."""
    text = tree.text
    if mapping is None:
        end = len(text.rstrip())
        if not end:
            return (
                Edit(Span(len(text), len(text)), placed(entry_text, 0, line_break(text)) + line_break(text)),
            )
        return (_insert_line(text, end, entry_text, 0),)
    if mapping.kind == "mapping":
        last = after if after is not None else mapping.last_entry
        if mapping.style == "flow":
            return insert_in_brackets(text, mapping, last.value if last else None, entry_text, last)
        if last is None:
            return ()
        return (_insert_line(text, last.span.end, entry_text, column_of(text, last.key.span.start)),)
    if _is_empty(mapping):
        column = _key_column(mapping, text)
        if mapping.parent is not None and mapping.parent.kind == "sequence":
            gap = "" if text[mapping.span.start - 1 : mapping.span.start] == " " else " "
            at = Span(mapping.span.start, mapping.span.start)
            return (Edit(at, gap + placed(entry_text, column + 2, line_break(text))),)
        return (_insert_line(text, mapping.span.end, entry_text, column + indent_step(tree)),)
    return ()


def insert_in_brackets(
    text: str, holder: Node, after: Node | None, block: str, last: Entry | None = None
) -> Edits:
    """Put an item or an entry on one line after another one in brackets, or before all."""
    if "\n" in block:
        return ()
    if after is None:
        at = holder.span.start + 1
        return (Edit(Span(at, at), block + (", " if holder.green.children else "")),)
    at = max(after.span.end, last.span.end if last else 0)
    start = (last.key if last else after).span.start
    margin = text[line_start_of(text, start) : start]
    # One that begins a line is followed by one that begins the next.
    gap = " " if margin.strip() or not line_start_of(text, start) else line_break(text) + margin
    return (Edit(Span(at, at), f",{gap}{block}"),)


def deleted(text: str, mapping: Node, entry: Entry) -> Edits:
    """Remove an entry with its lines, or with a comma; the only one leaves an empty mapping."""
    count = len(mapping.green.children) // 2
    index = mapping.children_before(entry.key.span.start) // 2
    found = mapping.nth_child(2 * index)
    if found is None or found.span != entry.key.span:
        return ()
    if count == 1:
        if mapping.parent is None and mapping.style == "block":
            return (Edit(whole_lines(text, entry.span), ""),)
        around = text[mapping.span.start : entry.span.start] + text[entry.span.end : mapping.span.end]
        if mapping.style == "flow" and "#" in around:
            return (Edit(entry.span, ""),)
        return emptied(text, mapping, "{}")
    if mapping.style == "flow":
        return (without_comma(text, [other.span for other in mapping.entries], index),)
    start = entry.key.span.start
    if not text[line_start_of(text, start) : start].strip():
        return (Edit(whole_lines(text, entry.span), ""),)
    following = mapping.nth_child(2 * index + 2)
    if following is None:
        return ()
    # The first entry follows the dash of an item: the next one takes its place, unless a comment is between.
    between = text[entry.span.end : following.span.start]
    if "#" not in between:
        return (Edit(Span(start, following.span.start), ""),)
    return (Edit(entry.span, ""),)


def commented(text: str, span: Span, column: int) -> Edits:
    """Comment out the lines of a span, with the `#` in one column if the text is indented that far."""
    edits: list[Edit] = []
    at = line_start_of(text, span.start)
    for row in text[at : span.end].splitlines(keepends=True):
        if row.strip():
            place = at + min(column, len(row) - len(row.lstrip(" ")))
            edits.append(Edit(Span(place, place), "# "))
        at += len(row)
    return tuple(edits)


def emptied(text: str, node: Node, brackets: str) -> Edits:
    """Replace a block collection with an empty collection."""
    start = node.span.start
    if node.style == "flow" or node.parent is None:
        return (Edit(node.span, brackets),)
    line = line_start_of(text, start)
    if text[line:start].strip():
        return (Edit(node.span, brackets),)
    # The collection began on a line of its own; the brackets go after the key.
    holder = next((e.key for e in node.parent.entries if e.value.span == node.span), None)
    colon = text.find(":", holder.span.end, start) if holder is not None else -1
    if colon < 0:
        return ()
    return (
        Edit(Span(colon + 1, colon + 1), f" {brackets}"),
        Edit(whole_lines(text, Span(start, node.span.end)), ""),
    )


def without_comma(text: str, spans: list[Span], index: int) -> Edit:
    """Remove an item from brackets with one of the commas next to it, and no comment."""
    span = spans[index]
    if index and "#" not in text[spans[index - 1].end : span.start]:
        return Edit(Span(spans[index - 1].end, span.end), "")
    if index + 1 == len(spans):
        # There may be a comma before the bracket.
        return Edit(span, "")
    following = spans[index + 1].start
    if "#" in (between := text[span.end : following]):
        return Edit(Span(span.start, span.end + between.find(",") + 1), "")
    return Edit(Span(span.start, following), "")


def whole_lines(text: str, span: Span) -> Span:
    """Return the lines that hold a span with their last break, or at the end of the text the one before."""
    start, end = line_start_of(text, span.start), line_end(text, span.end)
    if end == len(text):
        while start > 0 and text[start - 1] in "\r\n":
            start -= 1
            if text[start] == "\n" and text[start - 1 : start] == "\r":
                start -= 1
            break
        return Span(start, end)
    return Span(start, end + (2 if text.startswith("\r\n", end) else 1))


def line_end(text: str, at: int) -> int:
    """Return where the line of an offset ends, before its break."""
    while at < len(text) and text[at] not in "\r\n":
        at += 1
    return at


def own_text(text: str, entry: Entry) -> str:
    """Return an entry's text, relative to the column of its key and with the comment at its end."""
    start = entry.key.span.start
    column = column_of(text, start)
    in_brackets = entry.value.parent is not None and entry.value.parent.style == "flow"
    end = entry.span.end if in_brackets else line_end(text, entry.span.end)
    first, *others = text[start:end].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join([first, *(row[min(column, len(row) - len(row.lstrip(" "))) :] for row in others)])


def with_only_item(text: str, entry: Entry, *, in_brackets: bool) -> str:
    """Return an entry's text with its value, which is on one line, as the only item of a list."""
    key, value = (text[node.span.start : node.span.end] for node in (entry.key, entry.value))
    if in_brackets:
        return f"{key}: [{value}]"
    comment = text[entry.value.span.end : line_end(text, entry.value.span.end)].rstrip()
    return f"{key}:{comment}\n  - {value}"


def value_text(text: str, mapping: Node, entry: Entry) -> str:
    """Return the text after the colon, its lines relative to the key, a comment included."""
    start, end = text.find(":", entry.key.span.end) + 1, entry.value.span.end
    end = end if mapping.style == "flow" else line_end(text, end)
    column = entry.key.span.start - (text.rfind("\n", 0, entry.key.span.start) + 1)
    first, *others = text[start : max(end, start)].replace("\r\n", "\n").split("\n")
    dedented = (row[min(column, len(row) - len(row.lstrip(" "))) :] for row in others)
    return "\n".join([first.strip() if not others else first.rstrip(), *dedented])


def indented(block: str, by: int) -> str:
    """Indent all lines but the first."""
    first, *others = block.split("\n")
    return "\n".join([first, *(" " * by + row if row else row for row in others)])


def placed(block: str, column: int, ending: str) -> str:
    """Return a block whose first line is at a column, with the line breaks of its file."""
    return indented(block, column).replace("\n", ending)


def pair_text(key: str, value_text: str) -> str:
    """Return an entry with a value as YAML, which may begin on a line of its own."""
    name = plain_or_quoted(key)
    if not value_text or value_text.startswith(("\n", " ")):
        return f"{name}:{value_text}"
    return f"{name}: {value_text}"


def _insert_line(text: str, at: int, block: str, column: int) -> Edit:
    """Insert lines below the line that holds ``at``."""
    ending = line_break(text)
    end = line_end(text, at)
    return Edit(Span(end, end), ending + " " * column + placed(block, column, ending))


def _key_column(value: Node, text: str) -> int:
    """Return the column of the key or dash that holds an empty value."""
    parent = value.parent
    if parent is None:
        return 0
    if parent.kind == "sequence":
        return column_of(text, parent.span.start)
    key = next((entry.key for entry in parent.entries if entry.value.span == value.span), None)
    return column_of(text, key.span.start) if key is not None else 0


def _is_empty(node: Node) -> bool:
    return node.kind == "scalar" and not len(node.span)


_ONE_WORD = compiled_later(r"[\w./-][\w ./*-]*")
"""Words that mean the same in brackets and after a dash."""


def items_added(text: str, holder: Entry, more: Entry) -> Edit | None:
    """Return the edit that puts the items of ``more`` after those of ``holder``; ``more`` is unchanged.

    None if a value is not a list of the document's own (an alias, an anchor, a tag), or if an item cannot be
    written in the style of the first list.
    """
    first, second = holder.value, more.value
    if not (_is_list(first) and _is_list(second)):
        return None
    inner, comment = text[more.key.span.end : second.span.end], _comment_after(text, second.span.end)
    if first.style == "flow":
        items = [text[item.span.start : item.span.end] for item in second.items]
        if second.style != "flow" and not all(_is_alike_in_brackets(item) for item in items):
            return None
        if any("\n" in item for item in items) or "#" in inner + comment:
            # Brackets on one line have no place for comments.
            return None
        last = first.items[-1].span.end
        return Edit(Span(last, last), "".join(f", {item}" for item in items))
    column, ending = column_of(text, first.span.start), line_break(text)
    if second.style == "flow":
        items = [text[item.span.start : item.span.end] for item in second.items]
        if any("\n" in item for item in items) or ("\n" in inner and "#" in inner):
            return None
        rows = [f"{' ' * column}- {item}" for item in items]
        rows[-1] += comment
    else:
        start, end = _start_with_comments(text, more), line_end(text, second.span.end)
        by = column - column_of(text, second.span.start)
        rows = [_moved(row, by) for row in text[start:end].splitlines()]
    at = line_end(text, first.span.end)
    return Edit(Span(at, at), "".join(f"{ending}{row}" for row in rows))


def _comment_after(text: str, at: int) -> str:
    """Return the comment at the end of a line with the whitespace before it, "" if something else follows."""
    rest = text[at : line_end(text, at)].rstrip()
    return rest if rest.lstrip().startswith("#") else ""


def _start_with_comments(text: str, entry: Entry) -> int:
    """Return where the lines of a list begin, comments below its key included."""
    start = line_start_of(text, entry.value.span.start)
    first = line_start_of(text, entry.key.span.start)
    while start > first:
        above = line_start_of(text, start - (2 if text.startswith("\r\n", start - 2) else 1))
        if above <= first or not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def _is_list(node: Node) -> bool:
    marked = node.green.anchor is not None or node.green.tag is not None
    return node.kind == "sequence" and bool(node.items) and not marked


def _is_alike_in_brackets(item: str) -> bool:
    is_quoted = len(item) > 1 and item[0] in "\"'" and item[-1] == item[0]
    return is_quoted or _ONE_WORD.fullmatch(item) is not None


def _moved(row: str, by: int) -> str:
    if not row.strip():
        return row
    return " " * by + row if by >= 0 else row[min(-by, len(row) - len(row.lstrip(" "))) :]
