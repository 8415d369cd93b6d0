"""In a workspace that is not trusted the server starts no process, whoever asks for one."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from waza_language_server.engine import process
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.runs import Runs
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.client import ClientOptions
from waza_language_server.protocol.server import WazaServer
from waza_language_server.protocol.services.session import Session


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the commands that were started; none of them is."""
    commands: list[Any] = []

    def start(command: Any, **_: Any) -> None:
        commands.append(command)
        raise OSError("not in a test")

    monkeypatch.setattr(process, "Popen", start)
    monkeypatch.setattr(subprocess, "Popen", start)
    return commands


def created(options: ClientOptions) -> WazaServer:
    server = WazaServer()
    server.options = options
    server.session = Session()
    return server


@pytest.mark.parametrize("method", ["grader.types", "run.estimate", "result.runs", "live.open", "eval.run"])
async def test_an_untrusted_workspace_gets_no_engine(started: list[Any], method: str) -> None:
    server = created(ClientOptions(interpreter="/repository/.venv/bin/python", trusted=False))
    with pytest.raises(EngineError, match="untrusted"):
        await server.runs.ask(method, {}, 1.0)
    assert started == []


async def test_a_run_that_nothing_may_start_for_ends_with_the_reason(started: list[Any]) -> None:
    runs = Runs("/repository/.venv/bin/python", on_change=lambda _: None, may_start=lambda: False)
    outcome = await runs.run(RunnableId(Path("/repository/eval.yaml")), lambda _: None)
    assert outcome.status == "error"
    assert "untrusted" in (outcome.message or "")
    assert started == []


async def test_a_trusted_workspace_gets_the_engine_of_its_interpreter(started: list[Any]) -> None:
    server = created(ClientOptions(interpreter="/repository/.venv/bin/python"))
    with pytest.raises(EngineError, match="cannot be started"):
        await server.runs.ask("grader.types", {}, 1.0)
    assert [command[0] for command in started] == ["/repository/.venv/bin/python"]
