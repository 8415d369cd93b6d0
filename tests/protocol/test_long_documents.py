"""While a long document is read everything else goes on: proven by the order in which answers come."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import TASK, write_suite
from tests.protocol.raw_client import RawClient, framed, message, opened, replaced
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

SUITE = "name: s\nskill: s\ntasks: [tasks/*.yaml]\ngraders:\n  - type: text\n    name: a\n"
# Each of these lines has a problem, so where they are waited for there are fewer.
LONG = SUITE + "tags: a\n" * 20_000
LONG_ENOUGH = SUITE + "tags: a\n" * 4_000
CANCELLED, CONTENT_MODIFIED = -32800, -32801


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, SUITE, one=TASK)


@pytest.fixture
def client(suite: Path) -> Iterator[RawClient]:
    with RawClient() as client:
        client.initialize(suite.parent)
        yield client


def hover(path: Path, identifier: int) -> bytes:
    position = {"line": 0, "character": 1}
    params = {"textDocument": {"uri": uri_of(path)}, "position": position}
    return message("textDocument/hover", params, id=identifier)


def until_published(client: RawClient, path: Path) -> list[dict[str, Any]]:
    """Return the messages up to the diagnostics of a document."""
    received = [client.next()]
    while received[-1].get("method") != "textDocument/publishDiagnostics" or (
        received[-1]["params"]["uri"] != uri_of(path)
    ):
        received.append(client.next())
    return received


def test_hovers_are_answered_before_long_diagnostics(client: RawClient, suite: Path) -> None:
    task = suite.parent / "tasks" / "one.yaml"
    client.write(framed(opened(task, TASK), opened(suite, LONG_ENOUGH), hover(task, 1), hover(suite, 2)))
    *before, published = until_published(client, suite)
    answers = {answer["id"]: answer["result"] for answer in before if "result" in answer}
    assert "id" in answers[1]["contents"]["value"]
    assert "name" in answers[2]["contents"]["value"]
    assert len(published["params"]["diagnostics"]) > 1


def test_a_request_can_be_cancelled_while_its_document_is_read(client: RawClient, suite: Path) -> None:
    client.write(framed(opened(suite, LONG), hover(suite, 1)))
    client.send("$/cancelRequest", {"id": 1})
    answer = client.response()
    assert (answer["id"], answer["error"]["code"]) == (1, CANCELLED)


def test_a_newer_text_drops_the_reading_of_the_one_before(client: RawClient, suite: Path) -> None:
    client.write(framed(opened(suite, LONG), hover(suite, 1), replaced(suite, SUITE), hover(suite, 2)))
    *before, published = until_published(client, suite)
    answers = {answer["id"]: answer for answer in before if "id" in answer}
    assert answers[1]["error"]["code"] == CONTENT_MODIFIED
    assert "result" in answers[2]
    codes = {each["code"] for each in published["params"]["diagnostics"]}
    assert "duplicate-key" not in codes
