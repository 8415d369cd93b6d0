"""How a document is built: its outline, what folds, how a selection grows, which names are links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from waza_engine.steps import in_steps
from waza_language_server.features.document_links import document_links
from waza_language_server.features.folding import MOST, folds
from waza_language_server.features.outline import outline
from waza_language_server.features.selection_ranges import selections
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.convert import Converter
from waza_language_server.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_engine.steps import Steps
    from waza_language_server.features.outline import OutlineSymbol, SymbolWord
    from waza_language_server.project.document import Document
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.schedule import Answer
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
) -> Answer[list[types.DocumentSymbol] | list[types.SymbolInformation]]:
    """Return the symbols of a document: a tree, or a list for a client that shows no trees."""
    uri = params.text_document.uri

    def find(document: Document) -> Steps[list[types.DocumentSymbol] | list[types.SymbolInformation]]:
        found = yield from outline(document)
        convert = Converter(document, ls.session.encoding, ls.abilities)
        if ls.abilities.shows_symbol_trees:
            return (yield from _trees(convert, found))
        return (yield from _flat(convert, uri, found, ""))

    return ls.diagnostics.answer(uri, find)


def folding_ranges(ls: WazaServer, params: types.FoldingRangeParams) -> Answer[list[types.FoldingRange]]:
    """Return what can be folded."""

    def find(document: Document) -> Steps[list[types.FoldingRange]]:
        found = yield from folds(document, ls.abilities.most_folds or MOST)
        comment = types.FoldingRangeKind.Comment
        return (
            yield from in_steps(
                types.FoldingRange(fold.start, fold.end, kind=comment if fold.is_comment else None)
                for fold in found
            )
        )

    return ls.diagnostics.answer(params.text_document.uri, find)


def selection_ranges(
    ls: WazaServer, params: types.SelectionRangeParams
) -> Answer[list[types.SelectionRange]]:
    """Return how a selection grows from each position."""

    def find(document: Document) -> Steps[list[types.SelectionRange]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        return (
            yield from in_steps(
                _chain(convert, selections(document, convert.offset(position)))
                for position in params.positions
            )
        )

    return ls.diagnostics.answer(params.text_document.uri, find)


def links(ls: WazaServer, params: types.DocumentLinkParams) -> Answer[list[types.DocumentLink]]:
    """Return the names of a document that lead to files."""

    def find(document: Document) -> Steps[list[types.DocumentLink]]:
        convert = Converter(document, ls.session.encoding, ls.abilities)
        found = yield from document_links(document, ls.session.workspace)
        return (
            yield from in_steps(
                types.DocumentLink(convert.range(link.span), uri_of(link.target), label(link.tooltip) or None)
                for link in found
            )
        )

    return ls.diagnostics.answer(params.text_document.uri, find)


def _trees(convert: Converter, found: Sequence[OutlineSymbol]) -> Steps[list[types.DocumentSymbol]]:
    symbols: list[types.DocumentSymbol] = []
    for each in found:
        yield
        below = yield from _trees(convert, each.below)
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
) -> Steps[list[types.SymbolInformation]]:
    symbols: list[types.SymbolInformation] = []
    for each in found:
        yield
        place, name = types.Location(uri, convert.range(each.whole)), label(each.name)
        symbols.append(
            types.SymbolInformation(place, name, _KINDS[each.kind], container_name=container or None)
        )
        symbols += yield from _flat(convert, uri, each.below, name)
    return symbols


def _chain(convert: Converter, spans: Sequence[Span]) -> types.SelectionRange:
    chain: types.SelectionRange | None = None
    for span in reversed(spans):
        chain = types.SelectionRange(convert.range(span), chain)
    assert chain is not None
    return chain
