"""The server answers ids and paths that can name nothing with a sentence, and logs no traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.protocol.raw_client import RawClient
from waza_language_server.protocol.own_requests import OWN_REQUESTS

pytestmark = pytest.mark.check

ESCAPED = [
    "file:///a%00b.yaml",
    "file:///a%ED%A0%80.yaml",
    "file:///caf%E9/eval.yaml",
    "/tmp/\udc80/eval.yaml",
]


def test_no_request_of_the_server_ends_as_a_traceback(tmp_path: Path) -> None:
    with RawClient() as client:
        client.initialize(tmp_path)
        for text in ["\0", "\ud800", *ESCAPED]:
            for method in OWN_REQUESTS:
                params: dict[str, Any] = {
                    "id": text,
                    "textDocument": {"uri": text},
                    "results": text,
                    "path": text,
                }
                answer = client.ask(method, {**params, "trial": 1, "text": "x"})
                assert answer.get("error", {"code": 0})["code"] != -32603, (method, text, answer)
            for argument in ({"id": text}, {"suite": text}, {"suite": text, "id": "t"}):
                named = {"command": "waza.run", "arguments": [argument]}
                assert client.ask("workspace/executeCommand", named)["error"]["code"] in (-32602, -32803)
    assert "Traceback" not in client.log
