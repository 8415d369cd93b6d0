"""Messages as editors send them, and as no editor should."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from tests.protocol.fuzz.findings import Settings, Step
from tests.protocol.fuzz.model_text import Text

KINDS = (
    "quickfix",
    "source.fixAll",
    "source",
    "",
    "refactor",
    "source.fixAll.waza",
    "source.organizeImports",
)
ODD_URIS = (
    "",
    "file:",
    "file:///",
    "file:///%00.yaml",
    "untitled:Untitled-1",
    "http://127.0.0.1:9/eval.yaml",
    "::",
    "file://[/x",
    "file:///nowhere/at/all/eval.yaml",
    "git:/x/eval.yaml?ref=main",
)
ODD_VALUES: tuple[Any, ...] = (None, True, -1, 2**70, 1.5, "", "x", [], {}, [[]], {"a": 1})


NAMES = ("renamed", "Other name", "", "a: b", "# x", "*", "ü\U0001f600", "../up", "null", "1", "a\nb")
_AT_A_POSITION = (
    "completion",
    "onTypeFormatting",
    "hover",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "signatureHelp",
)


def capabilities(chance: random.Random) -> Settings:
    """Return a client that can do this and that."""
    encodings = chance.choice(
        [["utf-16"], ["utf-8"], ["utf-32"], ["utf-8", "utf-16"], ["utf-32", "utf-8"], []]
    )
    pulls = chance.random() < 0.7
    text: dict[str, Any] = {
        "publishDiagnostics": {"versionSupport": chance.random() < 0.8, "relatedInformation": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
            "isPreferredSupport": chance.random() < 0.5,
        },
        "completion": {
            "completionItem": {
                "snippetSupport": chance.random() < 0.5,
                "documentationFormat": ["markdown", "plaintext"] if chance.random() < 0.5 else ["plaintext"],
                "insertTextModeSupport": {"valueSet": chance.choice([[1], [2], [1, 2]])},
            }
        },
        "hover": {"contentFormat": chance.choice([["markdown"], ["plaintext"], []])},
    }
    if pulls:
        text["diagnostic"] = {"relatedDocumentSupport": False}
    refresh = chance.random() < 0.5
    workspace = {
        "inlayHint": {"refreshSupport": refresh},
        "codeLens": {"refreshSupport": refresh},
        "diagnostics": {"refreshSupport": refresh},
        "workspaceEdit": {
            "documentChanges": chance.random() < 0.5,
            "resourceOperations": chance.choice([["create", "rename", "delete"], []]),
        },
        "fileOperations": {"willRename": True, "willDelete": True, "didDelete": True},
        "didChangeWatchedFiles": {"dynamicRegistration": chance.random() < 0.5},
        "workspaceFolders": True,
    }
    chosen: dict[str, Any] = {"textDocument": text, "workspace": workspace}
    chosen["general"] = {"positionEncodings": encodings}
    chosen["window"] = {"workDoneProgress": chance.random() < 0.5}
    return Settings(
        seed=0,
        encoding=encodings[0] if encodings else "utf-16",
        pulls=pulls,
        versions=text["publishDiagnostics"]["versionSupport"],
        trusted=chance.random() < 0.25,
        replies=chance.choice(["null", "null", "error", "never"]),
        capabilities=chosen,
    )


def request(identifier: Any, method: str, params: Any, expect: str = "result", **more: Any) -> Step:
    """Return a step that sends a request."""
    message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return {"do": "message", "message": message, "expect": expect, **more}


def notification(method: str, params: Any, **more: Any) -> Step:
    """Return a step that sends a notification."""
    return {"do": "message", "message": {"jsonrpc": "2.0", "method": method, "params": params}, **more}


def random_position(chance: random.Random, text: Text) -> dict[str, int]:
    """Return a position: of a character mostly, sometimes behind a line, the text, or inside a character."""
    if chance.random() < 0.05:
        return {"line": chance.choice([0, 3, 10**6]), "character": chance.choice([0, 1, 2**31 - 1])}
    position = text.position(chance.randint(0, len(text.content)))
    if chance.random() < 0.02:
        position["character"] += 1
    return position


def random_range(chance: random.Random, text: Text) -> dict[str, Any]:
    """Return a range of up to a few lines."""
    start = random_position(chance, text)
    end = {"line": start["line"] + chance.choice([0, 0, 1, 5]), "character": chance.choice([0, 4, 40])}
    if (end["line"], end["character"]) < (start["line"], start["character"]):
        start, end = end, start
    return {"start": start, "end": end}


def feature_request(
    chance: random.Random, identifier: Any, uri: str, text: Text | None, features: frozenset[str]
) -> Step:
    """Return one request of an editor about a document, which need not be open."""
    document: dict[str, Any] = {"textDocument": {"uri": uri}}
    text = text or Text("", "utf-16")
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": len(text.lines), "character": 0}}
    name = chance.choice(
        (
            "completion",
            "completion",
            "completion",
            "onTypeFormatting",
            "hover",
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
    if name in _AT_A_POSITION:
        document["position"] = random_position(chance, text)
        if name == "references":
            document["context"] = {"includeDeclaration": chance.random() < 0.5}
        elif name == "rename":
            document["newName"] = chance.choice(NAMES)
        elif name == "onTypeFormatting":
            document |= {"ch": "\n", "options": {"tabSize": 2, "insertSpaces": True}}
    elif name == "selectionRange":
        document["positions"] = [random_position(chance, text) for _ in range(chance.randrange(3))]
    elif name == "semanticTokens/full/delta":
        document["previousResultId"] = chance.choice(["1", "2", "5", "20", ""])
    elif name in {"inlayHint", "semanticTokens/range"}:
        document["range"] = everything if chance.random() < 0.5 else random_range(chance, text)
    elif name == "codeAction":
        whole = "whole-documents" in features and chance.random() < 0.2
        document["range"] = everything if whole else random_range(chance, text)
        context: dict[str, Any] = {"diagnostics": []}
        if chance.random() < 0.4:
            context["only"] = chance.sample(KINDS, chance.randint(0, 2))
        document["context"] = context
    return request(identifier, f"textDocument/{name}", document)


def workspace_request(chance: random.Random, identifier: Any, uris: Sequence[str]) -> Step:
    """Return one request of an editor about the whole workspace."""
    if chance.random() < 0.2:
        known = [{"uri": uri, "value": "clean"} for uri in uris if chance.random() < 0.5]
        return request(identifier, "workspace/diagnostic", {"previousResultIds": known})
    if chance.random() < 0.5:
        query = chance.choice(["", "a", "greets", "Ü", "x" * 1_000])
        return request(identifier, "workspace/symbol", {"query": query})
    old = chance.choice([*uris, "file://$ROOT", "file://$ROOT/tasks", "file://$ROOT/none.yaml"])
    if chance.random() < 0.5:
        gone = [{"uri": old}] * chance.randint(0, 2)
        return request(identifier, "workspace/willDeleteFiles", {"files": gone})
    new = chance.choice([f"{old}.moved", "file://$ROOT/tasks/moved.yaml", "file:///outside.yaml", old])
    files = [{"oldUri": old, "newUri": new}] * chance.randint(0, 2)
    return request(identifier, "workspace/willRenameFiles", {"files": files})


def file_operation(chance: random.Random, uri: str) -> Step:
    """Return what an editor tells after it has made, renamed or deleted a file."""
    name = chance.choice(["Create", "Rename", "Delete"])
    file = {"oldUri": uri, "newUri": f"{uri}.moved"} if name == "Rename" else {"uri": uri}
    return notification(f"workspace/did{name}Files", {"files": [file]})


def command(chance: random.Random, identifier: Any) -> Step:
    """Return a command that runs nothing: nothing of the kind, or nothing that it could run."""
    arguments: Any = chance.choice(
        (
            [],
            None,
            [chance.choice(ODD_VALUES)],
            [{"suite": chance.choice(ODD_VALUES)}],
            [{"suite": "$ROOT/nowhere/eval.yaml", "task": chance.choice(ODD_VALUES)}],
            [{"suite": "file://$ROOT/nowhere/eval.yaml"}],
        )
    )
    name = chance.choice(["waza.run", "waza.run", "waza.cancel", "waza.unknown", ""])
    return request(identifier, "workspace/executeCommand", {"command": name, "arguments": arguments}, "any")


def odd_message(
    chance: random.Random, identifier: Any, uris: Sequence[str], features: frozenset[str]
) -> Step:
    """Return a message that no editor should send; the server has to go on after it."""
    kinds = ["unknown request", "unknown notification", "params", "params", "dollar", "answer", "cancel"]
    if "wire" in features:
        kinds += ["id", "frame", "frame", "form"]
    kind = chance.choice(kinds)
    method = chance.choice(_METHODS)
    if kind == "unknown request":
        return request(identifier, chance.choice(["textDocument/moniker", "x", "waza/secret"]), {}, "error")
    if kind == "unknown notification":
        return notification(chance.choice(["x", "waza/secret", "textDocument/unknown"]), {})
    if kind == "dollar":
        return notification(
            chance.choice(["$/setTrace", "$/x", "$/progress"]), chance.choice([{}, {"value": "off"}])
        )
    if kind == "answer":
        message = {"jsonrpc": "2.0", "id": chance.choice(["zzz", -5]), "result": chance.choice(ODD_VALUES)}
        return {"do": "message", "message": message, "ignored": True}
    if kind == "cancel":
        return notification("$/cancelRequest", {"id": chance.choice(["nobody", 10**9])})
    if kind == "id":
        odd = chance.choice(([], {}, [1], {"a": []}, 1.5, None, True))
        return {**request(odd, method, _odd_params(chance, uris), "none"), "ignored": True}
    if kind == "frame":
        return _frame(chance)
    if kind == "form":
        return _form(chance, identifier)
    if method.startswith(("textDocument/did", "workspace/did")):
        # What is wrong for one of these may be right for another: nothing that is open must be named.
        return notification(method, _odd_params(chance, ["file://$ROOT/never.yaml"]), ignored=True)
    return request(identifier, method, _odd_params(chance, uris), "any", ignored=True)


_METHODS = (
    "textDocument/completion",
    "textDocument/onTypeFormatting",
    "textDocument/hover",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/inlayHint",
    "textDocument/diagnostic",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/rename",
    "textDocument/signatureHelp",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/semanticTokens/range",
    "workspace/diagnostic",
    "workspace/symbol",
    "workspace/willRenameFiles",
    "workspace/willDeleteFiles",
    "workspace/didCreateFiles",
    "workspace/didRenameFiles",
    "workspace/didDeleteFiles",
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didClose",
    "workspace/didChangeWatchedFiles",
    "workspace/executeCommand",
    "workspace/didChangeWorkspaceFolders",
)


def _odd_params(chance: random.Random, uris: Sequence[str]) -> Any:
    """Return parameters that are wrong in one place at least."""
    wrong = chance.choice(ODD_VALUES)
    return chance.choice(
        (
            wrong,
            {"textDocument": wrong},
            {"textDocument": {"uri": wrong}, "position": wrong},
            {"textDocument": {"uri": chance.choice(uris)}, "position": wrong, "range": wrong},
            {"textDocument": {"uri": chance.choice(uris), "version": wrong}, "contentChanges": wrong},
            {"textDocument": {"uri": chance.choice(uris)}, "position": {"line": -1, "character": wrong}},
            {"command": wrong, "arguments": wrong},
            {"changes": wrong, "event": wrong},
        )
    )


def _frame(chance: random.Random) -> Step:
    bodies = (
        "",
        "{",
        "[]",
        "[1, 2]",
        "null",
        "7",
        '"text"',
        "\xff\xfe",
        '{"jsonrpc": "2.0", "id": 1',
        "[" * 20_000,
    )
    batch = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}])
    body = chance.choice((*bodies, batch))
    headers = (
        "Content-Length: {length}",
        "content-length:{length}",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {length}",
    )
    return {"do": "frame", "body": body, "header": chance.choice(headers)}


def _form(chance: random.Random, identifier: Any) -> Step:
    """Return an object that is no JSON-RPC message."""
    message: Mapping[str, Any] = chance.choice(
        (
            {},
            {"jsonrpc": "2.0"},
            {"jsonrpc": "2.0", "method": 5},
            {"jsonrpc": "2.0", "method": ["textDocument/hover"], "id": identifier},
            {"jsonrpc": "1.0", "method": "textDocument/hover", "id": identifier, "params": {}},
            {"method": "textDocument/hover", "id": identifier, "params": {}},
            {"jsonrpc": "2.0", "id": identifier},
            {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
            {"jsonrpc": "2.0", "id": "x", "result": 1, "error": 5},
        )
    )
    return {"do": "frame", "body": json.dumps(message)}
