"""Semantic tokens: of an entire document, of a range, and as a delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.semantic_tokens import semantic_tokens
from waza_language_server.protocol.feature_table import KINDS, PARTS
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.protocol.services.sent_tokens import difference
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


def full(ls: WazaServer, params: types.SemanticTokensParams) -> types.SemanticTokens | None:
    """Return all tokens of a document."""

    def colour(document: Document) -> types.SemanticTokens:
        data = _data(ls, document)
        return types.SemanticTokens(data, ls.sent_tokens.send(document.uri, data))

    return ls.diagnostics.answer(params.text_document.uri, colour)


def delta(
    ls: WazaServer, params: types.SemanticTokensDeltaParams
) -> types.SemanticTokens | types.SemanticTokensDelta | None:
    """Return what differs from the tokens that the client has, or all when they are not known any more."""
    uri = params.text_document.uri

    def colour(document: Document) -> types.SemanticTokens | types.SemanticTokensDelta:
        known = ls.sent_tokens.sent(uri, params.previous_result_id)
        data = _data(ls, document)
        identifier = ls.sent_tokens.send(uri, data)
        if known is None:
            return types.SemanticTokens(data, identifier)
        differs = difference(known, data)
        edits = [types.SemanticTokensEdit(*differs)] if differs.deleted or differs.inserted else []
        return types.SemanticTokensDelta(edits, identifier)

    return ls.diagnostics.answer(uri, colour)


def in_range(ls: WazaServer, params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
    """Return the tokens in a part of a document."""

    def colour(document: Document) -> types.SemanticTokens:
        span = Converter(document, ls.session.encoding, ls.abilities).span(params.range)
        return types.SemanticTokens(_data(ls, document, span))

    return ls.diagnostics.answer(params.text_document.uri, colour)


def _data(ls: WazaServer, document: Document, span: Span | None = None) -> list[int]:
    """Return five numbers a token: lines and columns from the one before, length, kind and parts."""
    tokens = semantic_tokens(document, ls.session.workspace, span)
    data: list[int] = []
    line = column = 0
    for position, token in enumerate(tokens):
        if position % 64 == 0:
            checkpoint()
        at, start = document.lines.position(token.start, ls.session.encoding)
        _, end = document.lines.position(token.end, ls.session.encoding)
        part = 1 << PARTS.index(token.part) if token.part else 0
        ahead = start - column if at == line else start
        data += (at - line, ahead, end - start, KINDS.index(token.kind), part)
        line, column = at, start
    return data
