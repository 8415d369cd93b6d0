"""How a function is called while its arguments are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.features import signature_help as feature
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


def signature_help(ls: WazaServer, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """Return the signature of the function whose arguments are at a position."""

    def tell(document: Document) -> types.SignatureHelp | None:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        checkpoint()
        found = feature.signature_help(document, ls.session.workspace, convert.offset(params.position))
        return convert.signature(found) if found is not None else None

    return ls.diagnostics.answer(params.text_document.uri, tell)
