"""The Copilot agent: its program, which is never fetched, its models, its sessions and its events."""

import asyncio
import os
import socket
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from copilot import _cli_download as library
from copilot._cli_version import get_runtime_platform

from tests.engine.suites import present
from waza_engine.executors.copilot.events import TurnRecord, usage_of_models, usage_since
from waza_engine.executors.copilot.runtime import Program, _login_command, find_program, find_provider
from waza_engine.executors.copilot_sdk import CopilotExecutor, Sessions
from waza_engine.executors.executor import ExecutionRequest, ExecutorError, ExecutorSettings
from waza_engine.masking import masked
from waza_engine.peers import bounds
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig, Provider
from waza_engine.vocabulary import ModelUsage, Usage


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
    with (
        closing(CopilotExecutor(ExecutorSettings(tmp_path, EvalConfig.model_validate(block)))) as executor,
        pytest.raises(ExecutorError, match=f"nothing answers at `{host}`; start the server"),
    ):
        executor.execute(ExecutionRequest("Hello", tmp_path), RunCancellation())


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
    with (
        closing(CopilotExecutor(ExecutorSettings(tmp_path, config))) as executor,
        pytest.raises(ExecutorError, match=f"`{other}` is not the GitHub Copilot agent"),
    ):
        executor.execute(ExecutionRequest("Hi", tmp_path, model="m"), RunCancellation())


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


URL = "http://127.0.0.1:11434/v1"


def provider(**written: str) -> Provider:
    return Provider.model_validate({"base_url": URL, **written})


def test_without_any_it_is_github() -> None:
    assert find_provider(None) is None


def test_the_suite_names_it_and_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "very-secret")
    found = present(find_provider(provider(api_key_env="MY_KEY", wire_api="responses")))
    assert found.config == {
        "type": "openai",
        "base_url": URL,
        "wire_api": "responses",
        "api_key": "very-secret",
    }
    assert (found.host, found.key_variable, found.names_model) == ("127.0.0.1:11434", "MY_KEY", False)
    assert masked("says very-secret") == "says ***"


def test_the_suite_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", "http://elsewhere:1/v1")
    monkeypatch.setenv("COPILOT_PROVIDER_API_KEY", "for-elsewhere")
    found = present(find_provider(provider()))
    assert found.host == "127.0.0.1:11434"
    assert "api_key" not in found.config


def test_all_variables_of_the_agent_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "BASE_URL": URL,
        "TYPE": "azure",
        "API_KEY": "very-secret",
        "BEARER_TOKEN": "even-more-secret",
        "WIRE_API": "responses",
        "AZURE_API_VERSION": "2024-10-21",
        "MODEL_ID": "gpt-5",
        "MAX_OUTPUT_TOKENS": "4000",
        "HEADERS": "X-Team: waza\\nX-Id: a:b",
    }.items():
        monkeypatch.setenv(f"COPILOT_PROVIDER_{name}", value)
    monkeypatch.setenv("API_KEY", "of something else")
    found = present(find_provider(None))
    assert found.config == {
        "type": "azure",
        "base_url": URL,
        "api_key": "very-secret",
        "bearer_token": "even-more-secret",
        "wire_api": "responses",
        "azure": {"api_version": "2024-10-21"},
        "model_id": "gpt-5",
        "max_output_tokens": 4000,
        "headers": {"X-Team": "waza", "X-Id": "a:b"},
    }
    assert found.names_model
    assert found.key_variable == "COPILOT_PROVIDER_BEARER_TOKEN"
    assert masked("even-more-secret very-secret") == "*** ***"


def test_a_key_that_is_not_set() -> None:
    with pytest.raises(ExecutorError, match=r"`NOT_SET`, which `provider\.api_key_env` names"):
        find_provider(provider(api_key_env="NOT_SET"))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("BASE_URL", "ftp://host", "`COPILOT_PROVIDER_BASE_URL` is not a web address"),
        ("TYPE", "ollama", "`COPILOT_PROVIDER_TYPE` is `ollama`; set it to one of `openai`"),
        ("MAX_PROMPT_TOKENS", "many", "`COPILOT_PROVIDER_MAX_PROMPT_TOKENS` is `many`; set it to a whole"),
        ("HEADERS", "nonsense", "write `Name: value`"),
    ],
)
def test_a_variable_that_cannot_be_used(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", URL)
    monkeypatch.setenv(f"COPILOT_PROVIDER_{name}", value)
    with pytest.raises(ExecutorError, match=message):
        find_provider(None)


def test_a_sub_agent_says_nothing_to_the_user_but_its_calls_count() -> None:
    record = TurnRecord()
    record.add("assistant.message", {"content": "I ask someone. "})
    record.add("assistant.message", {"content": "Searching."}, "explorer")
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "grep"}, "explorer")
    record.add("session.error", {"message": "lost my way"}, "explorer")
    record.add("assistant.message", {"content": "Found."})
    assert record.output == "I ask someone. Found."
    assert [call.name for call in record.tool_calls] == ["grep"]
    assert record.error == ""
    assert record.events[1] == {"type": "assistant.message", "content": "Searching.", "agent_id": "explorer"}


def test_calls_stand_in_start_order_whatever_ends_first() -> None:
    watched: list[str] = []
    record = TurnRecord(lambda call: watched.append(call.name))
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "bash", "arguments": {"command": "a"}})
    record.add("tool.execution_start", {"toolCallId": "2", "toolName": "view", "arguments": {"path": "b"}})
    record.add(
        "tool.execution_complete", {"toolCallId": "2", "success": True, "result": {"content": "text of b"}}
    )
    bash, view = record.tool_calls
    assert (bash.name, bash.success, bash.result) == ("bash", False, None)
    assert (view.name, view.success, view.result) == ("view", True, {"content": "text of b"})
    assert watched == ["bash", "view"]


def test_starts_without_a_name_or_an_id_are_ignored() -> None:
    record = TurnRecord()
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": ""})
    record.add("tool.execution_start", {"toolName": "bash"})
    record.add("tool.execution_complete", {"toolCallId": "7", "success": True})
    assert record.tool_calls == ()


def test_the_reported_intent_is_left_out_from_start_to_end() -> None:
    record = TurnRecord()
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "report_intent"})
    record.add("tool.execution_progress", {"toolCallId": "1"})
    record.add("tool.execution_complete", {"toolCallId": "1", "success": True})
    assert (record.events, record.tool_calls) == ([], ())


def test_details_are_told_where_they_say_more() -> None:
    record = TurnRecord()
    record.add("tool.execution_start", {"toolCallId": "1", "toolName": "edit"})
    result = {"content": "done", "detailedContent": "-a\n+b", "contents": [{"type": "text"}]}
    record.add("tool.execution_complete", {"toolCallId": "1", "success": True, "result": result})
    assert record.events[1]["tool_result"] == {"content": "done", "detailedContent": "-a\n+b"}


def test_without_totals_the_single_calls_are_added_up_by_model() -> None:
    record = TurnRecord()
    record.add("assistant.turn_start", {})
    record.add("assistant.usage", {"model": "big", "inputTokens": 100, "outputTokens": 10, "cost": 1.0})
    record.add("assistant.usage", {"model": "small", "inputTokens": 20, "cacheReadTokens": 15, "cost": 0.33})
    record.add("assistant.usage", {"model": "big", "inputTokens": 50, "outputTokens": 5, "cost": 1.0})
    usage = record.usage()
    assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (1, 170, 15, 15)
    assert usage.premium_requests == 2.33
    assert usage.model_metrics["big"] == ModelUsage(150, 15, 0, 0, 2, 2.0)


def test_totals_of_the_session_go_before_single_calls() -> None:
    record = TurnRecord()
    record.add("assistant.turn_start", {})
    record.add("assistant.usage", {"model": "m", "inputTokens": 1})
    before = usage_of_models({"m": ModelUsage(100, 10, 0, 0, 2, 1.0)}, 1.0)
    now = usage_of_models({"m": ModelUsage(160, 25, 5, 0, 4, 2.0), "n": ModelUsage(7, 1, 0, 0, 1, 0.0)}, 3.0)
    assert record.usage(usage_since(before, now)) == Usage(
        turns=1,
        input_tokens=67,
        output_tokens=16,
        cache_read_tokens=5,
        premium_requests=2.0,
        model_metrics={"m": ModelUsage(60, 15, 5, 0, 2, 1.0), "n": ModelUsage(7, 1, 0, 0, 1, 0.0)},
    )


def test_a_server_that_starts_after_all_is_not_broken() -> None:
    record = TurnRecord()
    record.add("session.mcp_server_status_changed", {"serverName": "a", "status": "failed", "error": "slow"})
    record.add(
        "session.mcp_servers_loaded",
        {
            "servers": [
                {"name": "a", "status": "connected"},
                {"name": "b", "status": "failed", "error": "gone"},
            ]
        },
    )
    assert record.broken_servers == {"b": "gone"}


def test_what_goes_beyond_the_bound_of_a_turn_is_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MOST_BYTES", 1_000)
    record = TurnRecord()
    for _ in range(5):
        record.add("assistant.message", {"content": "y" * 400})
        record.add("assistant.usage", {"inputTokens": 1, "model": "m"})
    record.add("session.idle", {})
    assert len(record.output) == 800
    assert record.error == "it sent more than 0.001 MB; the rest was not read"
    assert record.usage().input_tokens == 5
    assert record.idle
