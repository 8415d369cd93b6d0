"""Items of block lists that move between files: whole lines, with the comments right above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.features.completion.snippets import Layout
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node


@dataclass(frozen=True, slots=True)
class RemovedItem:
    """The lines of an item, moved so that its dash is at the margin, and the edit that removes them."""

    rows: tuple[str, ...]
    edit: Edit


def remove_item(document: Document, item: Node) -> RemovedItem | None:
    """Return an item of the list at a key, None if it is not on lines of its own.

    The last item of a list takes the key along if that ends the file or the item around the key, and leaves
    ``[]`` otherwise: ``append_item`` inserts the key or fills the list accordingly.
    """
    holder, lines, text = item.parent, document.lines, document.text
    if holder is None or holder.style != "block" or not len(item.span):
        return None
    first = lines.line_of(item.span.start)
    start = lines.line_span(first).start
    before = text[start : item.span.start]
    column = before.find("-")
    if column < 0 or before[:column].strip(" ") or before[column + 1 :].strip(" "):
        return None
    last = last_row(document, item, column)
    index = next((at for at, other in enumerate(holder.items) if other.span == item.span), 0)
    above = last_row(document, holder.items[index - 1], column) if index else -1
    while first - 1 > above and _is_comment(document, first - 1, column):
        first -= 1
    rows = tuple(_row(document, number)[column:] for number in range(first, last + 1))
    if any(_row(document, number)[:column].strip(" ") for number in range(first, last + 1)):
        return None
    # The blank lines between it and the item above are removed, too.
    while index and first - 1 > above and not _row(document, first - 1).strip():
        first -= 1
    stop = last + 1
    while (
        not index and len(holder.items) > 1 and stop < lines.line_count and not _row(document, stop).strip()
    ):
        # The first item has no item above: remove the blank lines after it.
        stop += 1
    end = lines.line_span(stop).start if stop < lines.line_count else len(text)
    lines_of_item = Span(lines.line_span(first).start, end)
    if first and end == len(text) and not text.endswith(("\n", "\r")):
        # Remove the line break before it, since there is none after it.
        lines_of_item = Span(lines.line_span(first - 1).end, end)
    edit = Edit(lines_of_item, "") if len(holder.items) > 1 else _emptied(document, holder, lines_of_item)
    return RemovedItem(rows, edit) if edit is not None else None


_NOTHING = ("[]", "", "null", "~")


def append_item(document: Document, root: Node, key: str, rows: tuple[str, ...]) -> Edit | None:
    """Return the edit that appends an item to the list at a key.

    ``root`` is the mapping with the key: that of the file, or an item of a list. A missing key is written at
    its end. None if the list is neither a block list nor empty.
    """
    text, lines = document.text, document.lines
    if root.kind != "mapping" or root.style != "block":
        return None
    ending, entry = line_break(text), root.entry(key)
    indent = Layout(document.tree).list_indent
    if entry is None:
        return _with_key(document, root, key, indented_rows(rows, indent))
    value = entry.value
    if value.kind == "sequence" and value.style == "block" and value.items:
        items = value.items
        dash = dash_of(document, items[-1])
        if dash is None:
            return None
        column = column_of(document.text, dash)
        last = last_row(document, items[-1], column)
        rows = ("",) * _gap(document, items, column) + rows
    elif text[value.span.start : value.span.end] in _NOTHING:
        line = lines.line_span(lines.line_of(entry.key.span.start))
        column = entry.key.span.start - line.start + indent
        last = lines.line_of(value.span.end)
        if value.span.start < entry.key.span.end or last != lines.line_of(entry.key.span.start):
            return None
        colon = text.index(":", entry.key.span.end)
        inside = max(column, column - indent + 1)
        while last + 1 < lines.line_count and _is_comment(document, last + 1, inside):
            last += 1
        end = lines.line_span(last).end
        block = ending.join(indented_rows(rows, column))
        rest = text[value.span.end if len(value.span) else colon + 1 : end].rstrip()
        return Edit(Span(colon + 1, end), f"{rest}{ending}{block}")
    else:
        return None
    end = lines.line_span(last).end
    return Edit(Span(end, end), ending + ending.join(indented_rows(rows, column)))


def _with_key(document: Document, root: Node, key: str, rows: Sequence[str]) -> Edit | None:
    """Return the edit that writes a key with its list at the end of a mapping."""
    text, lines, ending = document.text, document.lines, line_break(document.text)
    written = (f"{key}:", *rows)
    if root.parent is None:
        block = ending.join(written)
        added = f"{block}{ending}" if text.endswith(("\n", "\r")) else f"{ending}{block}"
        return Edit(Span(len(text), len(text)), added)
    dash = dash_of(document, root)
    column = column_of(document.text, root.span.start)
    if dash is None or text[root.span.start - column : root.span.start].strip(" -"):
        return None
    end = lines.line_span(last_row(document, root, column_of(document.text, dash))).end
    block = ending.join(indented_rows(written, column))
    return Edit(Span(end, end), f"{ending}{block}")


def dash_of(document: Document, item: Node) -> int | None:
    """Return where the dash of an item is on the first line of the item, None if it is above."""
    lines = document.lines
    line = lines.line_span(lines.line_of(item.span.start))
    dash = document.text.rfind("-", line.start, item.span.start)
    return dash if dash >= 0 else None


def last_row(document: Document, item: Node, column: int) -> int:
    """Return the last line of an item whose dash is in a column, with the comments after it."""
    lines = document.lines
    last = row = lines.line_of(max(item.span.end - 1, item.span.start))
    while row + 1 < lines.line_count:
        row += 1
        if _is_comment(document, row, column + 1):
            last = row
        elif _row(document, row).strip():
            break
    return last


def _gap(document: Document, items: Sequence[Node], column: int) -> int:
    """Return the number of blank lines between the last two items of a list.

    After the only item, if it is a block, there are as many as before the key of the list.
    """
    lines = document.lines
    item, holder = items[-1], items[-1].parent
    row = lines.line_of(item.span.start)
    if len(items) > 1:
        above = last_row(document, items[-2], column)
        while row - 1 > above and _row(document, row - 1).strip():
            row -= 1
        return max(row - 1 - above, 0)
    entry = holder.holder if holder is not None else None
    if entry is None or item.style != "block" or item.kind != "mapping":
        return 0
    row = lines.line_of(entry.key.span.start)
    while row and _row(document, row - 1).lstrip(" ").startswith("#"):
        row -= 1
    return int(row > 0 and not _row(document, row - 1).strip())


def _emptied(document: Document, holder: Node, lines_of_item: Span) -> Edit | None:
    """Return the edit that removes the only item of the list at a key."""
    text, lines, root = document.text, document.lines, holder.parent
    entry = root.entry(str(holder.step)) if root is not None else None
    if root is None or entry is None:
        return None
    row = lines.line_of(entry.key.span.start)
    line = lines.line_span(row)
    colon = text.index(":", entry.key.span.end)
    alone = not text[colon + 1 : line.end].strip() and text[line.end : lines_of_item.start].strip() == ""
    above = _row(document, row - 1).lstrip(" ") if row else ""
    at_end = lines_of_item.end == len(text)
    ends = at_end if root.parent is None else len(root.entries) > 1 and root.entries[-1].span == entry.span
    if alone and ends and row and not above.startswith("#"):
        # With the line break in front where the file ends without one.
        start = lines.line_span(row - 1).end if at_end and not text.endswith(("\n", "\r")) else line.start
        return Edit(Span(start, lines_of_item.end), "")
    kept = text[colon + 1 : lines_of_item.start]
    return Edit(Span(colon + 1, lines_of_item.end), f" []{kept}")


def _is_comment(document: Document, number: int, column: int) -> bool:
    row = _row(document, number)
    return row.lstrip(" ").startswith("#") and len(row) - len(row.lstrip(" ")) >= column


def _row(document: Document, number: int) -> str:
    span = document.lines.line_span(number)
    return document.text[span.start : span.end]


def indented_rows(rows: Sequence[str], column: int) -> list[str]:
    """Return lines with the first character of each in a column; empty lines stay empty."""
    return [" " * column + row if row.strip() else row for row in rows]


def add_no_problem(workspace: Workspace, before: Sequence[Document], after: Sequence[Document]) -> bool:
    """Return whether the files of a change have no more problems of any code than before."""
    known: Counter[str] = Counter()
    for each in before:
        problems = diagnose(each, workspace)
        known.update(problem.code for problem in problems)
    for each in after:
        workspace = workspace.with_document(each)
    found: Counter[str] = Counter()
    for each in after:
        problems = diagnose(each, workspace)
        found.update(problem.code for problem in problems)
    return not found - known
