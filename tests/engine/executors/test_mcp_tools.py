from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import ask, openai_executor, result_of
from tests.scripted_model import call
from waza_engine.executors.base import ExecutorError
from waza_engine.mcp.mocks import MockResponse, MockServer, MockTool, server_of


def test_the_model_calls_the_tools_of_mcp_servers(tmp_path: Path, scripted_model: StartModel) -> None:
    tool = MockTool((MockResponse({"path": "a"}, result="text"), MockResponse(error="no such file")))
    MockServer("files", {"read": tool}).write(tmp_path / "mock.json")
    model = scripted_model(call("files-read", path="a"), call("files-read", path="b"), "done")
    with openai_executor(model.base_url) as executor:
        servers = {"files": server_of(tmp_path / "mock.json")}
        response = ask(executor, "Read a and b", tmp_path, mcp_servers=servers)
        assert psutil.Process().children(recursive=True) == []
    assert "files-read" in model.requests[0].tool_names
    assert response.output == "done"
    assert [found.success for found in response.tool_calls] == [True, False]
    assert (result_of(response, 0), result_of(response, 1)) == ('"text"', "no such file")


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
