"""The server starts where Python can store no byte code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.editor import SERVER
from tests.protocol.raw_client import RawClient, running_server
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks:
  - {id: one, name: One, inputs: {prompt: Say hello}}
graders:
  - {type: text, name: greets, config: {contains: [hello]}}
  - type: code
    name: short
    config: {asertions: [len(output) < 9]}
"""
HOVERED, TYPED = (7, 10), (8, 4)


def first_answers(folder: Path, program: str = "", **environment: str | None) -> Any:
    """Start a server, open a file right behind, and return what it says of it.

    ``program`` is executed first in its process; None takes a variable of the environment away.
    """
    suite = folder / "eval.yaml"
    suite.write_text(SUITE, "utf-8")
    changed = {"PYTHONDONTWRITEBYTECODE": None, **environment}
    unchanged = {name: value for name, value in os.environ.items() if name not in changed}
    command = running_server(program) if program else SERVER
    told = unchanged | {name: value for name, value in changed.items() if value is not None}
    with RawClient(command, environment=told) as client:
        client.initialize(folder)
        client.open(suite)
        wanted = {1: "textDocument/hover", 2: "textDocument/completion"}
        for (number, method), (line, character) in zip(wanted.items(), (HOVERED, TYPED), strict=True):
            position = {"line": line, "character": character}
            params = {"textDocument": {"uri": uri_of(suite)}, "position": position}
            client.send(method, params, id=number)
        answers: dict[str, Any] = {}
        while len(answers) < 3:
            message = client.next()
            assert message.get("method") not in ("window/showMessage", "window/logMessage"), message
            if message.get("id") in wanted:
                answers[wanted[message["id"]]] = message["result"]
            elif message.get("method") == "textDocument/publishDiagnostics":
                answers["problems"] = message["params"]["diagnostics"]
        client.ask("shutdown")
        client.send("exit")
        assert client.process.wait(60) == 0
    assert client.log == ""
    return answers


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Python keeps what it has compiled for the usual start."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory, warm: Path) -> Any:
    """What the first start of all says, and every other has to say, too."""
    answers = first_answers(tmp_path_factory.mktemp("usual"), PYTHONPYCACHEPREFIX=str(warm))
    assert len(compiled(warm)) > 100
    assert [each["code"] for each in answers["problems"]] == ["unknown-key"]
    assert answers["textDocument/hover"]["contents"]["value"].startswith("code · ")
    assert "weight" in str(answers["textDocument/completion"])
    return answers


def compiled(place: Path) -> list[Path]:
    """Return what Python keeps of our own modules."""
    return [path for path in place.rglob("*") if path.is_file() and "/waza_" in path.as_posix()]


def test_a_start_that_is_told_to_keep_nothing(tmp_path: Path, usual: Any) -> None:
    place = tmp_path / "compiled"
    answers = first_answers(tmp_path, PYTHONPYCACHEPREFIX=str(place), PYTHONDONTWRITEBYTECODE="1")
    assert answers == usual
    assert not place.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="nobody can write to /proc, whoever they are")
@pytest.mark.parametrize("where", ["/proc/nothing", "a file"])
def test_nothing_can_be_kept_and_nobody_is_at_home(tmp_path: Path, usual: Any, where: str) -> None:
    place = Path(where) if where.startswith("/") else tmp_path / "place"
    if where == "a file":
        place.touch()
    home = str(place) if where == "a file" else None
    answers = first_answers(tmp_path, PYTHONPYCACHEPREFIX=str(place), XDG_CACHE_HOME=str(place), HOME=home)
    assert answers == usual
