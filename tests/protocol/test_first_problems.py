"""The problems at the beginning of a long document are shown before the rest is judged, and stay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.documents import eval_file
from tests.protocol.editor import editing, write_suite
from tests.protocol.raw_client import RawClient, framed, opened, replaced
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog

pytestmark = pytest.mark.check

TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"
LONG = eval_file(1_000)
MISTAKES = 10
"""In the long file; the first is within several screens."""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, LONG, one=TASK)


@pytest.fixture
def client(suite: Path) -> Iterator[RawClient]:
    with RawClient() as client:
        client.initialize(suite.parent)
        yield client


def published(client: RawClient, path: Path) -> list[dict[str, Any]]:
    """Return the next diagnostics of a document."""
    while True:
        received = client.next()
        told = received.get("params", {})
        if received.get("method") == "textDocument/publishDiagnostics" and told["uri"] == uri_of(path):
            return told["diagnostics"]


def places(diagnostics: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["code"], each["range"]["start"]["line"]) for each in diagnostics]


def judged(path: Path, text: str) -> list[tuple[str, int]]:
    """Return what is wrong with a text, found out in one go."""
    document = Document(uri_of(path), 1, text, "eval")
    workspace = Workspace(Project([path.parent]), default_catalog()).with_document(document)
    return [(each.code, document.lines.line_of(each.span.start)) for each in diagnose(document, workspace)]


def test_the_first_come_first_and_stay(client: RawClient, suite: Path) -> None:
    client.write(framed(opened(suite, LONG)))
    first, whole = published(client, suite), published(client, suite)
    assert places(whole) == judged(suite, LONG)
    assert len(whole) == MISTAKES
    assert first == whole[:1]


def test_of_a_short_document_all_come_together(client: RawClient, suite: Path) -> None:
    short = eval_file(100)
    client.write(framed(opened(suite, short)))
    assert places(published(client, suite)) == judged(suite, short)


def test_an_edit_while_the_rest_is_judged(client: RawClient, suite: Path) -> None:
    client.write(framed(opened(suite, LONG)))
    assert len(published(client, suite)) == 1
    edited = LONG.replace("confg:", "config:", 2)
    client.write(framed(replaced(suite, edited)))
    shown = published(client, suite)
    # All of the old text may have been judged before the edit came; never is the first part shown again.
    if len(shown) == MISTAKES:
        shown = published(client, suite)
    assert places(shown) == judged(suite, edited)
    assert len(shown) == MISTAKES - 2


def test_an_edit_that_comes_with_the_document(client: RawClient, suite: Path) -> None:
    edited = LONG.replace("confg:", "config:", 1)
    client.write(framed(opened(suite, LONG), replaced(suite, edited)))
    shown = published(client, suite)
    while len(shown) < MISTAKES - 1:
        assert places(shown) == places(shown)[:1]
        shown = published(client, suite)
    assert places(shown) == judged(suite, edited)


def test_closing_while_the_rest_is_judged_clears_them(client: RawClient, suite: Path) -> None:
    client.write(framed(opened(suite, LONG)))
    assert len(published(client, suite)) == 1
    client.send("textDocument/didClose", {"textDocument": {"uri": uri_of(suite)}})
    shown = published(client, suite)
    while shown:
        assert len(shown) == MISTAKES
        shown = published(client, suite)
    client.write(framed(opened(suite, eval_file(100))))
    assert len(published(client, suite)) == 1


async def test_a_client_that_asks_gets_all_at_once(suite: Path) -> None:
    async with editing(suite.parent, pulls=True) as editor:
        uri = editor.open(suite, LONG)
        assert len((await editor.pull(uri)).items) == MISTAKES


async def test_of_very_many_problems_those_that_were_shown_first_are_shown_to_the_end(suite: Path) -> None:
    head, _, _ = LONG.partition("graders:\n")
    weak = "".join(f"  - {{type: text, name: w{at}, config: {{regex_match: ['[']}}}}\n" for at in range(3))
    hints = "".join(f"  - {{type: text, name: h{at}, confg: {{}}}}\n" for at in range(100))
    errors = "".join(f"  - {{type: text, name: g{at}, config: 1}}\n" for at in range(1_500))
    text = f"{head}graders:\n{weak}{hints}{errors}"
    with RawClient() as client:
        client.initialize(suite.parent)
        client.write(framed(opened(suite, text)))
        first, whole = published(client, suite), published(client, suite)
    assert 100 < len(first) < len(whole) == 1_000
    assert all(each in whole for each in first)
