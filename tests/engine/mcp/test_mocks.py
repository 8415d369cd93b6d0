import json
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import StartModel
from tests.engine.suites import only_trial, openai_config, replaced, run, write_suite
from tests.scripted_model import call
from waza_engine.mcp.mocks import MockError, MockServer, load_mocks, read_mock, server_of, steps_folder
from waza_engine.mcp.servers import agent_servers
from waza_engine.spec.eval_file import McpMock


def mock_of(directory: Path, **keys: Any) -> MockServer:
    """Return the mock of an entry; ``tools`` map a name to its responses."""
    tools = {name: {"responses": responses} for name, responses in keys.pop("tools", {}).items()}
    mocks, broken, warnings = load_mocks(
        [McpMock.model_validate({"name": "github", "tools": tools, **keys})], directory
    )
    assert (broken, warnings) == ([], [])
    return mocks[0]


def complaint_about(directory: Path, **keys: Any) -> str:
    mocks, broken, warnings = load_mocks([McpMock.model_validate({"name": "github", **keys})], directory)
    assert (mocks, broken, len(warnings)) == ([], ["github"], 1)
    return warnings[0]


def test_the_first_response_that_fits_is_the_answer(tmp_path: Path) -> None:
    mock = mock_of(
        tmp_path,
        tools={
            "search": [
                {"match": {"query": "auth", "limit": 5}, "return": {"items": [1]}},
                {"match_regex": {"query": "^au", "limit": "^5$"}, "return": "by pattern"},
                {"match_schema": {"required": ["query"]}, "return": ["by schema"]},
                {"return": None},
            ]
        },
    )
    assert mock.answer("search", {"query": "auth", "limit": 5.0}) == '{"items":[1]}'
    assert mock.answer("search", {"query": "auth", "limit": 5, "more": True}) == '"by pattern"'
    assert mock.answer("search", {"query": "b"}) == '["by schema"]'
    assert mock.answer("search", {}) == "null"


def test_all_conditions_of_a_response_must_hold(tmp_path: Path) -> None:
    conditions = {"match_regex": {"path": "md$"}, "match_schema": {"required": ["line"]}}
    mock = mock_of(tmp_path, tools={"read": [{**conditions, "return": 1}, {"return": 2}]})
    assert mock.answer("read", {"path": "a.md", "line": 1}) == "1"
    assert mock.answer("read", {"path": "a.md"}) == "2"
    assert mock.answer("read", {"line": 1}) == "2"


def test_an_error_is_a_tool_error_with_its_own_words(tmp_path: Path) -> None:
    mock = mock_of(tmp_path, tools={"read": [{"error": "404: no such file"}]})
    with pytest.raises(MockError, match=r"^404: no such file$"):
        mock.answer("read", {})


def test_a_call_without_an_answer_says_what_is_missing(tmp_path: Path) -> None:
    mock = mock_of(tmp_path, tools={"read": [{"match": {"path": "a"}, "return": 1}]})
    with pytest.raises(MockError, match=r'`read` of the mock `github` fits the arguments \{"path": "b"\}'):
        mock.answer("read", {"path": "b"})
    with pytest.raises(MockError, match=r"no tool `write`; it has read: add a fixture `write.json`"):
        mock.answer("write", {})


def test_fixtures_are_found_at_all_levels_and_inline_tools_replace_them(tmp_path: Path) -> None:
    folder = tmp_path / "mocks"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    one: dict[str, Any] = {"description": "Reads", "responses": [{"return": "file"}], "other": 1}
    (folder / "read.json").write_text(json.dumps(one))
    (folder / ".hidden" / "no.json").write_text("not JSON")
    (folder / "deep" / "all.json").write_text(json.dumps({"tools": {"list": one, "move": one}}))
    mock = mock_of(tmp_path, fixtures="mocks", tools={"move": [{"return": "inline"}]})
    assert {name: mock.answer(name, {}) for name in mock.tools} == {
        "list": '"file"',
        "move": '"inline"',
        "read": '"file"',
    }
    assert mock.tools["read"].description == "Reads"


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"fixtures": "gone"}, "gone is not a directory"),
        ({"fixtures": "."}, "it has no tool"),
        (
            {"tools": {"a": {"responses": [{"match_regex": {"x": "("}}]}}},
            "response 1 of the tool `a`: invalid",
        ),
        ({"tools": {"a": {"responses": [{"match_schema": {"type": "txt"}}]}}}, "the schema is invalid"),
        (
            {"tools": {"a": {"responses": [{}], "input_schema": {"type": "array"}}}},
            "must be of `type: object`",
        ),
    ],
)
def test_a_broken_mock_is_left_out_with_a_warning(tmp_path: Path, keys: Any, reason: str) -> None:
    assert reason in complaint_about(tmp_path, **keys)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "a.json, line 1: this is not JSON"),
        ("[]", "a.json: the file must be"),
        ("{}", "a.json: `responses` is missing"),
        ('{"responses": [{"match": 3}]}', "a.json: `responses[0].match` must be"),
    ],
)
def test_a_broken_fixture_names_its_file(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.json").write_text(content)
    assert reason in complaint_about(tmp_path, fixtures="f")


def parameters_of(file: Path) -> StdioServerParameters:
    server = server_of(file)
    return StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])


async def test_a_client_lists_and_calls_the_tools_of_a_mock(tmp_path: Path) -> None:
    mock = mock_of(
        tmp_path,
        tools={"search": [{"match": {"q": "é"}, "return": {"hits": ["ü"]}}, {"error": "no hits"}]},
    )
    mock.write(tmp_path / "mock.json")
    # A module of the agent's workspace must not take the place of one of ours.
    (tmp_path / "json.py").write_text("raise SystemExit('the workspace was imported')")
    parameters = parameters_of(tmp_path / "mock.json").model_copy(update={"cwd": tmp_path})
    async with Client(parameters) as client:
        tools = (await client.list_tools()).tools
        assert [(tool.name, tool.input_schema) for tool in tools] == [("search", {"type": "object"})]
        found = await client.call_tool("search", {"q": "é"})
        assert (text_of(found), found.is_error) == ('{"hits":["ü"]}', False)
        refused = await client.call_tool("search", {"q": "x"})
        assert (text_of(refused), refused.is_error) == ("no hits", True)
        unknown = await client.call_tool("delete", {})
        assert "no tool `delete`" in text_of(unknown)


def text_of(result: mcp_types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, mcp_types.TextContent)
    return block.text


def test_a_mock_that_is_written_and_read_is_the_same(tmp_path: Path) -> None:
    mock = mock_of(tmp_path, tools={"a": [{"match": {"x": [1, {"y": None}]}, "return": {"z": 1.5}}]})
    mock.write(tmp_path / "mock.json")
    assert read_mock(tmp_path / "mock.json") == mock


STEPS = [{"error": "busy"}, {"return": {"ok": True}, "delay_ms": 1}]


def mock(directory: Path) -> MockServer:
    written = McpMock.model_validate({"name": "box", "tools": {"open": {"responses": [{"sequence": STEPS}]}}})
    (made,), broken, warnings = load_mocks([written], directory)
    assert (broken, warnings) == ([], [])
    return made


def test_each_call_takes_the_next_step_and_those_behind_the_last_fail(tmp_path: Path) -> None:
    file = tmp_path / "mock.json"
    mock(tmp_path).write(file)
    taken = steps_folder(file, tmp_path)
    with pytest.raises(MockError, match="busy"):
        read_mock(file).answer("open", {}, taken)
    assert read_mock(file).answer("open", {}, taken) == '{"ok":true}'
    with pytest.raises(MockError, match="used up"):
        read_mock(file).answer("open", {}, taken)


def test_another_workspace_begins_with_the_first_step(tmp_path: Path) -> None:
    file = tmp_path / "mock.json"
    mock(tmp_path).write(file)
    for name in ("a", "b"):
        with pytest.raises(MockError, match="busy"):
            read_mock(file).answer("open", {}, steps_folder(file, tmp_path / name))


def test_the_steps_go_on_over_the_prompts_of_a_conversation(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(call("box-open"), "Busy.", call("box-open"), "Open.")
    config = openai_config(model.base_url)
    more = (
        "mcp_mocks:\n- name: box\n  tools: {open: {responses: [{sequence: [{error: busy}, {return: 1}]}]}}\n"
    )
    tasks = {"a": "id: a\nname: A\ninputs: {prompt: Open it, follow_up_prompts: [Again]}\n"}
    path = write_suite(tmp_path, tasks, config=config, more=more)
    replaced(path, "skill: writer", 'scenario: box\nschemaVersion: "2.0"')
    calls = only_trial(run(path)[0]).tool_calls or ()
    assert [(made.success, made.result) for made in calls] == [
        (False, {"content": "busy"}),
        (True, {"content": "1"}),
    ]


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
