"""What a session of the Copilot agent is opened with."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from waza_engine.executors.copilot_sdk import Sessions
from waza_engine.executors.executor import ExecutionRequest

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
