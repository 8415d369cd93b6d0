"""Outline, folding, growing selections and links as they travel to clients of different abilities."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import TASK, write_suite
from tests.protocol.raw_client import RawClient
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.smoke

SUITE = """\
name: explains
skill: explainer
tasks: ["tasks/*.yaml"]
graders:
  - type: text
    name: "😀 greets"
    config:
      contains: [hello]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, SUITE, one=TASK)


def asked(suite: Path, method: str, capabilities: Mapping[str, Any], **params: Any) -> Any:
    """Return what the server answers about the suite."""
    with RawClient() as client:
        client.initialize(suite.parent, capabilities={"textDocument": capabilities})
        client.open(suite)
        answer = client.ask(f"textDocument/{method}", {"textDocument": {"uri": uri_of(suite)}, **params})
        return answer["result"]


def test_an_outline_is_a_tree(suite: Path) -> None:
    able = {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}
    graders = asked(suite, "documentSymbol", able)[3]
    (grader,) = graders["children"]
    assert (graders["name"], grader["name"], grader["detail"]) == ("graders", "😀 greets", "text")
    assert grader["selectionRange"] == {
        "start": {"line": 5, "character": 10},
        "end": {"line": 5, "character": 21},
    }


def test_an_outline_is_a_list_where_no_trees_are_shown(suite: Path) -> None:
    found = asked(suite, "documentSymbol", {})
    assert [(each["name"], each.get("containerName")) for each in found][3:6] == [
        ("tasks/*.yaml", "tasks"),
        ("graders", None),
        ("😀 greets", "graders"),
    ]


def test_as_much_folds_as_the_client_takes(suite: Path) -> None:
    assert asked(suite, "foldingRange", {"foldingRange": {"rangeLimit": 1}}) == [
        {"startLine": 3, "endLine": 7}
    ]
