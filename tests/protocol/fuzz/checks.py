"""What must be true of every answer, whatever was asked and whatever the text is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lsprotocol import converters, types

from tests.protocol.fuzz.findings import FoundError
from tests.protocol.fuzz.model_text import Text

CANCELLED = {-32800, -32801, -32802}
CONTENT_MODIFIED = -32801
INTERNAL_ERROR = -32603
ON_ONE_TEXT = frozenset(
    f"textDocument/{name}"
    for name in (
        "completion",
        "onTypeFormatting",
        "hover",
        "codeAction",
        "codeLens",
        "inlayHint",
        "diagnostic",
        "definition",
        "references",
        "documentHighlight",
        "prepareRename",
        "rename",
        "signatureHelp",
        "semanticTokens/full",
        "semanticTokens/full/delta",
        "semanticTokens/range",
        "documentSymbol",
        "foldingRange",
        "selectionRange",
        "documentLink",
    )
)
REFUSALS = {"textDocument/rename": (-32803,), "workspace/willRenameFiles": (-32803,)}
"""What may be refused, and the codes of the errors that say so."""
ON_ALL_TEXTS = frozenset(
    {
        "textDocument/definition",
        "textDocument/references",
        "textDocument/rename",
        "workspace/symbol",
        "workspace/willRenameFiles",
        "workspace/willDeleteFiles",
    }
)
"""What is refused when any document has changed meanwhile, and only then."""
SERVER_REQUESTS = frozenset(
    {
        "client/registerCapability",
        "client/unregisterCapability",
        "window/workDoneProgress/create",
        "window/showMessageRequest",
        "workspace/inlayHint/refresh",
        "workspace/codeLens/refresh",
        "workspace/diagnostic/refresh",
        "workspace/configuration",
        "workspace/workspaceFolders",
    }
)
SERVER_NOTIFICATIONS = frozenset(
    {
        "textDocument/publishDiagnostics",
        "window/showMessage",
        "window/logMessage",
        "$/progress",
        "$/logTrace",
    }
)

_converter = converters.get_converter()


_WITHOUT_PLACES = frozenset({"textDocument/semanticTokens/full/delta", "textDocument/signatureHelp"})


def check_shape(method: str, answer: Mapping[str, Any]) -> None:
    """Let the protocol's own classes read an answer."""
    known = types.METHOD_TO_TYPES.get(method)
    if known is None:
        return
    try:
        _converter.structure(answer, known[1])
    except Exception as error:
        raise FoundError(f"shape of {method}", f"{error!r}: {answer!r:.500}") from error


def check_notification_shape(message: Mapping[str, Any]) -> None:
    """Let the protocol's own classes read a request or notification of the server."""
    known = types.METHOD_TO_TYPES[str(message["method"])]
    try:
        _converter.structure(message, known[0])
    except Exception as error:
        raise FoundError(f"shape of {message['method']}", f"{error!r}: {message!r:.500}") from error


def check_places(method: str, params: Any, result: Any, texts: Sequence[Text]) -> None:
    """Check the places in an answer against the text asked about: one of ``texts``, which came meanwhile."""
    complaint = ""
    for text in texts:
        complaint = next(_complaints(method, params, result, text), "")
        if not complaint:
            return
    if complaint:
        raise FoundError(f"places of {method}", complaint)
    if not texts and result and result != {"items": []} and result.get("items", True):
        raise FoundError(f"answer of {method} for a document that is not open", f"{result!r:.300}")


def check_published(uri: str, diagnostics: Sequence[Mapping[str, Any]], text: Text) -> None:
    """Check the places of diagnostics that were pushed."""
    complaint = next(_diagnostics(uri, diagnostics, text), "")
    if complaint:
        raise FoundError("places of textDocument/publishDiagnostics", complaint)


def _complaints(method: str, params: Any, result: Any, text: Text) -> Iterator[str]:
    uri = params["textDocument"]["uri"]
    if not result or method in _WITHOUT_PLACES:
        return
    if method == "textDocument/diagnostic":
        yield from _diagnostics(uri, result.get("items", ()), text)
    elif method == "textDocument/codeLens":
        for lens in result:
            yield from _range(lens["range"], text, lens)
    elif method == "textDocument/inlayHint":
        yield from (f"no such position: {hint!r:.300}" for hint in result if not text.holds(hint["position"]))
    elif method in {"textDocument/semanticTokens/full", "textDocument/semanticTokens/range"}:
        yield from _tokens(result["data"], text)
    elif method == "textDocument/codeAction":
        yield from _actions(uri, result, text)
    elif method in _RANGES:
        for span in _RANGES[method](result, uri):
            yield from _range(span, text, result)
    else:
        cursor = text.position(text.offset(params["position"]))
        items = result["items"] if method == "textDocument/completion" else [result]
        for item in items:
            yield from _item(item, cursor, text)


def _actions(uri: str, result: Any, text: Text) -> Iterator[str]:
    for action in result:
        yield from _diagnostics(uri, action.get("diagnostics", ()), text)
        for edit in edits_of(action, uri):
            yield from _range(edit["range"], text, action)


def _tokens(data: Sequence[int], text: Text) -> Iterator[str]:
    """Check that tokens come in order, do not overlap, and stand in the text, each on one line."""
    line = column = behind = 0
    for at in range(0, len(data), 5):
        down, right, length = data[at : at + 3]
        line, column = line + down, right if down else column + right
        start, end = ({"line": line, "character": each} for each in (column, column + length))
        if not length or not text.holds(start) or not text.holds(end) or (not down and column < behind):
            yield f"no such token: {data[at : at + 5]} at {start}"
            return
        behind = column + length


def _item(item: Mapping[str, Any], cursor: Mapping[str, int], text: Text) -> Iterator[str]:
    """Check one suggestion or explanation: it belongs to the cursor."""
    suggested = item.get("textEdit")
    span = suggested["range"] if suggested is not None else item.get("range")
    if span is not None:
        yield from _range(span, text, item)
        yield from _around(cursor, span, item)
        if suggested is not None and span["start"]["line"] != span["end"]["line"]:
            yield f"more than one line: {item!r:.300}"
    if item.get("label") == "":
        yield f"an item without a label: {item!r:.300}"


def _locations(result: Any, uri: str) -> list[Any]:
    return [place["range"] for place in result if place["uri"] == uri]


def edits_of(action: Mapping[str, Any], uri: str) -> list[dict[str, Any]]:
    """Return the edits of a code action in this document."""
    edit = action.get("edit") or {}
    found = list(edit.get("changes", {}).get(uri, ()))
    for change in edit.get("documentChanges", ()):
        if change.get("textDocument", {}).get("uri") == uri:
            found += change["edits"]
    return found


def _symbols(result: Any, uri: str) -> list[Any]:
    found: list[Any] = []
    for symbol in result:
        if "location" in symbol:
            found += _locations([symbol["location"]], uri)
        else:
            found += [symbol["range"], symbol["selectionRange"]]
            found += _symbols(symbol.get("children") or (), uri)
    return found


def _folds(result: Any, _uri: str) -> list[Any]:
    lines = (("start", "startLine"), ("end", "endLine"))
    return [{end: {"line": fold[line], "character": 0} for end, line in lines} for fold in result]


def _growing(result: Any, _uri: str) -> list[Any]:
    found: list[Any] = []
    for chain in result:
        selected = chain
        while selected is not None:
            found.append(selected["range"])
            selected = selected.get("parent")
    return found


_RANGES: Mapping[str, Callable[[Any, str], list[Any]]] = {
    "textDocument/definition": _locations,
    "textDocument/references": _locations,
    "textDocument/documentSymbol": _symbols,
    "textDocument/foldingRange": _folds,
    "textDocument/selectionRange": _growing,
    "textDocument/documentLink": lambda result, _: [link["range"] for link in result],
    "textDocument/documentHighlight": lambda result, _: [highlight["range"] for highlight in result],
    "textDocument/onTypeFormatting": lambda result, _: [edit["range"] for edit in result],
    "textDocument/rename": lambda result, uri: [edit["range"] for edit in edits_of({"edit": result}, uri)],
}


def _diagnostics(uri: str, diagnostics: Sequence[Mapping[str, Any]], text: Text) -> Iterator[str]:
    for diagnostic in diagnostics:
        yield from _range(diagnostic["range"], text, diagnostic)
        if not diagnostic["message"] or not diagnostic.get("code"):
            yield f"a diagnostic without words or code: {diagnostic!r:.300}"
        for related in diagnostic.get("relatedInformation", ()):
            if related["location"]["uri"] == uri:
                yield from _range(related["location"]["range"], text, diagnostic)


def _range(span: Mapping[str, Mapping[str, int]], text: Text, what: object) -> Iterator[str]:
    start, end = dict(span["start"]), dict(span["end"])
    if not text.holds(start) or not text.holds(end):
        yield f"no such range: {what!r:.300}"
    if _order(start) > _order(end):
        yield f"a range that ends before it starts: {what!r:.300}"


def _around(cursor: Mapping[str, int], span: Mapping[str, Mapping[str, int]], what: object) -> Iterator[str]:
    if not _order(span["start"]) <= _order(cursor) <= _order(span["end"]):
        yield f"a range without the cursor at {dict(cursor)}: {what!r:.300}"


def _order(position: Mapping[str, int]) -> tuple[int, int]:
    return position["line"], position["character"]
