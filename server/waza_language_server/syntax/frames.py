"""The containers that are open at the end of a line: those that the next line may continue."""

from __future__ import annotations

from typing import Literal

from waza_engine.frozen import frozen
from waza_language_server.syntax.nodes import Node

_BYTE_ORDER_MARK = "\ufeff"


@frozen()
class Frame:
    """A container. ``column`` is that of its keys or dashes.

    For an empty value that of the key or dash before it.

    ``count`` is the number of a list's items above the line.
    """

    kind: Literal["mapping", "sequence", "empty", "flow"]
    path: tuple[str | int, ...]
    column: int
    node: Node | None
    count: int = 0
    indentless: bool = False
    """True if the dashes of a list are at the column of the key that holds it."""
    in_list: bool = False
    """True if an empty value is an item of a list."""


def frames_above(root: Node | None, text: str, line_start: int) -> list[Frame]:
    """Return the containers open above a line, outermost first.

    ``line_start`` is the offset of its first character.
    """
    frames: list[Frame] = []
    node, path, holder, in_list = root, (), -1, False
    while node is not None:
        if node.kind == "mapping" and node.style != "flow":
            frames.append(Frame("mapping", path, column_of(text, node.span.start), node))
            entry = node.entry_at(line_start - 1)
            if entry is None:
                return frames
            holder, in_list = column_of(text, entry.key.span.start), False
            node, path = entry.value, (*path, entry.key.value)
        elif node.kind == "sequence" and node.style != "flow":
            count = node.children_before(line_start)
            column = column_of(text, node.span.start)
            frames.append(Frame("sequence", path, column, node, count, indentless=column == holder))
            if not count:
                return frames
            holder, in_list = column, True
            node, path = node.get(count - 1), (*path, count - 1)
        else:
            below = node.style == "plain" and node.span.start >= line_start
            if node.kind == "scalar" and (below or not len(node.span)):
                frames.append(Frame("empty", path, holder, node, in_list=in_list))
            elif node.style == "flow":
                frames.append(Frame("flow", path, holder, node))
            return frames
    return frames


def column_of(text: str, offset: int) -> int:
    """Return the number of characters before an offset on its line."""
    return offset - line_start_of(text, offset)


def line_start_of(text: str, offset: int) -> int:
    """Return the offset of the first character of a line, after the byte order mark if there is one."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return start or int(text.startswith(_BYTE_ORDER_MARK) and offset > 0)
