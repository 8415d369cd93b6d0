"""Scores at line ends, from the last results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.steps import in_steps
from waza_language_server.features.inlay_hints import inlay_hints_in_steps
from waza_language_server.protocol.convert import Converter
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def inlay_hint(ls: WazaServer, params: types.InlayHintParams) -> Answer[list[types.InlayHint]]:
    """Return the scores in the part of a document that the client shows."""

    def find(document: Document) -> Steps[list[types.InlayHint]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        shown = Span(convert.offset(params.range.start), convert.offset(params.range.end))
        hints = yield from inlay_hints_in_steps(document, ls.session.workspace, shown)
        return (yield from in_steps(map(convert.inlay_hint, hints)))

    return ls.diagnostics.answer(params.text_document.uri, find)
