"""Semantic tokens: of an entire document, of a range, and as a delta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.semantic_tokens import semantic_tokens_in_steps
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.services.sent_tokens import Lines, difference, replaced_lines
from waza_language_server.protocol.token_legend import KINDS, PARTS
from waza_language_server.syntax.changed_part import changed_part
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer
    from waza_language_server.protocol.services.sent_tokens import Difference, Sent


def full(ls: WazaServer, params: types.SemanticTokensParams) -> Answer[types.SemanticTokens]:
    """Return all tokens of a document."""

    def colour(document: Document) -> Steps[types.SemanticTokens]:
        data = yield from _data(ls, document)
        return types.SemanticTokens(data, ls.sent_tokens.send(document, ls.session.workspace.catalog, data))

    return ls.diagnostics.answer(params.text_document.uri, colour)


def delta(
    ls: WazaServer, params: types.SemanticTokensDeltaParams
) -> Answer[types.SemanticTokens | types.SemanticTokensDelta]:
    """Return what differs from the tokens that the client has, or all when they are not known any more."""
    uri = params.text_document.uri

    def colour(document: Document) -> Steps[types.SemanticTokens | types.SemanticTokensDelta]:
        catalog = ls.session.workspace.catalog
        known = ls.sent_tokens.sent(uri, params.previous_result_id)
        if known is None:
            data = yield from _data(ls, document)
            return types.SemanticTokens(data, ls.sent_tokens.send(document, catalog, data))
        differs = (yield from _edited(ls, known, document)) if known.catalog is catalog else None
        if differs is None:
            differs = difference(known.data, (yield from _data(ls, document)))
        start, deleted, inserted = differs
        data = [*known.data[:start], *inserted, *known.data[start + deleted :]]
        edits = [types.SemanticTokensEdit(*differs)] if deleted or inserted else []
        return types.SemanticTokensDelta(edits, ls.sent_tokens.send(document, catalog, data))

    return ls.diagnostics.answer(uri, colour)


def _edited(ls: WazaServer, known: Sent, document: Document) -> Steps[Difference | None]:
    """Return known tokens after an edit: only the affected lines are computed again."""
    part = changed_part(known.document.tree, document.tree) if known.document.kind == document.kind else None
    if part is None:
        return None
    old, new = known.document.lines, document.lines
    first = min(old.line_of(part.start), new.line_of(part.start))
    lines = Lines(first, old.line_of(part.old_end), new.line_of(part.new_end))
    span = Span(new.line_span(first).start, new.line_span(lines.new_last).end)
    tokens = yield from _data(ls, document, span)
    yield
    return replaced_lines(known.data, lines, tokens)


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
