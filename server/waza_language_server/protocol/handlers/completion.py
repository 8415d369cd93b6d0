"""``textDocument/completion``: the items that can be written at the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.completion.complete import complete
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


def completion(ls: WazaServer, params: types.CompletionParams) -> types.CompletionList | None:
    """Return what can be written at a position."""

    def suggest(document: Document) -> types.CompletionList:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        offset = convert.offset(params.position)
        checkpoint()
        found = complete(document, ls.session.workspace, offset, ls.model_prices)
        return convert.completions(found, ls.options.suggest_command)

    return ls.diagnostics.answer(params.text_document.uri, suggest)
