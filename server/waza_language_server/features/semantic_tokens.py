"""Semantic tokens: code inside strings, and the names of graders, tasks, skills, tools and models.

Architecture invariant: the tokens of a grader are cached until it is edited, so an edit computes those of one
grader, whatever the size of the suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import TokenKind, TokenPart
from waza_language_server.features.surroundings import EmbeddedValue
from waza_language_server.schema.catalog import Catalog
from waza_language_server.schema.locate import grader_shape, located_below, values_and_graders
from waza_language_server.syntax.aliases import contains_alias
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.schema.shape import Shape

_WORDS: dict[str, TokenKind] = {
    "grader.type": "type",
    "grader.name": "method",
    "task.id": "function",
    "skill.name": "namespace",
    "tool.name": "function",
    "model": "enumMember",
    "executor": "enumMember",
}
"""The kinds, as schemas state them, whose values are one word."""
_DEFINED_BY = {"grader.name": "name", "task.id": "id"}
_LINE = compiled_later(r"[^\r\n]+")
_TOKENS_PER_CHECKPOINT = 500


@frozen()
class SemanticToken:
    """Characters of one line that have a kind."""

    start: int
    end: int
    kind: TokenKind
    part: TokenPart = ""


Tokens = tuple[SemanticToken, ...]
_cached: WeakKeyDictionary[Catalog, WeakKeyDictionary[Green, Tokens]] = WeakKeyDictionary()
"""The tokens of a grader entry, with offsets from its start, by schemas and entry."""


def semantic_tokens(document: Document, workspace: Workspace, span: Span | None = None) -> Tokens:
    """Return the tokens in a part of a document (all of it without ``span``), in order."""
    root, catalog = document.tree.root, workspace.catalog.of(document.kind)
    if root is None:
        return ()
    found: list[SemanticToken] = []
    for node, shape in values_and_graders(root, catalog.document(document.kind), span):
        checkpoint()
        if shape is None:
            found += _of_grader(document, catalog, node)
        else:
            found += _of_value(document.text, node, shape)
    checkpoint()
    found.sort(key=lambda each: each.start)
    kept: list[SemanticToken] = []
    for number, each in enumerate(found):
        if not number % _TOKENS_PER_CHECKPOINT:
            checkpoint()
        if (span is None or (each.start < span.end and each.end > span.start)) and (
            not kept or each.start >= kept[-1].end
        ):
            kept.append(each)
    return tuple(kept)


def _of_grader(document: Document, catalog: Catalog, entry: Node) -> list[SemanticToken]:
    memory = _cached.setdefault(catalog, WeakKeyDictionary())
    known = memory.get(entry.green)
    if known is not None:
        return [_shifted(each, entry.offset) for each in known]
    found: list[SemanticToken] = []
    for node, shape in located_below(entry, grader_shape(entry, catalog), catalog):
        checkpoint()
        found += _of_value(document.text, node, shape)
    if not contains_alias(entry.green) and not document.tree.broken(entry):
        memory[entry.green] = tuple(_shifted(each, -entry.offset) for each in found)
    return found


def _of_value(text: str, node: Node, shape: Shape) -> Iterator[SemanticToken]:
    if node.kind != "scalar" or shape.kind is None or not len(node.span):
        return
    word = _WORDS.get(shape.kind)
    if word is not None:
        defines = node.step is not None and node.step == _DEFINED_BY.get(shape.kind)
        for piece in _lines(text, node.span):
            yield SemanticToken(piece.start, piece.end, word, "declaration" if defines else "")
        return
    value = EmbeddedValue.of(text, node, shape.kind)
    if value is None:
        return
    for token in value.language.tokens(value.scalar.value):
        span = value.scalar.source_span(token.start, token.end)
        for piece in _lines(text, span):
            yield SemanticToken(piece.start, piece.end, token.kind, token.part)


def _lines(text: str, span: Span) -> Iterator[Span]:
    """Yield the parts of a span that are on one line each, without the indentation of later ones."""
    written = text[span.start : span.end]
    for match in _LINE.finditer(written):
        start = match.start()
        if start:
            start += len(match[0]) - len(match[0].lstrip(" \t"))
        if start < match.end():
            yield Span(span.start + start, span.start + match.end())


def _shifted(token: SemanticToken, by: int) -> SemanticToken:
    return SemanticToken(token.start + by, token.end + by, token.kind, token.part)
