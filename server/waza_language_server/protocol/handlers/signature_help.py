"""How a function is called while its arguments are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features import signature_help as feature
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer


def signature_help(ls: WazaServer, params: types.SignatureHelpParams) -> Answer[types.SignatureHelp]:
    """Return how the function is called whose arguments stand at a position."""

    def tell(document: Document) -> Steps[types.SignatureHelp | None]:
        offset = Converter(document, ls.session.encoding, ls.abilities).offset(params.position)
        yield
        found = feature.signature_help(document, ls.session.workspace, offset)
        if found is None:
            return None
        documentation = types.MarkupContent(types.MarkupKind.Markdown, found.documentation)
        signature = types.SignatureInformation(
            found.label,
            documentation if found.documentation else None,
            [types.ParameterInformation(each) for each in found.parameters],
        )
        return types.SignatureHelp([signature], 0, found.active)

    return ls.diagnostics.answer(params.text_document.uri, tell)
