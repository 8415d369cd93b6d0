"""Whatever a client sends, the server says what is wrong, or drops it, and answers the next message."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import write_suite
from tests.protocol.raw_client import (
    PATIENCE_SECONDS,
    RawClient,
    framed,
    introduction,
    message,
    running_server,
)
from waza_language_server.project.uris import uri_of
from waza_language_server.protocol.messages import Malformed, read_message
from waza_language_server.protocol.own_requests import OWN_REQUESTS
from waza_language_server.protocol.wire import Frames

pytestmark = pytest.mark.check

SUITE = "name: explains\nskill: explainer\ntasks: []\ngraders:\n  - type: text\n    name: greets\n"
HOVER = {"textDocument": {"uri": "file:///nowhere.yaml"}, "position": {"line": 0, "character": 0}}


ODD_FOLDER = {"uri": "file://[/x", "name": "x"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """One client whose server has to survive everything in this file."""
    folder = tmp_path_factory.mktemp("suite")
    with RawClient() as started:
        started.initialize(folder)
        yield started
        started.ask("shutdown")
        started.send("exit")
        assert started.process.wait(PATIENCE_SECONDS) == 0
    assert "Traceback" not in started.log


def answers(client: RawClient) -> bool:
    """Whether the server still handles requests."""
    return client.ask("textDocument/hover", HOVER)["result"] is None


ODD_IDS = ["[1]", '{"a": 1}', "[[[]]]", "{}", "true", "false", "1.5", "1e999", "null"]


@pytest.mark.parametrize("identifier", ODD_IDS)
def test_an_id_that_is_neither_text_nor_a_whole_number_is_refused(client: RawClient, identifier: str) -> None:
    body = message("textDocument/hover", HOVER, id="?").decode().replace('"?"', identifier)
    client.write(framed(body.encode()))
    answer = client.response()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert answers(client)


@pytest.mark.parametrize("identifier", [0, -1, 10**30, "", "x" * 10_000, "\ud800", "é😋"])
def test_every_other_id_comes_back(client: RawClient, identifier: Any) -> None:
    client.send("textDocument/hover", HOVER, id=identifier)
    answer = client.response()
    assert (answer["id"], answer["result"]) == (identifier, None)


@pytest.mark.parametrize(
    ("body", "code", "identifier"),
    [
        (b"no json", -32700, None),
        (b"", -32700, None),
        (b"\xff\xfe{}", -32700, None),
        (b'{"jsonrpc": "2.0", "method": "caf\xe9"}', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": NaN}', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": -Infinity}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'{"a":' * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b"[" + message("textDocument/hover", HOVER, id=1) + b"]", -32600, None),
        (b"3", -32600, None),
        (b'"text"', -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc": "2.0", "id": 4}', -32600, 4),
        (b'{"jsonrpc": "2.0", "id": 5, "method": 5}', -32600, 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": ["a"]}', -32600, 5),
        (b'{"jsonrpc": "1.0", "id": 6, "method": "textDocument/hover"}', -32600, 6),
        (b'{"id": "a", "method": "textDocument/hover"}', -32600, "a"),
        (message("waza/nothing", {"a": [1]}, id=7), -32601, 7),
        (message("$/nothing", id=8), -32601, 8),
        (message("textDocument/diagnostic", HOVER, id=8), -32601, 8),
        (message("textDocument/hover", id=9), -32602, 9),
        (message("textDocument/hover", [1, 2], id=9), -32602, 9),
        (message("textDocument/hover", "x", id=9), -32602, 9),
        (message("textDocument/hover", {**HOVER, "position": 3}, id=9), -32602, 9),
        (message("textDocument/hover", {**HOVER, "position": {"line": -1, "character": 0}}, id=9), -32602, 9),
        (message("textDocument/hover", HOVER, id=9).replace(b'"line": 0', b'"line": 1e999'), -32602, 9),
        (message("textDocument/didSave", {"textDocument": {"uri": "a"}}, id=10), -32600, 10),
        (message("initialize", introduction(), id=11), -32600, 11),
        (message("workspace/executeCommand", {"command": "waza.nothing"}, id=12), -32602, 12),
        (message("workspace/executeCommand", {"command": ["waza.run"]}, id=12), -32602, 12),
    ],
)
def test_a_bad_message_gets_its_code(client: RawClient, body: bytes, code: int, identifier: Any) -> None:
    client.write(framed(body))
    answer = client.response()
    assert (answer["id"], answer["error"]["code"]) == (identifier, code), answer
    assert answers(client)


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "2.0", "id": 1, "result": 1}',
        b'{"jsonrpc": "2.0", "id": 1, "result": 1, "error": {"code": 1, "message": "both"}}',
        b'{"jsonrpc": "2.0", "id": [1], "result": null}',
        b'{"id": {}, "error": 3}',
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}',
        *(message("$/cancelRequest", params) for params in (None, {}, [], 3, {"id": [1]}, {"id": 1.5})),
        message("$/cancelRequest", {"id": 5}, id=5)[:-1] + b', "result": 1}',
        message("waza/nothing", {"a": 1}),
        message("$/nothing", 5),
        message("textDocument/didOpen", {"textDocument": {"uri": 1}}),
        message("textDocument/didOpen"),
        message("textDocument/hover", HOVER),
        message("shutdown"),
        message("initialized", 3),
        message("workspace/didChangeConfiguration", {"settings": [1]}),
        message("workspace/didChangeConfiguration", {"settings": {"waza": {"interpreter": [1]}}}),
        message("workspace/didChangeWatchedFiles", {"changes": [{"uri": "::", "type": 2}]}),
        message("workspace/didChangeWatchedFiles", {"changes": [{"uri": "a", "type": 99}]}),
        message("workspace/didChangeWorkspaceFolders", {"event": {"added": [ODD_FOLDER], "removed": []}}),
        message("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [ODD_FOLDER]}}),
        message("window/workDoneProgress/cancel", {"token": [1]}),
        message("window/workDoneProgress/cancel", {"token": "unknown"}),
        message("notebookDocument/didClose", {"notebookDocument": {"uri": "a"}, "cellTextDocuments": []}),
        message("$/setTrace", {"value": "loud"}),
    ],
)
def test_what_needs_no_answer_gets_none_and_stops_nothing(client: RawClient, body: bytes) -> None:
    client.write(framed(body))
    client.send("textDocument/hover", HOVER, id="after")
    while (answer := client.next()).get("id") != "after":
        assert answer.get("method") != "window/showMessage", answer
        assert answer.get("id") in (None, 5), answer
    assert answer["result"] is None


ODD_URIS = [
    "",
    "eval.yaml",
    "::",
    "file:",
    "file:///",
    "file:///%00/eval.yaml",
    "file:///%/%zz%2/eval.yaml",
    "file:///caf%E9/eval.yaml",
    "file:///" + "a" * 1_000_000 + "/eval.yaml",
    "file:///" + "a/" * 5_000 + "eval.yaml",
    "file:///\ud800/eval.yaml",
    "file://server/share/eval.yaml",
    "file://[/eval.yaml",
    "file:///C:/eval.yaml",
    "untitled:Untitled-1",
    "untitled:/eval.yaml",
    "vscode-notebook-cell:/a.ipynb#W0",
    "http://localhost/eval.yaml",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("uri", ODD_URIS, ids=lambda uri: ascii(uri[:30]))
def test_a_document_of_any_uri_is_opened_edited_and_closed(client: RawClient, uri: str) -> None:
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": SUITE}
    whole = {"textDocument": {"uri": uri}}
    for _ in range(2):
        client.send("textDocument/didOpen", {"textDocument": document})
    for method in ("hover", "completion"):
        answer = client.ask(f"textDocument/{method}", {**HOVER, **whole})
        assert "error" not in answer
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    for method in ("codeLens", "inlayHint", "codeAction"):
        params = {**whole, "range": everything, "context": {"diagnostics": []}}
        assert "error" not in client.ask(f"textDocument/{method}", params)
    client.send("textDocument/didSave", whole)
    for _ in range(2):
        client.send("textDocument/didClose", whole)
    assert answers(client)


ODD_CHANGES: list[Any] = [
    {"text": "x", "range": {"start": {"line": 9**8, "character": 9**8}, "end": {"line": 0, "character": 0}}},
    {"text": "x", "range": {"start": {"line": 2, "character": 3}, "end": {"line": 1, "character": 0}}},
    {"text": "x", "range": {"start": {"line": 1.5, "character": 0}, "end": {"line": 1.5, "character": 0}}},
    {"text": "x", "range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}},
    {"text": "x", "range": {"start": {"line": "a", "character": 0}, "end": {"line": 0, "character": 0}}},
    {
        "text": "x",
        "range": {"start": {"line": 2**31, "character": 0}, "end": {"line": 2**70, "character": 0}},
    },
    {"text": "x", "range": []},
    {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}},
    {"text": None},
    {"text": ["x"]},
    None,
    [],
]


@pytest.mark.parametrize("version", [2, 0, -1, None, "2", 2**40, [2]])
def test_changes_of_any_shape_stop_nothing(client: RawClient, version: Any) -> None:
    uri = "untitled:changed"
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": SUITE}
    client.send("textDocument/didOpen", {"textDocument": document})
    for change in ODD_CHANGES:
        identifier = {"uri": uri, "version": version}
        client.send("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})
    client.send(
        "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": 3}
    )
    assert "error" not in client.ask("textDocument/hover", {**HOVER, "textDocument": {"uri": uri}})
    client.send("textDocument/didClose", {"textDocument": {"uri": uri}})


@pytest.mark.parametrize("named", [{"version": None}, {}])
def test_a_change_without_a_version_is_taken(client: RawClient, named: dict[str, Any]) -> None:
    uri = "untitled:unnumbered.yaml"
    document = {"uri": uri, "languageId": "yaml", "text": "name: a\n", **named}
    client.send("textDocument/didOpen", {"textDocument": document})
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    change = {"range": place, "text": SUITE}
    client.send("textDocument/didChange", {"textDocument": {"uri": uri, **named}, "contentChanges": [change]})
    symbols = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]
    client.send("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert "greets" in [symbol["name"] for symbol in symbols]


def test_both_requests_of_one_id_are_answered(client: RawClient) -> None:
    body = message("textDocument/hover", HOVER, id="twice")
    client.write(framed(body, body))
    assert [client.response()["id"], client.response()["id"]] == ["twice", "twice"]


def test_requests_after_the_shutdown_are_refused() -> None:
    with RawClient() as client:
        client.initialize()
        assert client.ask("shutdown")["result"] is None
        assert client.ask("textDocument/hover", HOVER)["error"]["code"] == -32600
        assert client.ask("shutdown")["error"]["code"] == -32600
        client.send("textDocument/didOpen", {"textDocument": {}})
        client.send("exit")
        assert client.process.wait(PATIENCE_SECONDS) == 0


def test_a_failed_introduction_can_be_repeated(tmp_path: Path) -> None:
    with RawClient() as client:
        for params in (None, [], "x"):
            answer = client.ask("initialize", params)
            assert answer["error"]["code"] == -32602, (params, answer)
            assert client.ask("textDocument/hover", HOVER)["error"]["code"] == -32002
        assert "result" in client.initialize(tmp_path, capabilities={"textDocument": {"diagnostic": {}}})
        assert answers(client)


REGISTERS = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "no such method"}},
        {"error": "no"},
        {"error": {"code": "x", "message": [1]}},
        {"result": [1, 2]},
        {"result": 5, "error": {"code": 1, "message": "both"}},
    ],
)
def test_a_refused_registration_is_logged_and_not_shown(answer: dict[str, Any], tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE)
    with RawClient() as client:
        client.initialize(tmp_path, capabilities=REGISTERS)
        while (request := client.next()).get("method") != "client/registerCapability":
            pass
        client.write(framed(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode()))
        client.open(suite)
        while (received := client.next()).get("method") != "textDocument/publishDiagnostics":
            assert received.get("method") != "window/showMessage"
        assert received["params"]["uri"] == uri_of(suite)
        assert answers(client)
    assert "Traceback" not in client.log


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        (b"content-length: %d\r\n\r\n", True),
        (b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length:%d  \r\n\r\n", True),
        (b"Content-Length: %d\n\n", True),
        (b"Content-Length: -%d\r\n\r\n", False),
        (b"Content-Length: 999999%d999999\r\n\r\n", False),
        (b"Content-Length: %d_0\r\n\r\n", False),
        (b"Content-Length: x%d\r\n\r\n", False),
        (b"Content-Length:\r\n\r\n", False),
        (b"Content-Type: text/plain\r\n\r\n", False),
        (b"\r\n\r\n", False),
        (b"x" * 20_000, False),
    ],
)
def test_a_header_gives_the_length_or_ends_the_connection(header: bytes, *, accepted: bool) -> None:
    body = b'{"jsonrpc": "2.0"}'
    source = [(header % len(body) if b"%" in header else header) + body, b""]
    frames = Frames(lambda _size: source.pop(0))
    if accepted:
        assert frames.next() == body
    else:
        with pytest.raises(ValueError, match=r"a message (says|has)"):
            frames.next()


# What writes the log may have to wait for its turn.
SLOW_LOG = """
import time
from waza_language_server.protocol.wire import log
warning = log.warning
log.warning = lambda *what: (time.sleep(0.5), warning(*what))
"""


def test_a_broken_header_ends_the_server_with_a_reason() -> None:
    with RawClient(running_server(SLOW_LOG)) as client:
        client.initialize()
        client.write(b"Content-Length: many\r\n\r\n{}")
        assert client.process.wait(PATIENCE_SECONDS) == 1
    assert "The connection to the client ended: a message says it is 'many' bytes long" in client.log


def test_a_message_is_read_once_whatever_its_keys() -> None:
    assert read_message(b'{"jsonrpc": "2.0", "method": "a", "method": "b"}') == {
        "jsonrpc": "2.0",
        "method": "b",
    }
    assert isinstance(read_message(b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b"}"), Malformed)


ESCAPED = [
    "file:///a%00b.yaml",
    "file:///a%ED%A0%80.yaml",
    "file:///caf%E9/eval.yaml",
    "/tmp/\udc80/eval.yaml",
]


def test_ids_and_paths_that_can_name_nothing_are_no_internal_error(client: RawClient) -> None:
    for text in ["\0", "\ud800", *ESCAPED]:
        for method in OWN_REQUESTS:
            params = {"id": text, "textDocument": {"uri": text}, "results": text, "path": text}
            answer = client.ask(method, {**params, "trial": 1, "text": "x"})
            assert answer.get("error", {"code": 0})["code"] != -32603, (method, text, answer)
        for argument in ({"id": text}, {"suite": text}, {"suite": text, "id": "t"}):
            named = {"command": "waza.run", "arguments": [argument]}
            assert client.ask("workspace/executeCommand", named)["error"]["code"] in (-32602, -32803)
