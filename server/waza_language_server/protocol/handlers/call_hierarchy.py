"""Who uses a grader, a task or a skill, and whom it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_language_server.features import call_hierarchy
from waza_language_server.protocol.convert import Converter
from waza_language_server.protocol.edit_conversion import FileConverter
from waza_language_server.text.labels import label
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.workspace_edit import FilePlace

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_engine.steps import Steps
    from waza_language_server.features.call_hierarchy import Call, Part
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer

_KINDS = {
    "grader": types.SymbolKind.Method,
    "task": types.SymbolKind.Function,
    "skill": types.SymbolKind.Module,
    "file": types.SymbolKind.File,
}


def prepare(
    ls: WazaServer, params: types.CallHierarchyPrepareParams
) -> Answer[list[types.CallHierarchyItem]]:
    """Return the parts of suites that are named at a position."""

    def find(document: Document) -> Steps[list[types.CallHierarchyItem]]:
        offset = Converter(document, ls.session.encoding, ls.abilities).offset(params.position)
        found = yield from call_hierarchy.part_at(document, ls.session.workspace, offset)
        return [_item(ls, part) for part in found]

    return ls.diagnostics.answer(params.text_document.uri, find)


async def incoming(
    ls: WazaServer, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall]:
    """Return who uses a part."""
    found = await ls.diagnostics.of_workspace_at_once(_calls(ls, params.item, call_hierarchy.incoming))
    return [types.CallHierarchyIncomingCall(*call) for call in found]


async def outgoing(
    ls: WazaServer, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall]:
    """Return whom a part uses."""
    found = await ls.diagnostics.of_workspace_at_once(_calls(ls, params.item, call_hierarchy.outgoing))
    return [types.CallHierarchyOutgoingCall(*call) for call in found]


def _calls(
    ls: WazaServer,
    item: types.CallHierarchyItem,
    calls: Callable[[Document, Workspace, int], Steps[tuple[Call, ...]]],
) -> Callable[[Workspace], Steps[list[tuple[types.CallHierarchyItem, list[types.Range]]]]]:
    """Return what finds the parts at the other ends of the calls of a part, and where the calls stand."""

    def find(workspace: Workspace) -> Steps[list[tuple[types.CallHierarchyItem, list[types.Range]]]]:
        document, offset = _place(ls, item)
        if document is None:
            return []
        yield from document.read_in_steps()
        found = yield from calls(document, workspace, offset)
        return [(_item(ls, call.part), [_range(ls, place) for place in call.places]) for call in found]

    return find


def _place(ls: WazaServer, item: types.CallHierarchyItem) -> tuple[Document | None, int]:
    document = call_hierarchy.document_of(ls.session.workspace, item.uri)
    if document is None:
        return None, 0
    start = item.selection_range.start
    return document, LineIndex(document.text).offset(start.line, start.character, ls.session.encoding)


def _item(ls: WazaServer, part: Part) -> types.CallHierarchyItem:
    return types.CallHierarchyItem(
        label(part.name),
        _KINDS[part.kind],
        part.uri,
        _range(ls, FilePlace(part.uri, part.text, part.whole)),
        _range(ls, FilePlace(part.uri, part.text, part.name_span)),
    )


def _range(ls: WazaServer, place: FilePlace) -> types.Range:
    return FileConverter(ls.session, ls.abilities).location(place).range
