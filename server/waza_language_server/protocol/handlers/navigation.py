"""Where a name is defined and used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import collect
from waza_language_server.features import navigation
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.protocol.services.edit_conversion import FileConverter
from waza_language_server.text.label_escaping import label

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer

_KINDS = {
    "grader": types.SymbolKind.Method,
    "task": types.SymbolKind.Function,
    "skill": types.SymbolKind.Module,
}


def definition(ls: WazaServer, params: types.DefinitionParams) -> list[types.Location] | None:
    """Return where the symbol at a position is defined."""

    def find(document: Document) -> list[types.Location]:
        offset = Converter(document, ls.session.encoding, ls.abilities).offset(params.position)
        with ls.session.project.disk.cached_lookups():
            found = navigation.definition(document, ls.session.workspace, offset)
        return collect(map(FileConverter(ls.session, ls.abilities).location, found))

    return ls.diagnostics.answer(params.text_document.uri, find)


def references(ls: WazaServer, params: types.ReferenceParams) -> list[types.Location] | None:
    """Return every reference to the symbol at a position."""

    def find(document: Document) -> list[types.Location]:
        offset = Converter(document, ls.session.encoding, ls.abilities).offset(params.position)
        declared = params.context.include_declaration
        workspace = ls.session.workspace
        with workspace.project.disk.cached_lookups():
            found = navigation.all_references(document, workspace, offset, with_definition=declared)
        return collect(map(FileConverter(ls.session, ls.abilities).location, found))

    return ls.diagnostics.answer(params.text_document.uri, find)


def highlights(ls: WazaServer, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
    """Return the references to the symbol at a position in the same document."""

    def find(document: Document) -> list[types.DocumentHighlight]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        offset = convert.offset(params.position)
        found = navigation.highlights(document, ls.session.workspace, offset)
        kinds = types.DocumentHighlightKind
        return [
            types.DocumentHighlight(convert.range(each.span), kinds.Write if each.writes else kinds.Read)
            for each in found
        ]

    return ls.diagnostics.answer(params.text_document.uri, find)


async def workspace_symbols(
    ls: WazaServer, params: types.WorkspaceSymbolParams
) -> list[types.SymbolInformation]:
    """Return the graders, tasks and skills of the workspace that are called like a query."""
    found = await ls.diagnostics.answer_with_cached_lookups(
        lambda workspace: navigation.workspace_symbols(workspace, params.query)
    )
    files = FileConverter(ls.session, ls.abilities)
    return [
        types.SymbolInformation(
            files.location(each.place),
            label(each.name),
            _KINDS[each.kind],
            container_name=label(each.container),
        )
        for each in found
    ]
