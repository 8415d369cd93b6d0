"""What can be written at the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.features.completion import complete
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.protocol.server import WazaServer


def completion(ls: WazaServer, params: types.CompletionParams) -> types.CompletionList | None:
    """Return what can be written at a position."""
    document = ls.session.document(params.text_document.uri)
    if document is None:
        return None
    convert = Converter(document, ls.session.encoding, ls.abilities)
    offset = convert.offset(params.position)
    return convert.completions(complete(document, ls.session.project, offset, ls.session.catalog))
