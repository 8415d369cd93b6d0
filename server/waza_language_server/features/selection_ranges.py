"""Selection ranges for "expand selection": the value, then with its key, the item, the list, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Node


def selections(document: Document, offset: int) -> tuple[Span, ...]:
    """Return the spans around an offset, each inside of the next; the last is the whole document."""
    found: list[Span] = []
    node: Node | None = document.tree.root.at(offset) if document.tree.root is not None else None
    while node is not None:
        spans = [_inside_quotes(node), node.span] if node.kind == "scalar" and not found else [node.span]
        if node.holder is not None:
            spans.append(node.holder.span)
        found += [span for span in spans if _holds(span, Span(offset, offset))]
        node = node.parent
    growing: list[Span] = []
    for span in (*found, Span(0, len(document.text))):
        if not growing or (span != growing[-1] and _holds(span, growing[-1])):
            growing.append(span)
    return tuple(growing)


def _inside_quotes(scalar: Node) -> Span:
    quoted = scalar.style in ("single", "double") and scalar.span.end - scalar.span.start > 2
    return Span(scalar.span.start + 1, scalar.span.end - 1) if quoted else scalar.span


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
