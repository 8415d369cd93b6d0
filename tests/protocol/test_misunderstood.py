"""What a client says and nobody understands is left out; the rest of its message counts."""

import copy
import json
from typing import Any

import pytest
from lsprotocol import types

from waza_language_server.protocol.pygls_internals import understood
from waza_language_server.protocol.server import WazaServer, create_server
from waza_language_server.protocol.serving import Dispatcher

URI = "file:///suites/eval.yaml"
AT = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
ZERO = {"line": 0, "character": 0}
RANGE = {"start": ZERO, "end": ZERO}


class Client:
    """A client in this process: it stands for the wire."""

    def __init__(self) -> None:
        self.server: WazaServer = create_server()
        self.server.protocol.set_writer(self)
        self._dispatcher = Dispatcher(self.server.protocol, self, self.server.turns, lambda: None)  # pyright: ignore[reportArgumentType]
        self.answers: list[Any] = []

    def write(self, data: bytes) -> None:
        self.answers.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def is_cancelled(self, _identifier: object) -> bool:
        return False

    def close(self) -> None:
        """Be there because a writer has it."""

    def introduce(self, params: object) -> dict[str, Any]:
        message: Any = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        self._dispatcher.handle(json.loads(json.dumps(message)))
        return self.answers[-1]


def structured(method: str, params: object) -> Any:
    """Return parameters as a handler gets them."""
    message: Any = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith(("textDocument/did", "workspace/did")):
        message["id"] = 1
    return create_server().protocol.structure_message(message).params


TEXT, WORKSPACE = "textDocument", "workspace"
ODD_CAPABILITIES: list[dict[str, Any]] = [
    {TEXT: {"completion": {"completionItemKind": {"valueSet": [1, 99, "x", None]}}}},
    {TEXT: {"completion": {"completionItem": {"documentationFormat": ["html", "markdown"]}}}},
    {TEXT: {"completion": {"completionItem": {"tagSupport": {"valueSet": [1, 7]}}}}},
    {TEXT: {"completion": {"completionItem": {"tagSupport": {}}}}},
    {TEXT: {"completion": {"completionItem": {"insertTextModeSupport": {"valueSet": [1, 2, 3]}}}}},
    {TEXT: {"completion": {"completionItem": {"resolveSupport": {}}}}},
    {TEXT: {"completion": {"insertTextMode": 9, "contextSupport": []}}},
    {TEXT: {"completion": "yes"}},
    {TEXT: {"codeAction": {"codeActionLiteralSupport": {}}}},
    {TEXT: {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {}}}}},
    {TEXT: {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [1, {}, "x"]}}}}},
    {TEXT: {"codeAction": {"resolveSupport": {}, "tagSupport": {"valueSet": [4]}}}},
    {TEXT: {"publishDiagnostics": {"tagSupport": {"valueSet": [1, 2, 3]}}}},
    {TEXT: {"publishDiagnostics": {"tagSupport": True}}},
    {TEXT: {"signatureHelp": {"signatureInformation": {"documentationFormat": ["markdown", 5]}}}},
    {TEXT: {"documentSymbol": {"symbolKind": {"valueSet": [1, 400]}, "tagSupport": {}}}},
    {TEXT: {"foldingRange": {"foldingRangeKind": {"valueSet": ["region", 3]}, "rangeLimit": "many"}}},
    {TEXT: {"foldingRange": {"rangeLimit": -1}}},
    {TEXT: {"semanticTokens": {"requests": {}}}},
    {TEXT: {"semanticTokens": {"tokenTypes": [], "tokenModifiers": [], "formats": ["absolute"]}}},
    {TEXT: {"rename": {"prepareSupportDefaultBehavior": 8}}},
    {TEXT: {"synchronization": 1}},
    {TEXT: {"inlayHint": {"resolveSupport": {"properties": 3}}}},
    {TEXT: {"diagnostic": 5}},
    {TEXT: {"experimentalThing": {"x": 1}}},
    {TEXT: {"hover": None, "definition": "x", "moniker": []}},
    {WORKSPACE: {"workspaceEdit": {"failureHandling": "retry", "resourceOperations": ["create", "copy"]}}},
    {WORKSPACE: {"workspaceEdit": {"changeAnnotationSupport": 1, "documentChanges": True}}},
    {WORKSPACE: {"symbol": {"symbolKind": {"valueSet": [0]}, "resolveSupport": {}, "tagSupport": {}}}},
    {WORKSPACE: {"fileOperations": 1, "didChangeWatchedFiles": 7}},
    {WORKSPACE: []},
    {WORKSPACE: None},
    {"window": {"showMessage": {"messageActionItem": 3}, "showDocument": {}}},
    {"window": "none"},
    {"general": {"positionEncodings": ["utf-64", 3]}},
    {"general": {"positionEncodings": "utf-8"}},
    {"general": {"positionEncodings": 8}},
    {"general": {"staleRequestSupport": {"cancel": True}}},
    {"general": {"regularExpressions": {}, "markdown": {"version": "1"}}},
    {"notebookDocument": {}},
    {"notebookDocument": {"synchronization": 5}},
    {"experimental": 5, "offsetEncoding": "utf-8"},
]
KNOWN = {"textDocument": {"signatureHelp": {"signatureInformation": {"documentationFormat": ["markdown"]}}}}


@pytest.mark.parametrize("odd", ODD_CAPABILITIES, ids=lambda odd: json.dumps(odd)[:60])
def test_a_client_with_odd_capabilities_is_served_by_the_others(odd: dict[str, Any]) -> None:
    capabilities = copy.deepcopy(odd)
    if isinstance(capabilities.setdefault(TEXT, {}), dict):
        capabilities[TEXT].setdefault("signatureHelp", KNOWN[TEXT]["signatureHelp"])
    client = Client()
    answer = client.introduce({"processId": None, "rootUri": None, "capabilities": capabilities})
    assert answer["result"]["capabilities"]["hoverProvider"], answer
    assert client.server.abilities.renders_markdown_in_signatures


@pytest.mark.parametrize(
    "odd",
    [
        {"processId": "x"},
        {"processId": {}},
        {"processId": 1.5e300},
        {"clientInfo": {}},
        {"clientInfo": "vim"},
        {"clientInfo": {"name": None, "version": 3}},
        {"trace": "loud"},
        {"trace": 1},
        {"locale": []},
        {"rootUri": 5},
        {"rootUri": {}},
        {"rootPath": []},
        {"workspaceFolders": 4},
        {"workspaceFolders": {}},
        {"workspaceFolders": [None, 3, "file:///x"]},
        {"workspaceFolders": [{"uri": "file:///x"}, {"name": "x"}, {"uri": "file:///y", "name": "y"}]},
        {"workDoneToken": {}},
        {"initializationOptions": "x"},
        {"capabilities": None},
        {"capabilities": []},
        {"capabilities": 3, "trace": "loud", "clientInfo": {}},
    ],
    ids=json.dumps,
)
def test_an_odd_introduction_starts_the_server(odd: dict[str, Any]) -> None:
    answer = Client().introduce({"processId": None, "rootUri": None, "capabilities": KNOWN, **odd})
    assert answer["result"]["capabilities"]["hoverProvider"], answer


def test_an_introduction_without_anything_starts_the_server() -> None:
    assert "result" in Client().introduce({})


def test_what_is_understood_beside_it_stays() -> None:
    formats = {"completionItem": {"documentationFormat": ["html", "markdown", 7], "snippetSupport": True}}
    client = Client()
    client.introduce({"capabilities": {TEXT: {"completion": formats}, WORKSPACE: {"symbol": 3}}})
    assert client.server.abilities.renders_markdown_in_completion
    assert client.server.abilities.inserts_snippets


def test_what_is_not_trust_stays_no_trust() -> None:
    client = Client()
    client.introduce({"capabilities": 5, "initializationOptions": {"trusted": "yes"}})
    assert not client.server.trusted


def test_an_unknown_reason_of_a_request_does_not_refuse_it() -> None:
    completion = structured("textDocument/completion", {**AT, "context": {"triggerKind": 9}})
    assert completion.context is None
    signature = structured("textDocument/signatureHelp", {**AT, "context": {"triggerKind": 1}})
    assert signature.context is None


def test_odd_problems_in_the_context_of_actions_do_not_refuse_them() -> None:
    sent = [
        {"range": RANGE, "message": "a", "severity": 9, "tags": [1, 9]},
        {"message": "without a range"},
        {"range": RANGE, "message": "b", "codeDescription": {}},
    ]
    context = {"diagnostics": sent, "triggerKind": 4, "only": ["source.fixAll", {}]}
    params = {"textDocument": {"uri": URI}, "range": RANGE, "context": context}
    taken = structured("textDocument/codeAction", params).context
    assert [each.message for each in taken.diagnostics] == ["a", "b"]
    assert taken.diagnostics[0].tags == (types.DiagnosticTag.Unnecessary,)
    assert (taken.diagnostics[0].severity, taken.trigger_kind) == (None, None)
    assert taken.only[0] == types.CodeActionKind.SourceFixAll


def test_files_that_changed_in_an_unknown_way_do_not_hide_the_others() -> None:
    changes = [{"uri": URI, "type": 2}, {"uri": URI, "type": 9}, {"uri": URI}]
    taken = structured("workspace/didChangeWatchedFiles", {"changes": changes}).changes
    assert [change.type for change in taken] == [types.FileChangeType.Changed]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", {"textDocument": {}, "position": ZERO}),
        ("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": "x", "character": 0}}),
        ("textDocument/didChange", {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [{}]}),
        (
            "textDocument/didChange",
            {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [{"text": "a"}, {"range": 5}]},
        ),
        ("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": 4}),
        (
            "textDocument/codeAction",
            {"textDocument": {"uri": URI}, "range": RANGE, "context": {"diagnostics": [], "only": 5}},
        ),
        ("workspace/executeCommand", {"arguments": []}),
    ],
)
def test_what_a_message_is_about_is_never_left_out(method: str, params: Any) -> None:
    with pytest.raises(Exception, match=r"[Pp]aram|Invalid"):
        structured(method, params)


def test_a_message_without_a_part_that_may_go_is_not_changed() -> None:
    assert understood({"method": "initialize", "params": {"capabilities": {}}}, ValueError("x")) is None
