"""Joining two lists: the items of the second go below those of the first, in the author's style."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import line_end
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

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
    if first.style == "flow":
        items = [text[item.span.start : item.span.end] for item in second.items]
        if second.style != "flow" and not all(_is_alike_in_brackets(item) for item in items):
            return None
        inner = text[second.span.start : second.span.end]
        if any("\n" in item for item in items) or "#" in inner:
            return None
        last = first.items[-1].span.end
        return Edit(Span(last, last), "".join(f", {item}" for item in items))
    column, ending = column_of(text, first.span.start), line_break(text)
    if second.style == "flow":
        items = [text[item.span.start : item.span.end] for item in second.items]
        if any("\n" in item for item in items):
            return None
        rows = [f"{' ' * column}- {item}" for item in items]
    else:
        start, end = _start_with_comments(text, more), line_end(text, second.span.end)
        by = column - column_of(text, second.span.start)
        rows = [_moved(row, by) for row in text[start:end].splitlines()]
    at = line_end(text, first.span.end)
    return Edit(Span(at, at), "".join(f"{ending}{row}" for row in rows))


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
