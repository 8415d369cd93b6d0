import json
import socket
import sys
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvicorn
from mcp.server import MCPServer

from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.mcp.mcp_client import McpError, McpTools
from waza_engine.mcp.mocks import MockResponse, MockServer, MockTool, server_of
from waza_engine.mcp.servers import agent_servers
from waza_engine.processes.scope import ProcessScope

pytestmark = pytest.mark.check

HANGS = "import sys, time\nprint('[]', flush=True)\ntime.sleep(60)\n"


def mock_server(directory: Path, *responses: MockResponse) -> dict[str, Any]:
    mock = MockServer("files", {"read": MockTool(responses, "Reads a file")})
    mock.write(directory / "mock.json")
    return server_of(directory / "mock.json")


def python_server(directory: Path, source: str, **more: Any) -> dict[str, Any]:
    (directory / "server.py").write_text(source)
    block = {"command": sys.executable, "args": [str(directory / "server.py")], **more}
    servers, warnings = agent_servers({"x": block}, directory)
    assert warnings == []
    return servers["x"]


@contextmanager
def connected(directory: Path, servers: Mapping[str, Any]) -> Generator[McpTools]:
    before = children()
    tools = McpTools(servers, directory, ProcessScope(), time.monotonic() + 30)
    try:
        yield tools
    finally:
        tools.stop()
        assert children() <= before


def children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def test_the_tools_of_a_server_are_listed_and_called(tmp_path: Path) -> None:
    server = mock_server(tmp_path, MockResponse({"path": "a"}, result=["é"]), MockResponse(error="none"))
    with connected(tmp_path, {"files": server}) as tools:
        assert tools.listed() == [("files-read", "Reads a file", {"type": "object"})]
        found = tools.call("files-read", {"path": "a"})
        assert (found.text, found.failed) == ('["é"]', False)
        missing = tools.call("files-read", {"path": "b"})
        assert (missing.text, missing.failed) == ("none", True)


def test_tools_that_the_suite_leaves_out_are_not_listed(tmp_path: Path) -> None:
    server = mock_server(tmp_path, MockResponse()) | {"tools": ["write"]}
    with connected(tmp_path, {"files": server}) as tools:
        assert tools.listed() == []


def test_the_keys_of_models_do_not_reach_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    told = "import os, json\nopen('environment.json', 'w').write(json.dumps(dict(os.environ)))\n"
    with pytest.raises(McpError):
        McpTools(
            {"x": python_server(tmp_path, told, env={"MINE": "1"})},
            tmp_path,
            ProcessScope(),
            time.monotonic() + 30,
        )
    environment = json.loads((tmp_path / "environment.json").read_text())
    assert environment["MINE"] == "1"
    assert "PATH" in environment
    assert "OPENAI_API_KEY" not in environment


def test_a_server_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    server = {"type": "stdio", "command": "no-such-program", "args": [], "env": {}, "tools": ["*"]}
    with pytest.raises(McpError, match=r"`files` cannot be used: No such file or directory: no-such-program"):
        McpTools({"files": server}, tmp_path, ProcessScope(), time.monotonic() + 30)


def test_a_server_that_ends_at_once_is_named(tmp_path: Path) -> None:
    with pytest.raises(McpError, match="the MCP server `x` cannot be used: it ended, or broke"):
        McpTools({"x": python_server(tmp_path, "")}, tmp_path, ProcessScope(), time.monotonic() + 30)


def test_a_server_that_never_answers_costs_no_more_than_the_time_of_the_turn(tmp_path: Path) -> None:
    started, before = time.monotonic(), children()
    with pytest.raises(McpError, match="`x` did not start within 1 second"):
        McpTools({"x": python_server(tmp_path, HANGS)}, tmp_path, ProcessScope(), started + 1)
    assert time.monotonic() - started < 4 + ON_A_BUSY_MACHINE
    assert children() <= before


def test_closing_the_scope_of_a_turn_ends_its_servers_and_a_call_that_waits(tmp_path: Path) -> None:
    source = """\
import time
from mcp.server import MCPServer
server = MCPServer("slow")
@server.tool()
def wait() -> str:
    open("waiting", "w").close()
    time.sleep(60)
    return ""
server.run()
"""
    scope, before = ProcessScope(), children()
    tools = McpTools({"x": python_server(tmp_path, source)}, tmp_path, scope, time.monotonic() + 60)
    threading.Thread(target=_close_when, args=(tmp_path / "waiting", scope), daemon=True).start()
    result = tools.call("x-wait", {})
    assert result.failed
    tools.stop()
    assert children() <= before


def _close_when(file: Path, scope: ProcessScope) -> None:
    while not file.exists():
        threading.Event().wait(0.01)
    scope.close()


def test_a_server_over_http_is_called_with_its_headers(tmp_path: Path) -> None:
    seen: list[str] = []
    server = MCPServer("remote")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    application = server.streamable_http_app()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(value.decode() for name, value in scope.get("headers", ()) if name == b"authorization")
        await application(scope, receive, send)

    with _served(noting) as url:
        block = {"type": "http", "url": f"{url}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
        servers, _ = agent_servers({"remote": block}, tmp_path, {"TOKEN": "t"})
        with connected(tmp_path, servers) as tools:
            assert tools.call("remote-add", {"a": 1, "b": 2}).text == "3"
    assert set(seen) == {"Bearer t"}


@contextmanager
def _served(application: Any) -> Generator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        # A client may be there before the server.
        listening.listen()
        port = listening.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(application, log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(10 + ON_A_BUSY_MACHINE)
