"""Finding the Copilot agent's program, without fetching or starting anything."""

import asyncio
import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from copilot import _cli_download as library
from copilot._cli_version import get_runtime_platform

from waza_engine.executors.base import ExecutionRequest, ExecutorError, ExecutorSettings
from waza_engine.executors.copilot.runtime import Program, _login_command, find_program
from waza_engine.executors.copilot_sdk import CopilotExecutor, Sessions
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig


@pytest.fixture(autouse=True)
def _machine_without_copilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_CLI_EXTRACT_DIR", str(tmp_path / "downloads"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()


def program(folder: Path, text: str = "") -> Path:
    path = folder / ("copilot.bat" if os.name == "nt" else "copilot")
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def test_a_machine_without_it_is_told_how_to_get_it_and_nothing_is_downloaded(tmp_path: Path) -> None:
    with pytest.raises(ExecutorError, match=r"not installed; run `npm install -g @github/copilot`"):
        find_program()
    assert not (tmp_path / "downloads").exists()


def test_a_model_server_on_this_machine_that_is_not_started_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        host = f"127.0.0.1:{unused.getsockname()[1]}"
    monkeypatch.setenv("COPILOT_CLI_PATH", str(program(tmp_path)))
    config = {"trials_per_task": 1, "timeout_seconds": 20, "executor": "copilot-sdk", "model": "m"}
    block = {**config, "provider": {"base_url": f"http://{host}/v1"}}
    executor = CopilotExecutor(ExecutorSettings(tmp_path, EvalConfig.model_validate(block)))
    try:
        with pytest.raises(ExecutorError, match=f"nothing answers at `{host}`; start the server"):
            executor.execute(ExecutionRequest("Hello", tmp_path), RunCancellation())
    finally:
        executor.close()


def test_the_variable_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin")
    named = program(tmp_path)
    monkeypatch.setenv("COPILOT_CLI_PATH", str(named))
    assert find_program() == Program(str(named))


def test_a_variable_that_leads_nowhere_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin")
    monkeypatch.setenv("COPILOT_CLI_PATH", "/no/copilot")
    with pytest.raises(ExecutorError, match="`COPILOT_CLI_PATH` is `/no/copilot`, where there is no program"):
        find_program()


def test_one_on_the_path_is_found_but_has_to_prove_itself(tmp_path: Path) -> None:
    path = program(tmp_path / "bin")
    assert find_program() == Program(str(path), verified=False)


def test_what_the_library_has_downloaded_is_used_when_it_is_complete(tmp_path: Path) -> None:
    place = tmp_path / "downloads" / "prebuilds" / get_runtime_platform()
    place.mkdir(parents=True)
    wrapper = place / ("copilot-runtime.exe" if sys.platform == "win32" else "copilot-runtime")
    wrapper.write_text("program")
    with pytest.raises(ExecutorError, match="not installed"):
        find_program()
    for name in ("runtime.node", library._HOSTLESS_ASSETS_MARKER):
        (place / name).write_text("1")
    assert find_program() == Program(str(wrapper))


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_another_program_of_that_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = program(tmp_path / "bin", "#!/bin/sh\necho copilot version: v1.34.0\n")
    config = EvalConfig.model_validate(
        {"trials_per_task": 1, "timeout_seconds": 9, "executor": "copilot-sdk"}
    )
    executor = CopilotExecutor(ExecutorSettings(tmp_path, config))
    try:
        with pytest.raises(ExecutorError, match=f"`{other}` is not the GitHub Copilot agent"):
            executor.execute(ExecutionRequest("Hi", tmp_path, model="m"), RunCancellation())
    finally:
        executor.close()


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_who_is_not_logged_in_is_told_a_command_that_is_there(tmp_path: Path) -> None:
    runtime = "/downloads/copilot-runtime"
    assert [_login_command(path) for path in ("/a b/copilot", "/a/index.js", runtime)] == [
        '"/a b/copilot" login',
        "node /a/index.js login",
        None,
    ]
    program(tmp_path / "bin", "#!/bin/sh\necho another program of that name\n")
    assert _login_command(runtime) is None
    program(tmp_path / "bin", "#!/bin/sh\necho GitHub Copilot CLI 1.0.102\n")
    assert _login_command(runtime) == "copilot login"


pytest.importorskip("copilot")


class _Client:
    def __init__(self) -> None:
        self.options: dict[str, Any] = {}

    async def create_session(self, **options: Any) -> object:
        self.options = options
        return SimpleNamespace(session_id="one")


@pytest.mark.parametrize(
    ("listed", "expected"),
    [({}, ["*"]), ({"tools": ["*"]}, ["*"]), ({"tools": []}, []), ({"tools": ["a"]}, ["a"])],
)
def test_a_server_shows_the_tools_that_the_suite_lists(
    tmp_path: Path, listed: dict[str, Any], expected: list[str]
) -> None:
    client = _Client()
    server = {"type": "stdio", "command": "server", "args": [], "env": {}, **listed}
    request = ExecutionRequest(prompt="Go", workspace=tmp_path, mcp_servers={"box": server})

    async def opened() -> None:
        async with Sessions(cast("Any", client), None).using(request):
            pass

    asyncio.run(opened())
    assert client.options["mcp_servers"]["box"]["tools"] == expected
