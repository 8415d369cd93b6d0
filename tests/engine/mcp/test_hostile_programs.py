"""An MCP server that is a program and writes without end costs one plain sentence and little memory."""

import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from waza_engine.mcp.mcp_client import McpError, McpTools
from waza_engine.peers import bounds
from waza_engine.processes.scope import ProcessScope

pytestmark = pytest.mark.check
ANSWERS = """
import json, sys
results = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "x", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "tools/call":
        break
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]}
        print(json.dumps(answer), flush=True)
"""
LINE = "\nimport sys\nwhile True: sys.stdout.write('y' * 65536)\n"
MESSAGES = """
import sys
message = '{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}\\n'
while True: sys.stdout.write(message * 100)
"""
REFUSED = {
    LINE: "the MCP server `x` sent a message of more than 0.05 MB; the rest was not read",
    MESSAGES: "the MCP server `x` sent more than 0.2 MB; the rest was not read",
}


def connect(source: str, directory: Path) -> McpTools:
    (directory / "server.py").write_text(source)
    command: dict[str, Any] = {"command": sys.executable, "args": [str(directory / "server.py")]}
    server = {"type": "stdio", "env": {}, "tools": ["*"], **command}
    return McpTools({"x": server}, directory, ProcessScope(), time.monotonic() + 30)


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_BYTES", 200_000)
    monkeypatch.setattr(bounds, "LONGEST_MESSAGE_BYTES", 50_000)


@pytest.mark.usefixtures("small_bounds")
@pytest.mark.parametrize("endless", [LINE, MESSAGES], ids=["a line", "messages"])
def test_a_program_that_writes_without_end_when_it_starts_is_refused(endless: str, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(McpError) as caught:
        connect(endless, tmp_path)
    assert str(caught.value) == REFUSED[endless]
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.usefixtures("small_bounds")
@pytest.mark.parametrize("endless", [LINE, MESSAGES], ids=["a line", "messages"])
def test_an_answer_of_a_program_without_end_is_a_failed_call(endless: str, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    tools = connect(ANSWERS + endless, tmp_path)
    result = tools.call("x-look", {})
    tools.stop()
    assert (result.text, result.failed) == (REFUSED[endless], True)
    assert set(psutil.Process().children(recursive=True)) <= before


def test_a_line_without_end_costs_no_more_memory_than_a_message(tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    with pytest.raises(McpError, match="sent a message of more than 16 MB"):
        connect(LINE, tmp_path)
    assert psutil.Process().memory_info().rss - before < 8 * bounds.LONGEST_MESSAGE_BYTES
