"""Indentation of a new line: below the key of the line above, not below its dash.

Architecture invariant: only the line above and the first blocks of the file are read, so the answer comes
before the next keystroke.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_language_server.features.completion.snippets import Layout
from waza_language_server.schema.locate import shape_at, shape_below
from waza_language_server.syntax.author_style import indent_step
from waza_language_server.syntax.cursor import Cursor, cursor_at
from waza_language_server.syntax.lines import dash_at, key_at
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

_VALUE = compiled_later(
    r"""[ \t]*+(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'\#\[{](?:[^ \t]|[ \t](?!\#))*|)
        [ \t]*(?:(?<=[ \t])\#.*)?""",
    re.VERBOSE,
)
"""The rest of a key's line; open quotes and brackets continue below."""

_PROPERTIES = compiled_later(r"[&!]\S*(?:[ \t]+[&!]\S*)*")
"""An anchor and a tag: their node follows."""

_BLOCK = compiled_later(r"[ \t]*+(?:[&!]\S*[ \t]+)*[|>][-+]?(?P<deep>[1-9])?[-+]?[ \t]*(?:(?<=[ \t])#.*)?")
"""The header of a block scalar; it may have an indentation indicator."""


def indent_new_line(document: Document, workspace: Workspace, offset: int) -> Edit | None:
    """Return the edit that indents the empty line at an offset, None if the editor's indentation is right.

    After ``key: value`` the line begins below the key; after ``key:``, ``key: |`` and ``- |`` where the value
    belongs.
    """
    if not document.reads(offset):
        return None
    lines = document.lines
    number = lines.line_of(offset)
    line = lines.line_span(number)
    if number == 0 or document.text[line.start : line.end].strip(" "):
        return None
    above = lines.line_span(number - 1)
    column = _column(document, workspace, above)
    if column is None or column == len(line):
        return None
    return Edit(line, " " * column)


def _column(document: Document, workspace: Workspace, above: Span) -> int | None:
    text = document.text
    start = above.start
    while text[start : start + 1] == " ":
        start += 1
    dash: int | None = None
    while (found := dash_at(text, start)) is not None and found.end() <= above.end and len(found[0]) > 1:
        dash, start = start, found.end()
    key = key_at(text, start)
    is_item = key is None or key.end() > above.end
    after = start if key is None or is_item else key.end()
    cursor = cursor_at(document.tree, after)
    if cursor.in_flow or cursor.indent != start - above.start:
        # A text of several lines, brackets.
        return None
    block = _BLOCK.fullmatch(text, after, above.end)
    if is_item:
        if block is None or dash is None or cursor.role != "item":
            return None
        return dash - above.start + int(block["deep"] or 2)
    value = _VALUE.fullmatch(text, after, above.end)
    if cursor.role != "value" or value is None:
        # An item without keys, a comment.
        return None
    if block is not None:
        return cursor.indent + int(block["deep"] or indent_step(document.tree))
    if value["value"] and not _PROPERTIES.fullmatch(value["value"]):
        return cursor.indent
    return _column_of_value(document, workspace, cursor)


def _column_of_value(document: Document, workspace: Workspace, cursor: Cursor) -> int | None:
    """Return where a value begins on the line below its key; None if its type is unknown."""
    tree = document.tree
    holder = shape_at(document.kind, cursor.container_path, tree.root, workspace.catalog)
    shape = shape_below(holder, cursor.key or "") if holder is not None else None
    if shape is None:
        return None
    if shape.fits("sequence") and not shape.fits("mapping"):
        return cursor.indent + Layout(tree).list_indent
    return cursor.indent + indent_step(tree)
