"""Help while a line is written: completion, signatures of functions, indentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.completion.complete import complete
from waza_language_server.protocol.lsp_conversion import Converter

if TYPE_CHECKING:
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


def signature_help(ls: WazaServer, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """Return the signature of the function whose arguments are at a position."""
    from waza_language_server.features.surroundings import signature_help as feature

    def find(document: Document) -> types.SignatureHelp | None:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        checkpoint()
        found = feature(document, ls.session.workspace, convert.offset(params.position))
        return convert.signature(found) if found is not None else None

    return ls.diagnostics.answer(params.text_document.uri, find)


def indent(ls: WazaServer, params: types.DocumentOnTypeFormattingParams) -> list[types.TextEdit] | None:
    """Return the edit that indents a new line, nothing if its indentation is right."""
    from waza_language_server.features.new_line import indent_new_line

    def edits(document: Document) -> list[types.TextEdit] | None:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        offset = convert.offset(params.position)
        checkpoint()
        edit = indent_new_line(document, ls.session.workspace, offset)
        return None if edit is None else [types.TextEdit(convert.range(edit.span), edit.text)]

    return ls.diagnostics.answer(params.text_document.uri, edits)
