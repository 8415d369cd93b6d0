"""What stands under the cursor, explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.documentation import documentation_folder
from waza_language_server.features import hover as feature
from waza_language_server.project.document_scores import PATIENCE_SECONDS
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.handlers.inlay_hint import prepare

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def hover(ls: WazaServer, params: types.HoverParams) -> Answer[types.Hover]:
    """Return the explanation of what stands at a position."""

    def explain(document: Document) -> Steps[types.Hover | None]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        offset = convert.offset(params.position)
        yield
        found = yield from feature.hover_in_steps(
            document,
            ls.session.workspace,
            offset,
            documentation=documentation_folder(),
            patience=PATIENCE_SECONDS,
            prices=ls.model_prices,
        )
        if found is not None and found.text == feature.STILL_READING:
            uri = document.uri
            ls.idle.add(f"scores of {uri}", lambda: prepare(ls, uri))
        return None if found is None else convert.hover(found)

    return ls.diagnostics.answer(params.text_document.uri, explain)
