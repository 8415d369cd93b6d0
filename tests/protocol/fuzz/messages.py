"""Messages as editors send them, and as no editor should."""

import random
from collections.abc import Sequence
from typing import Any

from tests.protocol.fuzz.checks import ON_ONE_TEXT
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
_REQUESTS = (
    *(method.removeprefix("textDocument/") for method in sorted(ON_ONE_TEXT)),
    "completion",
    "completion",
    "hover",
)
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


def feature_request(chance: random.Random, identifier: Any, uri: str, text: Text | None) -> Step:
    """Return one request of an editor about a document, which need not be open."""
    document: dict[str, Any] = {"textDocument": {"uri": uri}}
    text = text or Text("", "utf-16")
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": len(text.lines), "character": 0}}
    name = chance.choice(_REQUESTS)
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
        document["range"] = everything if chance.random() < 0.2 else random_range(chance, text)
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
