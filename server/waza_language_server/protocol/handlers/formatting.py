"""The layout of a file, or of the lines of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.steps import in_steps
from waza_language_server.features.formatting import format_in_steps
from waza_language_server.protocol.convert import Converter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def whole(ls: WazaServer, params: types.DocumentFormattingParams) -> Answer[list[types.TextEdit]]:
    """Return the edits that lay out a file; none where it is laid out or cannot be read."""
    return _formatted(ls, params.text_document.uri, None)


def in_range(ls: WazaServer, params: types.DocumentRangeFormattingParams) -> Answer[list[types.TextEdit]]:
    """Return the edits that lay out the lines that a range touches."""
    return _formatted(ls, params.text_document.uri, params.range)


def _formatted(ls: WazaServer, uri: str, chosen: types.Range | None) -> Answer[list[types.TextEdit]]:
    def edits(document: Document) -> Steps[list[types.TextEdit] | None]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        span = Span(convert.offset(chosen.start), convert.offset(chosen.end)) if chosen is not None else None
        found = yield from format_in_steps(document, span)
        return (yield from in_steps(types.TextEdit(convert.range(edit.span), edit.text) for edit in found))

    return ls.diagnostics.answer(uri, edits)
