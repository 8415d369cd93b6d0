"""What stands under the cursor, explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_language_server.documentation import documentation_folder
from waza_language_server.features import hover as feature
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from lsprotocol import types

    from waza_language_server.protocol.server import WazaServer


def hover(ls: WazaServer, params: types.HoverParams) -> types.Hover | None:
    """Return the explanation of what stands at a position."""
    document = ls.session.document(params.text_document.uri)
    if document is None:
        return None
    convert = Converter(document, ls.session.encoding, ls.abilities)
    offset = convert.offset(params.position)
    found = feature.hover(
        document,
        ls.session.project,
        offset,
        catalog=ls.session.catalog,
        documentation=documentation_folder(),
    )
    return None if found is None else convert.hover(found)
