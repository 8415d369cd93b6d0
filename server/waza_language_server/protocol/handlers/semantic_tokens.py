"""What is coloured in a document, as a whole, in a part, and as what differs from before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.semantic_tokens import semantic_tokens_in_steps
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.token_legend import KINDS, PARTS

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer
    from waza_language_server.text.span import Span


def full(ls: WazaServer, params: types.SemanticTokensParams) -> Answer[types.SemanticTokens]:
    """Return all tokens of a document."""
    uri = params.text_document.uri

    def colour(document: Document) -> Steps[types.SemanticTokens]:
        data = yield from _data(ls, document)
        return types.SemanticTokens(data, ls.sent_tokens.send(uri, data))

    return ls.diagnostics.answer(uri, colour)


def delta(
    ls: WazaServer, params: types.SemanticTokensDeltaParams
) -> Answer[types.SemanticTokens | types.SemanticTokensDelta]:
    """Return what differs from the tokens that the client has, or all when they are not known any more."""
    uri = params.text_document.uri

    def colour(document: Document) -> Steps[types.SemanticTokens | types.SemanticTokensDelta]:
        data = yield from _data(ls, document)
        difference = ls.sent_tokens.difference(uri, params.previous_result_id, data)
        identifier = ls.sent_tokens.send(uri, data)
        if difference is None:
            return types.SemanticTokens(data, identifier)
        edit = types.SemanticTokensEdit(difference.start, difference.deleted, difference.inserted)
        changed = difference.deleted or difference.inserted
        return types.SemanticTokensDelta([edit] if changed else [], identifier)

    return ls.diagnostics.answer(uri, colour)


def in_range(ls: WazaServer, params: types.SemanticTokensRangeParams) -> Answer[types.SemanticTokens]:
    """Return the tokens in a part of a document."""

    def colour(document: Document) -> Steps[types.SemanticTokens]:
        span = Converter(document, ls.session.encoding, ls.abilities).span(params.range)
        return types.SemanticTokens((yield from _data(ls, document, span)))

    return ls.diagnostics.answer(params.text_document.uri, colour)


def _data(ls: WazaServer, document: Document, span: Span | None = None) -> Steps[list[int]]:
    """Return five numbers a token: lines and columns from the one before, length, kind and parts."""
    tokens = yield from semantic_tokens_in_steps(document, ls.session.workspace, span)
    data: list[int] = []
    line = column = 0
    for position, token in enumerate(tokens):
        if position % 64 == 0:
            yield
        at, start = document.lines.position(token.start, ls.session.encoding)
        _, end = document.lines.position(token.end, ls.session.encoding)
        part = 1 << PARTS.index(token.part) if token.part else 0
        ahead = start - column if at == line else start
        data += (at - line, ahead, end - start, KINDS.index(token.kind), part)
        line, column = at, start
    return data
