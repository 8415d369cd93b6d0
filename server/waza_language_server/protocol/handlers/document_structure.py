"""How a document is built: its outline, what folds, how a selection grows, which names are links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.checkpoint import checkpoint, collect
from waza_language_server.features.document_structure import MOST, document_links, folds, outline, selections
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.lsp_conversion import Converter
from waza_language_server.text.label_escaping import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.features.document_structure import OutlineSymbol, SymbolWord
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.text.span import Span

_KINDS: dict[SymbolWord, types.SymbolKind] = {
    "block": types.SymbolKind.Module,
    "list": types.SymbolKind.Array,
    "value": types.SymbolKind.String,
    "grader": types.SymbolKind.Method,
    "task": types.SymbolKind.Function,
    "item": types.SymbolKind.Object,
}


def document_symbols(
    ls: WazaServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
    """Return the symbols of a document: a tree, or a list for a client that shows no trees."""
    uri = params.text_document.uri

    def find(document: Document) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        found = outline(document)
        convert = Converter(document, ls.session.encoding, ls.abilities)
        if ls.abilities.shows_symbol_trees:
            return _trees(convert, found)
        return _flat(convert, uri, found, "")

    return ls.diagnostics.answer(uri, find)


def folding_ranges(ls: WazaServer, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
    """Return what can be folded."""

    def find(document: Document) -> list[types.FoldingRange]:
        found = folds(document, ls.abilities.most_folds or MOST)
        comment = types.FoldingRangeKind.Comment
        return collect(
            types.FoldingRange(fold.start, fold.end, kind=comment if fold.is_comment else None)
            for fold in found
        )

    return ls.diagnostics.answer(params.text_document.uri, find)


def selection_ranges(ls: WazaServer, params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
    """Return how a selection grows from each position."""

    def find(document: Document) -> list[types.SelectionRange]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        return collect(
            _chain(convert, selections(document, convert.offset(position))) for position in params.positions
        )

    return ls.diagnostics.answer(params.text_document.uri, find)


def links(ls: WazaServer, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
    """Return the names of a document that lead to files."""

    def find(document: Document) -> list[types.DocumentLink]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = document_links(document, ls.session.workspace)
        return collect(
            types.DocumentLink(convert.range(link.span), uri_of(link.target), label(link.tooltip) or None)
            for link in found
        )

    return ls.diagnostics.answer(params.text_document.uri, find)


def _trees(convert: Converter, found: Sequence[OutlineSymbol]) -> list[types.DocumentSymbol]:
    symbols: list[types.DocumentSymbol] = []
    for each in found:
        checkpoint()
        below = _trees(convert, each.below)
        whole, named = convert.range(each.whole), convert.range(each.named)
        symbols.append(
            types.DocumentSymbol(
                label(each.name),
                _KINDS[each.kind],
                whole,
                named,
                label(each.detail) or None,
                children=below or None,
            )
        )
    return symbols


def _flat(
    convert: Converter, uri: str, found: Sequence[OutlineSymbol], container: str
) -> list[types.SymbolInformation]:
    symbols: list[types.SymbolInformation] = []
    for each in found:
        checkpoint()
        place, name = types.Location(uri, convert.range(each.whole)), label(each.name)
        symbols.append(
            types.SymbolInformation(place, name, _KINDS[each.kind], container_name=container or None)
        )
        symbols += _flat(convert, uri, each.below, name)
    return symbols


def _chain(convert: Converter, spans: Sequence[Span]) -> types.SelectionRange:
    chain: types.SelectionRange | None = None
    for span in reversed(spans):
        chain = types.SelectionRange(convert.range(span), chain)
    assert chain is not None
    return chain
