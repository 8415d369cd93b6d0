"""Hover of an alias: the value that it repeats."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from waza_engine.markdown import code, fenced
from waza_language_server.project.mentions import anchor_at
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Node

MAX_LINES = 15
MAX_WIDTH = 200


def aliased_value(document: Document, offset: int) -> tuple[Span, str] | None:
    """Return the span and the value of an alias at an offset, in Markdown; None if there is none."""
    mention = anchor_at(document.tree, offset)
    root = document.tree.root
    if mention is None or root is None or mention.defines:
        return None
    node = root.at(mention.span.start)
    target = node.target
    if node.kind != "alias" or target is node:
        return None
    line = document.lines.line_of(target.span.start) + 1
    heading = f"**Alias {code('*' + mention.name)}** repeats the value of line {line}"
    return node.span, f"{heading}\n\n{fenced(_excerpt(document.text, target), 'yaml')}"


def _excerpt(text: str, node: Node) -> str:
    """Return how a value is written, moved to the left, at most ``MAX_LINES`` of it."""
    start = node.span.start
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    written = " " * (start - begin) if not text[begin:start].strip(" ") or node.style == "block" else ""
    lines = dedent(written + text[start : node.span.end]).splitlines() or [""]
    shown = [line[:MAX_WIDTH] for line in lines[:MAX_LINES]]
    return "\n".join(shown + (["…"] if len(lines) > MAX_LINES else []))
