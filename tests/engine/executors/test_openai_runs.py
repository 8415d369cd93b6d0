"""Whole runs with the executor ``openai``: the graders read what the model did."""

import json
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.results.upstream_layout import complaints
from tests.engine.suites import only_trial, openai_config, present, run, task, write_suite
from tests.scripted_model import Answer, Tokens, call

GRADERS = r"""
- {type: skill_invocation, name: loads, config: {required_skills: [writer], mode: exact_match}}
- {type: tool_calls, name: calls, config: {required_tools: [skill, create], forbidden_tools: [bash]}}
- type: action_sequence
  name: order
  config: {expected_actions: [skill, create, view], matching_mode: exact_match}
- type: tool_constraint
  name: path
  config: {expect_tools: [{tool: create, path_pattern: 'hello\.txt$'}]}
- type: file
  name: file
  config: {content_patterns: [{path: hello.txt, must_match: ['^Hello$']}]}
- {type: behavior, name: cheap, config: {max_tokens: 75, max_tool_calls: 3}}
- {type: text, name: says, config: {contains: [written]}}
"""


def config(base_url: str, more: str = "") -> str:
    return openai_config(base_url, f"workspace_tools: [read, write], {more}")


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    return write_skill(tmp_path / "skills", "writer", "Writes greetings.", "Write into hello.txt.")


@pytest.mark.usefixtures("skills")
def test_graders_see_skill_tools_files_tokens_and_text(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(
        call("skill", skill="writer"),
        call("create", path="hello.txt", file_text="Hello"),
        call("view", path="hello.txt"),
        Answer("It is written.", usage=Tokens(20, 10)),
    )
    path = write_suite(
        tmp_path,
        {"a": task("a")},
        graders=GRADERS,
        config=config(model.base_url, "skill_directories: [skills]"),
    )

    report, events = run(path)

    assert [event.message for event in events if event.kind == "output"] == [
        "⚙ skill writer",
        "⚙ create hello.txt · Hello",
        "⚙ view hello.txt",
        "It is written.",
    ]
    trial = only_trial(report)
    verdicts = trial.validations or {}
    assert len(verdicts) == 7
    assert all(verdict.passed for verdict in verdicts.values()), verdicts
    assert trial.usage is not None
    assert trial.usage.input_tokens + trial.usage.output_tokens == 75
    assert "Write into hello.txt." in model.requests[0].system
    assert list(complaints(json.loads(present(report.results_file).read_text("utf-8")))) == []


def test_the_key_is_in_no_file_of_the_run(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "the-very-secret-key")
    model = scripted_model(
        call("create", path="the-very-secret-key.txt", file_text="x"),
        "the-very-secret-key",
        api_key="the-very-secret-key",
    )
    block = config(model.base_url).replace("provider: {", "provider: {api_key_env: MY_KEY, ")
    path = write_suite(tmp_path, {"a": task("a")}, config=block)

    report, _ = run(path)

    assert only_trial(report).output == "the-very-secret-key", "it is graded as it is"
    written = [found for found in (tmp_path / ".waza").rglob("*") if found.is_file()]
    assert present(report.results_file) in written
    assert not any("the-very-secret-key" in found.read_text("utf-8") for found in written)
