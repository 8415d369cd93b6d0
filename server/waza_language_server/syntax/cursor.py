"""The context of a completion: its mapping or list, at a key or a value, in every state of the text.

The line of the cursor often cannot be parsed, so it is read as text; the lines above it come from the tree.
Columns decide: a key belongs to the deepest container whose children may be at its column.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MAX_DEPTH
from waza_language_server.syntax.flow import FlowPosition, flow_position
from waza_language_server.syntax.frames import Frame, column_of, frames_above, line_start_of
from waza_language_server.syntax.lines import after_properties, dash_at, key_at
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span

_COMMENT_OR_QUOTE = compiled_later(r"""(?:(?<=[ \t\[{,:])|(?<![^\r\n]))["']|(?:(?<=[ \t])|(?<![^\r\n]))#""")
_COLON = compiled_later(r":(?=[ \t\r\n]|\Z)")
_LINES_BEFORE_START = compiled_later(r"\ufeff?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n)|%[^\r\n]*(?:\r\n?|\n))*")
_REST_OF_LINE = compiled_later(r"[^\r\n]*")
_DIRECTIVE = compiled_later(r"(?:(?<![^\r\n])|(?<=\A\ufeff))%")
_START = compiled_later(r"---(?=[ \t\r\n]|\Z)")
Role = Literal["key", "value", "item", "none"]
Path = tuple[str | int, ...]


@frozen()
class Cursor:
    """A place to complete at.

    ``key``: a key of the mapping at ``container_path`` (a mapping that may not exist yet). ``value``: the
    value of ``key`` in the mapping at ``container_path``. ``item``: an item of the list at
    ``container_path``; if the items are mappings, it may become a key as well, and ``existing_keys`` are
    those of this item. ``none``: a comment or a place where nothing is allowed.

    ``prefix`` is the text typed up to the cursor, ``replace`` the span that a completion replaces (inside the
    quotes, if there are any). ``indent`` is the column of the key, of the key before a value, or of the
    content after a dash. ``node`` is the scalar or mapping at the cursor, if it was parsed.
    """

    container_path: Path
    role: Role
    key: str | None
    prefix: str
    replace: Span
    indent: int
    node: Node | None = None
    existing_keys: tuple[str, ...] = ()
    needs_dash: bool = False
    """True if an item still lacks its ``- ``."""
    in_flow: bool = False
    """True if the cursor is inside brackets, where completions must stay on one line."""
    needs_comma: bool = False
    """True if a comma is missing between the completion and the text after it."""


def cursor_at(tree: Tree, offset: int) -> Cursor:
    """Return the completion context at an offset; offsets outside the text count as its ends."""
    text = tree.text
    offset = min(max(offset, 0), len(text))
    nothing = Cursor((), "none", None, "", Span(offset, offset), column_of(text, offset))
    if tree.is_json:
        flow = flow_position(tree.root, text, offset, [])
        if flow is not None:
            return _in_flow(flow, text, offset)
        if tree.is_lines:
            rest = _REST_OF_LINE.match(text, line_start_of(text, offset))
            is_blank = rest is None or not rest[0].strip("\ufeff \t")
            return replace(nothing, role="item", in_flow=True) if is_blank else nothing
        return nothing if tree.root is not None else replace(nothing, role="key", in_flow=True)
    if tree.layout is None or offset > tree.layout.stop:
        return nothing
    inside = _inside_long_scalar(tree, offset)
    if inside is not None:
        return inside
    start = line_start_of(text, offset)
    if _before_document(text, start, offset):
        return nothing
    frames = frames_above(tree.root, text, start)
    flow = flow_position(tree.root, text, offset, frames)
    if flow is not None:
        return _in_flow(flow, text, offset)
    if _in_comment(text, start, offset) or _is_after_brackets(tree.root, text, offset):
        return nothing
    return _Line(tree, offset, start, frames).cursor()


def _in_flow(flow: FlowPosition, text: str, offset: int) -> Cursor:
    return Cursor(
        flow.path,
        flow.role,
        flow.key,
        text[flow.replace.start : offset],
        flow.replace,
        column_of(text, flow.replace.start),
        flow.node,
        flow.existing_keys,
        in_flow=True,
        needs_comma=flow.needs_comma,
    )


def _before_document(text: str, start: int, offset: int) -> bool:
    """Return whether a line is above the ``---`` that begins the document: it belongs to another one."""
    head = _LINES_BEFORE_START.match(text, 0, start)
    if head is None or head.end() != start:
        return False
    if _DIRECTIVE.search(text, 0, start):
        return True
    line = _REST_OF_LINE.match(text, offset)
    following = _LINES_BEFORE_START.match(text, line.end()) if line is not None else None
    return following is not None and _START.match(text, following.end()) is not None


def _inside_long_scalar(tree: Tree, offset: int) -> Cursor | None:
    """Handle a cursor in a multi-line scalar that began above: block scalar, open quotes, folded text."""
    if tree.root is None:
        return None
    text = tree.text
    node = tree.root.at(offset)
    start = line_start_of(text, offset)
    if node.kind != "scalar" or node.span.start >= start:
        return _below_block_scalar(tree, offset, start)
    if node.style == "plain" and (below := _key_below(node, text, offset)) is not None:
        return below
    return _in_scalar(node, text, _content_of_line(text, start, offset), offset)


def _below_block_scalar(tree: Tree, offset: int, start: int) -> Cursor | None:
    """Handle an empty line below a block scalar, which still belongs to it if it is indented enough."""
    text = tree.text
    if tree.root is None or text[start:offset].strip() or column_of(text, offset) == 0:
        return None
    before = len(text[:start].rstrip())
    node = tree.root.at(before)
    if node.style not in {"literal", "folded"} or node.kind != "scalar":
        return None
    holder = _holder_column(node, text)
    if column_of(text, offset) <= holder or text[offset:].partition("\n")[0].strip():
        return None
    return _in_scalar(node, text, Span(offset, offset), offset)


def _holder_column(node: Node, text: str) -> int:
    """Return the column of the key or dash that holds a value."""
    above = node.parent
    if above is None:
        return -1
    if above.kind == "mapping":
        entry = node.holder
        return column_of(text, entry.key.span.start) if entry is not None else 0
    return column_of(text, above.span.start)


def _key_below(node: Node, text: str, offset: int) -> Cursor | None:
    """Read a plain scalar that begins on a line below its key as the beginning of a mapping."""
    if node.step is None and node.parent is not None:
        return None
    if node.parent is not None and node.parent.kind != "mapping":
        return None
    entry = node.holder
    start = line_start_of(text, node.span.start)
    if entry is not None and line_start_of(text, entry.key.span.start) == start:
        return None
    replace = _content_of_line(text, line_start_of(text, offset), offset)
    return Cursor(
        node.path,
        "key",
        None,
        text[replace.start : offset],
        replace,
        column_of(text, replace.start),
        node,
    )


def _in_scalar(node: Node, text: str, replace: Span, offset: int) -> Cursor:
    parent = node.parent
    path = node.path
    prefix = text[replace.start : offset]
    if parent is not None and parent.kind == "sequence":
        return Cursor(
            path[:-1], "item", _last_key(path), prefix, replace, column_of(text, node.span.start), node
        )
    if parent is None or node.step is None:
        return Cursor(path, "none", None, prefix, replace, column_of(text, node.span.start), node)
    indent = _holder_column(node, text)
    return Cursor(path[:-1], "value", str(path[-1]), prefix, replace, indent, node, _keys(parent, None))


def _last_key(path: Path) -> str | None:
    return next((step for step in reversed(path) if isinstance(step, str)), None)


def _content_of_line(text: str, start: int, offset: int) -> Span:
    end = start
    while end < len(text) and text[end] not in "\r\n":
        end += 1
    while start < offset and text[start] in " \t":
        start += 1
    return Span(start, max(start + len(text[start:end].rstrip()), offset))


def _in_comment(text: str, start: int, offset: int) -> bool:
    """Return whether the cursor is in a comment; ``start`` is the start of its line."""
    at = start
    while (mark := _COMMENT_OR_QUOTE.search(text, at, offset)) is not None:
        if mark[0] == "#":
            return True
        closed = text.find(mark[0], mark.end(), offset)
        if closed < 0:
            return False
        at = closed + 1
    return False


def _is_after_brackets(root: Node | None, text: str, offset: int) -> bool:
    """Return whether the entire document is in brackets that are closed."""
    if root is None or root.style != "flow" or root.span.end > offset:
        return False
    return text[root.span.end - 1 : root.span.end] in {"]", "}"}


def _keys(mapping: Node | None, but: Entry | None) -> tuple[str, ...]:
    if mapping is None:
        return ()
    names = mapping.key_names
    if but is None:
        return names
    index = mapping.children_before(but.key.span.start) // 2
    return names[:index] + names[index + 1 :]


class _Line:
    """The line of the cursor, parsed from left to right: dashes, a key, a value."""

    def __init__(self, tree: Tree, offset: int, start: int, frames: list[Frame]) -> None:
        self.text = tree.text
        self.offset = offset
        self.frames = frames
        self.content = start
        while self.content < len(self.text) and self.text[self.content] == " ":
            self.content += 1
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        self.end = end - (end > start and self.text[end - 1] == "\r")

    def cursor(self) -> Cursor:
        path: Path = ()
        node: Node | None = None
        dashed = False
        while (
            len(path) < MAX_DEPTH
            and (dash := dash_at(self.text, self.content))
            and dash.start() < self.offset
        ):
            path, node = self.next_item(dash.start(), path, node, dashed)
            dashed = True
            self.content = min(dash.end(), self.end)
            if self.offset <= self.content:
                self.content = max(min(self.offset, self.content), dash.start() + 1)
                break
        if self.content > self.offset or not self.text[self.content : self.end].strip():
            return self.at_blank(path, node, dashed)
        return self.at_text(path, node, dashed)

    def next_item(self, dash: int, path: Path, node: Node | None, nested: bool) -> tuple[Path, Node | None]:
        """Return the path of the item after a dash and its node, if the tree has it."""
        if nested:
            inner = node.get(0) if node is not None and node.kind == "sequence" else None
            return (*path, 0), inner
        column = column_of(self.text, dash)
        frame = self.list_frame(column)
        if frame is None:
            return (0,), None
        index = frame.count
        is_list = frame.node is not None and frame.node.kind == "sequence"
        return (*frame.path, index), frame.node.nth_child(index) if frame.node and is_list else None

    def list_frame(self, column: int) -> Frame | None:
        """Return the list whose dashes are nearest to a column, or the empty value that becomes one."""
        lists = [frame for frame in self.frames if frame.kind in {"sequence", "empty"}]
        for frame in reversed(lists):
            if frame.kind == "empty" and (
                column > frame.column or (column == frame.column and not frame.in_list)
            ):
                return frame
            if frame.kind == "sequence" and frame.column == column:
                return frame
        lists = [frame for frame in lists if frame.kind == "sequence"]
        return min(reversed(lists), key=lambda frame: abs(frame.column - column), default=None)

    def at_blank(self, path: Path, node: Node | None, dashed: bool) -> Cursor:
        here = Span(self.offset, self.offset)
        column = column_of(self.text, self.offset)
        if dashed:
            keys = _keys(node, None)
            return Cursor(path[:-1], "item", _last_key(path), "", here, column, node, keys)
        frame = self.key_frame(column)
        if frame is None:
            return Cursor((), "key", None, "", here, column)
        if frame.kind == "sequence":
            return Cursor(frame.path, "item", _last_key(frame.path), "", here, frame.column, needs_dash=True)
        indent = frame.column if frame.kind == "mapping" else column
        return Cursor(frame.path, "key", None, "", here, indent, frame.node, _keys(frame.node, None))

    def key_frame(self, column: int) -> Frame | None:
        """Return the deepest container whose children may be at a column, or else the nearest one."""
        for frame in reversed(self.frames):
            if frame.kind == "empty" and column > frame.column:
                return frame
            if frame.kind == "mapping" and column == frame.column:
                return frame
            if frame.kind == "sequence" and column == frame.column and not frame.indentless:
                return frame
        mappings = [frame for frame in self.frames if frame.kind == "mapping"]
        return min(reversed(mappings), key=lambda frame: abs(frame.column - column), default=None)

    def at_text(self, path: Path, node: Node | None, dashed: bool) -> Cursor:
        column = column_of(self.text, self.content)
        self.content = after_properties(self.text, self.content, self.offset)
        key = key_at(self.text, self.content)
        if key is None and dashed:
            replace, prefix = self.word(self.content)
            keys = _keys(node, None)
            return Cursor(path[:-1], "item", _last_key(path), prefix, replace, column, node, keys)
        mapping = node if node is not None and node.kind == "mapping" else None
        if not dashed:
            frame = self.key_frame(column)
            if frame is not None:
                path, node = frame.path, frame.node
                mapping = node if node is not None and node.kind == "mapping" else None
        entry = mapping.entry_at(self.content) if mapping is not None else None
        if entry is not None and entry.key.span.start != self.content:
            entry = None
        keys = _keys(mapping, entry)
        if key is None or self.offset < key.end():
            alone = _COLON.match(self.text, self.content) is not None
            end = self.content + len(key["key"].rstrip()) if key else self.content if alone else self.end
            replace, prefix = self.word(self.content, end)
            return Cursor(
                path, "key", key["key"].rstrip() if key else None, prefix, replace, column, node, keys
            )
        replace, prefix = self.word(key.end())
        name = entry.key.value if entry else key["key"].rstrip()
        value = entry.value if entry else None
        return Cursor(path, "value", name, prefix, replace, column, value, keys)

    def word(self, start: int, end: int | None = None) -> tuple[Span, str]:
        """Return the span of the word around the cursor from ``start`` on (inside quotes), and its prefix."""
        text = self.text
        end = self.end if end is None else end
        while start < self.offset and text[start] in " \t":
            start += 1
        stop = start = after_properties(text, start, self.offset)
        if text[start : start + 1] in {'"', "'"} and self.offset > start:
            quote = text[start]
            start += 1
            stop = text.find(quote, self.offset, end)
            stop = end if stop < 0 else stop
        else:
            stop = end
            comment = text.find(" #", start, end)
            stop = comment if comment >= self.offset else stop
            stop = start + len(text[start:stop].rstrip())
        return Span(start, max(stop, self.offset)), text[start : self.offset]
