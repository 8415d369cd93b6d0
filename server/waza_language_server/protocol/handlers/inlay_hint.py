"""Scores at line ends, from the last results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features.inlay_hints import inlay_hints
from waza_language_server.protocol.convert import Converter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer


def inlay_hint(ls: WazaServer, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Return the scores in the part of a document that the client shows."""
    document = ls.session.document(params.text_document.uri)
    if document is None:
        return None
    convert = Converter(document, ls.session.encoding, ls.abilities)
    shown = Span(convert.offset(params.range.start), convert.offset(params.range.end))
    return [convert.inlay_hint(hint) for hint in inlay_hints(document, ls.session.project, shown)]
