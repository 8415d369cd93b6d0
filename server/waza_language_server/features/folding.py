"""Folding ranges: keys and items with their blocks, strings of several lines, comments."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.line_index import LineIndex

MOST = 5_000
"""Ranges for a client that sends no limit: the limit of VS Code."""
_PARTS_PER_CHECKPOINT = 16
_COMMENTS = compiled_later(r"[ \t]*#.*(?:\r?\n[ \t]*#.*)+")


@frozen()
class Fold:
    """Lines from 0 that are folded into the first of them; the last is the last that is folded away."""

    start: int
    end: int
    is_comment: bool = False


def folds(document: Document, most: int = MOST) -> tuple[Fold, ...]:
    """Return what can be folded, in the order of the lines; of too many the outermost."""
    root, lines = document.tree.root, document.lines
    found: dict[int, Fold] = {}
    texts: list[Span] = []
    level = [root] if root is not None else []
    while level and len(found) < most:
        below: list[Node] = []
        for node in level:
            for number, (start, value) in enumerate(_parts(node)):
                if not number % _PARTS_PER_CHECKPOINT:
                    checkpoint()
                end = _last_line(document.text, lines, value)
                first = lines.line_of(start)
                if first < end and len(found) < most:
                    found.setdefault(first, Fold(first, end))
                if value.kind == "scalar":
                    texts.append(value.span)
                elif first < end:
                    below.append(value)
        level = below
    texts.sort()
    for comment in _comments(document.text):
        checkpoint()
        if comment is None:
            continue
        at = bisect_right(texts, Span(comment.end(), comment.end())) - 1
        if len(found) < most and not (at >= 0 and texts[at].end > comment.start()):
            first = lines.line_of(comment.start())
            found.setdefault(first, Fold(first, lines.line_of(comment.end()), is_comment=True))
    return tuple(found[first] for first in sorted(found))


def _comments(text: str) -> Iterator[re.Match[str] | None]:
    """Yield the comments of several lines, and None wherever a checkpoint is welcome."""
    at = text.find("#")
    while at >= 0:
        line = text.rfind("\n", 0, at) + 1
        comment = None if text[line:at].strip(" \t") else _COMMENTS.match(text, line)
        yield comment
        behind = text.find("\n", at) if comment is None else comment.end()
        at = text.find("#", behind) if behind >= 0 else -1


def _parts(node: Node) -> Iterator[tuple[int, Node]]:
    """Yield where each part of a node begins, and what can be below its first line."""
    for entry in node.each_entry():
        yield entry.key.span.start, entry.value
    for item in node.each_item():
        yield item.span.start, item


def _last_line(text: str, lines: LineIndex, value: Node) -> int:
    """Return the last line to fold away; a bracket that closes stays in sight, and what follows it."""
    end = value.span.start + len(text[value.span.start : value.span.end].rstrip())
    last = lines.line_of(end)
    line = lines.line_span(last)
    closes = value.style == "flow" and text[line.start : end].strip() in ("]", "}")
    follows = text[end : line.end].lstrip(",]} \t")[:1] not in ("", "#")
    return last - 1 if closes or follows else last
