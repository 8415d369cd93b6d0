import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import ask, openai_executor, result_of
from tests.patience import ON_A_BUSY_MACHINE
from tests.scripted_model import ModelRequest, Reply, call
from waza_engine.executors.executor import ExecutorError
from waza_engine.mcp.mocks import MockResponse, MockServer, MockTool, server_of
from waza_engine.runs.limits.cancellation import RunCancellation


def test_the_model_calls_the_tools_of_mcp_servers(tmp_path: Path, scripted_model: StartModel) -> None:
    tool = MockTool((MockResponse({"path": "a"}, result="text"), MockResponse(error="no such file")))
    MockServer("files", {"read": tool}).write(tmp_path / "mock.json")
    model = scripted_model(call("files-read", path="a"), call("files-read", path="b"), "done")
    before = set(psutil.Process().children(recursive=True))
    with openai_executor(model.base_url) as executor:
        servers = {"files": server_of(tmp_path / "mock.json")}
        response = ask(executor, "Read a and b", tmp_path, mcp_servers=servers)
        assert set(psutil.Process().children(recursive=True)) <= before
    assert "files-read" in model.requests[0].tool_names
    assert response.output == "done"
    assert [found.success for found in response.tool_calls] == [True, False]
    assert (result_of(response, 0), result_of(response, 1)) == ('"text"', "no such file")


def test_a_mock_is_asked_without_a_process(tmp_path: Path, scripted_model: StartModel) -> None:
    MockServer("my files", {"read": MockTool((MockResponse(result=1),))}).write(tmp_path / "mock.json")
    began = time.time()
    children: list[float] = []

    def reply(request: ModelRequest) -> Reply:
        children.extend(child.create_time() for child in psutil.Process().children(recursive=True))
        return "done" if request.tool_results else call("my_files-read")

    model = scripted_model(reply)
    with openai_executor(model.base_url) as executor:
        servers = {"my files": server_of(tmp_path / "mock.json")}
        response = ask(executor, "Read", tmp_path, mcp_servers=servers)
    assert result_of(response) == "1"
    assert not [created for created in children if created >= began]


def test_an_mcp_server_that_cannot_be_used_is_an_error_before_the_model_is_asked(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model("never asked")
    server = {"type": "stdio", "command": "no-such-program", "args": [], "env": {}, "tools": ["*"]}
    with (
        openai_executor(model.base_url) as executor,
        pytest.raises(ExecutorError, match="the MCP server `files` cannot be used"),
    ):
        ask(executor, "Read", tmp_path, mcp_servers={"files": server})
    assert model.requests == []


def test_cancelling_does_not_wait_for_an_mcp_server_that_keeps_silent(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model, cancellation, asked = scripted_model(), RunCancellation(), threading.Event()
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        openai_executor(model.base_url) as executor,
        ThreadPoolExecutor(2) as pool,
    ):

        def accept() -> None:
            connection, _ = silent.accept()
            with connection:
                connection.recv(65_536)
                asked.set()
                while connection.recv(65_536):
                    pass

        pool.submit(accept)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        servers = {"files": {"type": "http", "url": url, "headers": {}, "tools": ["*"]}}
        turn = pool.submit(ask, executor, "Read", tmp_path, cancellation, mcp_servers=servers)
        assert asked.wait(10 + ON_A_BUSY_MACHINE)
        started = time.monotonic()
        cancellation.request()
        assert isinstance(turn.exception(10 + ON_A_BUSY_MACHINE), ExecutorError)
        assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE
    assert model.requests == []
