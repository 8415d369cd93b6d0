"""What an editor in restricted mode says to a server from its start to its end, as bytes of the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from waza_language_server.project.uris import uri_of


def conversation(root: Path, files: Sequence[Path]) -> bytes:
    """Return the messages that open these files, ask everything about them, and leave."""
    said: list[dict[str, Any]] = []

    def ask(method: str, params: Any = None) -> None:
        said.append({"id": len(said) + 1, "method": method, "params": params})

    folder = {"uri": uri_of(root), "name": "stranger"}
    options = {"trusted": False}
    ask("initialize", {"capabilities": {}, "workspaceFolders": [folder], "initializationOptions": options})
    said.append({"method": "initialized", "params": {}})
    for path in files:
        for method, params in _about(path):
            if method == "textDocument/didOpen":
                said.append({"method": method, "params": params})
            else:
                ask(method, params)
    ask("shutdown")
    said.append({"method": "exit"})
    return b"".join(map(_framed, said))


def _about(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    text = path.read_bytes().decode("utf-8", "replace")
    document = {"uri": uri_of(path)}
    opened = {**document, "languageId": "yaml", "version": 1, "text": text}
    yield "textDocument/didOpen", {"textDocument": opened}
    lines = text.split("\n")
    for line, words in enumerate(lines[:60]):
        position = {"line": line, "character": len(words)}
        yield "textDocument/completion", {"textDocument": document, "position": position}
        yield "textDocument/hover", {"textDocument": document, "position": {"line": line, "character": 3}}
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    asked = {"textDocument": document, "range": everything}
    yield "textDocument/codeAction", {**asked, "context": {"diagnostics": []}}
    yield "textDocument/inlayHint", asked
    yield "textDocument/codeLens", {"textDocument": document}
    yield "textDocument/diagnostic", {"textDocument": document}


def _framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
