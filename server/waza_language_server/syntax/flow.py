"""The position of a cursor inside brackets: ``[a, |]`` and ``{key: |}``, closed or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.frames import Frame, line_start_of
from waza_language_server.syntax.lines import after_properties, dash_at, key_at
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.span import Span

_QUOTED = compiled_later(r'"(?:[^"\\]|\\.)*("?)|\'(?:[^\']|\'\')*(\'?)', re.DOTALL)
_QUOTES = {'"', "'"}
_CLOSES = compiled_later(r"[^\r\n]*\Z")
_AFTER_QUOTE = compiled_later(r"[ \t]*(?:[,:\]}\r\n]|#|\Z)")
_BLANKS = compiled_later(r"\s*+")
_MARK = compiled_later(r"""[\[\]{},:"']|(?<=[ \t\r\n])#""")
_BLANKS_AND_COMMENTS = compiled_later(r"(?:\s|(?<=\s)#[^\r\n]*)*+")
"""Whitespace, line breaks and comments."""


_BRACKETS_AFTER = compiled_later(r"(?:\s|(?<=\s)#[^\r\n]*)*+[\[{]")


@frozen()
class FlowPosition:
    """A place inside brackets, in the terms of ``Cursor``."""

    path: tuple[str | int, ...]
    role: Literal["key", "value", "item", "none"]
    key: str | None
    replace: Span
    node: Node | None
    existing_keys: tuple[str, ...]
    needs_comma: bool = False


@dataclass(slots=True)
class _Level:
    bracket: str
    token: int
    index: int = 0
    key: str | None = None
    in_comment: bool = False


def flow_position(root: Node | None, text: str, offset: int, frames: list[Frame]) -> FlowPosition | None:
    """Return the place of the cursor inside brackets; None when it is outside."""
    found = _collection(root, text, offset, frames)
    if found is None:
        return None
    start, path = found
    levels, stop = _scan(text, start, offset)
    if not levels:
        return None
    steps = [*path, *(level.index if level.bracket == "[" else level.key or "" for level in levels[:-1])]
    level = levels[-1]
    token = level.token
    while token < offset and text[token] in " \t\r\n":
        token += 1
    token = after_properties(text, token, offset)
    node = root.get(*steps) if root is not None else None
    keys = node.key_names if node is not None else ()
    here = tuple(steps)
    before_text = token == offset and text[token : token + 1] in {*_QUOTES, "#"}
    if level.in_comment or before_text or _is_complete(text[token:offset]):
        return FlowPosition(here, "none", None, Span(offset, offset), node, ())
    role = "item" if level.bracket == "[" else "value" if level.key is not None else "key"
    replace = _token_span(text, token, offset, stop, role)
    if role == "value" and not len(replace) and _BRACKETS_AFTER.match(text, offset):
        # The value is complete: text before it would be another one.
        return FlowPosition(here, "none", None, Span(offset, offset), node, ())
    needs_comma = _needs_comma(text, replace, role)
    if role == "item":
        name = next((step for step in reversed(here) if isinstance(step, str)), None)
        item = node.get(level.index) if node is not None else None
        return FlowPosition(here, role, name, replace, item, (), needs_comma)
    if role == "value":
        value = node.get(level.key or "") if node is not None else None
        others = tuple(key for key in keys if key != level.key)
        return FlowPosition(here, role, level.key, replace, value, others, needs_comma)
    typed = text[replace.start : replace.end]
    others = tuple(key for key in keys if key != typed)
    return FlowPosition(here, role, None, replace, node, others, needs_comma)


def _is_complete(typed: str) -> bool:
    """Return whether the text before the cursor is complete: a quoted string, or closed brackets."""
    if typed[:1] in {"[", "{"}:
        return True
    quoted = _QUOTED.match(typed)
    return quoted is not None and bool(quoted[1] or quoted[2])


def _needs_comma(text: str, replace: Span, role: str) -> bool:
    """Return whether the place is followed by text without a separator."""
    end = replace.end
    if text[replace.start - 1 : replace.start] in _QUOTES and text[end : end + 1] in _QUOTES:
        end += 1
    elif role == "value" and len(replace):
        # An unquoted string may continue.
        return False
    blanks = _BLANKS_AND_COMMENTS.match(text, end)
    end = blanks.end() if blanks else end
    return text[end : end + 1] not in {"", ",", "]", "}", ":"}


def _collection(
    root: Node | None, text: str, offset: int, frames: list[Frame]
) -> tuple[int, tuple[str | int, ...]] | None:
    """Return start and path of the outermost brackets that began before the cursor."""
    node = root.at(offset) if root is not None else None
    outermost: Node | None = None
    while node is not None:
        if node.style == "flow" and node.span.start < offset:
            outermost = node
        node = node.parent
    if outermost is not None:
        return outermost.span.start, outermost.path
    last = frames[-1] if frames else None
    if last is not None and last.kind == "flow" and last.node is not None:
        return last.node.span.start, last.path
    return _on_line(root, text, offset)


def _on_line(root: Node | None, text: str, offset: int) -> tuple[int, tuple[str | int, ...]] | None:
    """Find brackets that open a value on the cursor's own line and are not in the tree as such."""
    at = line_start_of(text, offset)
    while at < offset and text[at] == " ":
        at += 1
    while dash := dash_at(text, at):
        at = dash.end()
    if (key := key_at(text, at)) is not None:
        at = key.end()
        while at < offset and text[at] == " ":
            at += 1
    if at >= offset or text[at] not in "[{":
        return None
    node = root.at(at) if root is not None else None
    return at, node.path if node is not None and node.span.start == at else ()


def _scan(text: str, start: int, offset: int) -> tuple[list[_Level], int]:
    """Return the brackets open at the cursor, and where the last quoted token ends."""
    levels: list[_Level] = []
    at, stop = start, -1
    while (mark := _MARK.search(text, at, offset)) is not None:
        at, char = mark.start(), mark[0]
        if char in "[{":
            levels.append(_Level(char, at + 1))
        elif char == "#" and levels:
            at = _after_comment(text, at, levels[-1], offset)
            continue
        elif char in "]}":
            if levels:
                levels.pop()
            if not levels:
                return [], -1
        elif char == "," and levels:
            level = levels[-1]
            level.token, level.key = at + 1, None
            level.index += 1
        elif (
            char == ":"
            and levels
            and levels[-1].bracket == "{"
            and (text[at + 1 : at + 2] in {" ", "\n", "\r", ""} or text[at - 1] in _QUOTES)
        ):
            level = levels[-1]
            if level.key is None:
                level.key = text[level.token : at].strip().strip("\"'")
                level.token = at + 1
        elif char in "\"'" and levels and _BLANKS.fullmatch(text, levels[-1].token, at):
            quoted = _QUOTED.match(text, at)
            if quoted and quoted.end() > offset:
                return levels, quoted.end()
            at = quoted.end() - 1 if quoted else at
        at += 1
    return levels, stop


def _after_comment(text: str, at: int, level: _Level, offset: int) -> int:
    """Skip a comment; return where it ends."""
    end = at
    while end < len(text) and text[end] not in "\r\n":
        end += 1
    level.in_comment = end >= offset
    if _BLANKS.fullmatch(text, level.token, at):
        level.token = end
    return end


def _token_span(text: str, start: int, offset: int, quoted_end: int, role: str) -> Span:
    """Return the token around the cursor, inside its quotes."""
    if quoted_end >= 0:
        closing = quoted_end - 1
        if closing >= offset and text[closing] == text[start] and _CLOSES.match(text, start + 1, closing + 1):
            following = _AFTER_QUOTE.match(text, closing + 1)
            if following is not None:
                return Span(start + 1, closing)
        # The quote is not closed yet: the text after it belongs to others.
        end = offset
        while end < len(text) and text[end] not in ",[]{}:\"' \t\r\n":
            end += 1
        return Span(start + 1, end)
    if start >= offset and role != "value" and text[offset : offset + 1] in {" ", "\t"}:
        # Text further on is another entry.
        return Span(offset, offset)
    ends = ",[]{}\r\n \t" if role == "key" else ",[]{}\r\n"
    end = offset
    while end < len(text) and text[end] not in ends and not text.startswith((": ", " #"), end):
        end += 1
    end = max(offset, start + len(text[start:end].rstrip()))
    return Span(min(start, offset), end)
