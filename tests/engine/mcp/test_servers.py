from pathlib import Path
from typing import Any

import pytest

from waza_engine.mcp.servers import agent_servers


def server(block: object, directory: Path, **variables: str) -> dict[str, Any]:
    servers, warnings = agent_servers({"files": block}, directory, variables)
    assert warnings == []
    return servers["files"]


def test_a_stdio_server_is_the_default(tmp_path: Path) -> None:
    assert server({"command": "npx", "args": ["mcp-files", 3]}, tmp_path) == {
        "type": "stdio",
        "command": "npx",
        "args": ["mcp-files", "3"],
        "env": {},
        "tools": ["*"],
    }


@pytest.mark.parametrize("kind", ["http", "sse"])
def test_a_server_on_the_network_has_an_address_and_headers(tmp_path: Path, kind: str) -> None:
    block = {
        "type": kind,
        "url": "https://mcp.example/${PLACE}",
        "headers": {"Authorization": "Bearer ${KEY}"},
    }
    assert server(block, tmp_path, PLACE="x", KEY="secret") == {
        "type": kind,
        "url": "https://mcp.example/x",
        "headers": {"Authorization": "Bearer secret"},
        "tools": ["*"],
    }


def test_a_server_with_an_address_alone_is_http(tmp_path: Path) -> None:
    assert server({"url": "http://127.0.0.1:9"}, tmp_path)["type"] == "http"


def test_variables_come_from_the_environment_by_name(tmp_path: Path) -> None:
    assert server({"command": "x", "env": ["TOKEN"]}, tmp_path, TOKEN="t")["env"] == {"TOKEN": "t"}
    block = {"command": "x", "env": {"A": "${TOKEN}", "B": "${env:TOKEN}!", "C": "${GONE:-else}", "D": 1}}
    assert server(block, tmp_path, TOKEN="t")["env"] == {"A": "t", "B": "t!", "C": "else", "D": "1"}


def test_commands_and_directories_beside_the_suite_are_found_from_every_workspace(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "serve").touch()
    found = server({"command": "./tools/serve", "working_directory": "tools", "timeout": 500}, tmp_path)
    assert Path(found["command"]) == tmp_path / "tools" / "serve"
    assert (Path(found["cwd"]), found["timeout"]) == (tmp_path / "tools", 500)
    assert server({"command": "/usr/bin/serve"}, tmp_path)["command"] == "/usr/bin/serve"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("npx", "must be a block"),
        ({}, "needs `command`"),
        ({"type": "http"}, "needs `url`"),
        ({"type": "websocket", "url": "x"}, "the type `websocket`; write one of `stdio`, `http`, `sse`"),
        ({"command": "x", "args": "y"}, "`args` that is no list"),
        ({"command": "x", "env": {"A": "${GONE}"}}, "the environment variable `GONE`, which is not set"),
        ({"command": "x", "env": ["GONE"]}, "the environment variable `GONE`, which is not set"),
        ({"command": "x", "timeout": "soon"}, "`timeout`"),
    ],
)
def test_what_cannot_be_used_is_left_out_with_a_warning(tmp_path: Path, block: object, reason: str) -> None:
    servers, warnings = agent_servers({"files": block, "other": {"command": "x"}}, tmp_path, {})
    assert list(servers) == ["other"]
    assert len(warnings) == 1
    assert warnings[0].startswith("`mcp_servers.files`")
    assert reason in warnings[0]


def test_a_key_without_effect_is_told(tmp_path: Path) -> None:
    servers, warnings = agent_servers({"files": {"command": "x", "arguments": []}}, tmp_path, {})
    assert list(servers) == ["files"]
    assert "`arguments` has no effect" in warnings[0]
