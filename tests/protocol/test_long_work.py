"""While the server works on a long document it answers what else is asked, and stops when nobody waits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import write_suite
from tests.protocol.raw_client import RawClient
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

HEAD = "name: s\nskill: s\ntasks:\n- t\n"
LONG = f"{HEAD}graders:\n" + "".join(
    f"- type: text\n  name: g{at}\n  confg: {{contains: [a]}}\n" for at in range(1_000)
)
CAPABILITIES = {
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
    }
}
ACTIONS, HOVER = 1, 2


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    """A client that has just opened a long document, of which nothing is known yet, and a short one."""
    short, long = tmp_path / "short", tmp_path / "long"
    for folder, text in ((short, HEAD), (long, LONG)):
        folder.mkdir()
        write_suite(folder, text)
    with RawClient() as client:
        client.initialize(tmp_path, capabilities=CAPABILITIES)
        client.open(short / "eval.yaml")
        client.open(long / "eval.yaml")
        yield client


def ask_for_actions(client: RawClient, uri: str) -> None:
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 3_100, "character": 0}}
    asked = {"textDocument": {"uri": uri}, "range": everything, "context": {"diagnostics": []}}
    client.send("textDocument/codeAction", asked, id=ACTIONS)


def ask_for_hover(client: RawClient, uri: str) -> None:
    place = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 1}}
    client.send("textDocument/hover", place, id=HOVER)


def answers(client: RawClient) -> list[dict[str, Any]]:
    return [client.response(), client.response()]


def test_a_hover_does_not_wait_for_fixes_elsewhere(client: RawClient, tmp_path: Path) -> None:
    ask_for_actions(client, uri_of(tmp_path / "long" / "eval.yaml"))
    ask_for_hover(client, uri_of(tmp_path / "short" / "eval.yaml"))
    hover, actions = answers(client)
    assert (hover["id"], actions["id"]) == (HOVER, ACTIONS)
    assert hover["result"]
    assert actions["result"]
