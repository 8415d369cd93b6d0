"""The indentation of a line that was just begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.new_line import indent_new_line
from waza_language_server.protocol.convert import Converter

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer


def indent(ls: WazaServer, params: types.DocumentOnTypeFormattingParams) -> list[types.TextEdit] | None:
    """Return the edit that indents a new line, nothing if its indentation is right."""

    def edits(document: Document) -> list[types.TextEdit] | None:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        offset = convert.offset(params.position)
        checkpoint()
        edit = indent_new_line(document, ls.session.workspace, offset)
        return None if edit is None else [types.TextEdit(convert.range(edit.span), edit.text)]

    return ls.diagnostics.answer(params.text_document.uri, edits)
