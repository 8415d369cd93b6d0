"""The real Copilot command line, driven by `examples/adapters/copilot.json`, with a scripted model."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.scripted_model import ScriptedModel, call
from waza_engine.executors.command import CommandExecutor
from waza_engine.executors.executor import ExecutionRequest, ExecutorSettings
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.vocabulary import SkillInvocation

pytestmark = pytest.mark.check

ADAPTER = Path(__file__).parents[2] / "examples" / "adapters" / "copilot.json"


def test_a_conversation_with_a_skill_and_a_command(
    agent_home: Path,
    copilot_program: Path,
    workspace: Path,
    skills: Path,
    tmp_path: Path,
    scripted_model: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert agent_home
    model = scripted_model(
        call("skill", skill="greeter"),
        call("bash", command="echo hi > made.txt; cat made.txt", description="Write a file"),
        "Hello Ann.",
        "Bye Ann.",
        api_key="a-key-for-this-test",
    )
    for name, value in (
        ("COPILOT_PROVIDER_BASE_URL", model.base_url),
        ("COPILOT_PROVIDER_API_KEY", "a-key-for-this-test"),
        ("PATH", f"{copilot_program.parent}{os.pathsep}{os.environ['PATH']}"),
    ):
        monkeypatch.setenv(name, value)
    shutil.copy(ADAPTER, tmp_path / "copilot.json")
    config = {"trials_per_task": 1, "timeout_seconds": 60, "executor": "command", "adapter": "copilot.json"}
    executor = CommandExecutor(ExecutorSettings(tmp_path, EvalConfig.model_validate(config)))
    request = ExecutionRequest(
        "Greet Ann",
        workspace,
        model="gpt-4o",
        skill_directories=[skills],
        instructions="Be kind.",
        timeout_seconds=60,
    )
    first = executor.execute(request, RunCancellation())
    assert (first.output, first.error) == ("Hello Ann.", None)
    assert (workspace / "made.txt").read_text() == "hi\n"
    assert [(found.name, found.success) for found in first.tool_calls] == [("skill", True), ("bash", True)]
    assert first.tool_calls[1].arguments["command"] == "echo hi > made.txt; cat made.txt"
    assert list(first.skill_invocations) == [SkillInvocation("greeter")]
    assert "Be kind." in str(model.requests[0].messages)

    second = executor.execute(replace(request, prompt="Say bye", session=first.session), RunCancellation())
    assert (second.output, second.error, second.session) == ("Bye Ann.", None, first.session)
    assert "Greet Ann" in str(model.requests[-1].messages)
