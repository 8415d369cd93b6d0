"""The steps of a mocked tool: one a call, each once in a task, whoever asks."""

from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.suites import CONFIG, only_trial, run, write_suite
from tests.scripted_model import call
from waza_engine.mcp.mocks import MockError, MockServer, load_mocks, read_mock, steps_folder
from waza_engine.spec.eval_file import McpMock

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
    settings = f"executor: openai, model: m, provider: {{base_url: '{model.base_url}'}}"
    config = CONFIG.replace("executor: mock", settings)
    more = (
        "mcp_mocks:\n- name: box\n  tools: {open: {responses: [{sequence: [{error: busy}, {return: 1}]}]}}\n"
    )
    tasks = {"a": "id: a\nname: A\ninputs: {prompt: Open it, follow_up_prompts: [Again]}\n"}
    path = write_suite(tmp_path, tasks, config=config, more=more)
    text = path.read_text("utf-8").replace("skill: writer", 'scenario: box\nschemaVersion: "2.0"')
    path.write_text(text, "utf-8")
    calls = only_trial(run(path)[0]).tool_calls or ()
    assert [(made.success, made.result) for made in calls] == [
        (False, {"content": "busy"}),
        (True, {"content": "1"}),
    ]
