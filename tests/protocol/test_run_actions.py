"""Runs as code actions, for editors that show no lenses."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import write_suite
from tests.protocol.raw_client import RawClient
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.smoke

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks:
  - id: one
    name: One
    inputs: {prompt: Say hello}
    graders:
      - type: text
        name: speaks
        config:
          contains: [Say hello]
# the end
"""
GRADER = 9
END = 12


LITERALS = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, SUITE)


@pytest.fixture
def client(suite: Path) -> Iterator[RawClient]:
    """An editor without lenses that has the suite open."""
    with RawClient() as client:
        client.initialize(suite.parent, capabilities={"textDocument": {"codeAction": LITERALS}})
        client.open(suite)
        yield client


def runs_at(client: RawClient, suite: Path, line: int, **context: Any) -> list[dict[str, Any]]:
    """Return the actions that run something, of all that are offered at a line."""
    at = {"line": line, "character": 8}
    asked = {
        "textDocument": {"uri": uri_of(suite)},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": [], **context},
    }
    answer = client.ask("textDocument/codeAction", asked)
    return [action for action in answer["result"] if action["kind"] == "waza.run"]


def execute(client: RawClient, command: str, **argument: Any) -> dict[str, Any]:
    return client.ask("workspace/executeCommand", {"command": command, "arguments": [argument]})


def titles_at(client: RawClient, suite: Path, line: int, **context: Any) -> list[str]:
    return [action["title"] for action in runs_at(client, suite, line, **context)]


def test_what_the_cursor_stands_in_can_be_run_the_innermost_first(client: RawClient, suite: Path) -> None:
    assert titles_at(client, suite, GRADER) == ["▶ Run grader", "▶ Run task", "▶ Run suite"]
    assert titles_at(client, suite, END) == ["▶ Run suite"]


def test_an_editor_with_lenses_is_offered_none(suite: Path) -> None:
    with RawClient() as client:
        able = {"textDocument": {"codeAction": LITERALS, "codeLens": {}}}
        client.initialize(suite.parent, capabilities=able)
        client.open(suite)
        assert titles_at(client, suite, GRADER) == []


def test_only_fixes_are_offered_where_only_fixes_are_asked_for(client: RawClient, suite: Path) -> None:
    assert titles_at(client, suite, GRADER, only=["quickfix"]) == []


def test_none_is_offered_when_nobody_asked_for_actions(client: RawClient, suite: Path) -> None:
    automatic = 2
    assert titles_at(client, suite, GRADER, triggerKind=automatic) == []


def test_the_command_is_answered_at_once_and_the_end_is_told(client: RawClient, suite: Path) -> None:
    command = runs_at(client, suite, END)[0]["command"]
    answer = execute(client, command["command"], **command["arguments"][0])
    assert answer["result"] == {"status": "started", "resultsFile": None, "message": None}
    while (told := client.next()).get("method") != "window/showMessage":
        pass
    information = 3
    assert told["params"] == {"type": information, "message": "explains: 1 of 1 task passed"}
    assert titles_at(client, suite, GRADER)[:2] == ["↻ Re-grade grader", "▶ Run grader"]


def test_what_goes_on_is_cancelled_by_the_same_action(client: RawClient, suite: Path) -> None:
    config = {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"], "timeout": 90}
    waits = f"- {{type: program, config: {json.dumps(config)}}}"
    suite.write_text(SUITE.replace("graders:", f"graders:\n      {waits}"), "utf-8")
    execute(client, "waza.run", id=str(suite), wait=False)
    (action,) = runs_at(client, suite, END)
    assert action["title"] == "✗ Cancel suite"
    answer = execute(client, action["command"]["command"], **action["command"]["arguments"][0])
    assert answer["result"] == {"canceled": 1}


def test_a_run_that_cannot_begin_is_refused_at_once(suite: Path) -> None:
    with RawClient() as client:
        client.initialize(suite.parent, initializationOptions={"trusted": False})
        answer = execute(client, "waza.run", id=str(suite), wait=False)
        assert "untrusted" in answer["error"]["message"]


def test_whether_to_wait_is_true_or_false(client: RawClient, suite: Path) -> None:
    answer = execute(client, "waza.run", id=str(suite), wait="no")
    assert answer["error"]["message"] == "The `wait` of waza.run must be true or false."
