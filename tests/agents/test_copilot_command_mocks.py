"""Mocked programs and the real Copilot agent: its shell meets the canned answers."""

from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.suites import only_trial, run, task, verdicts, write_suite
from tests.scripted_model import call
from waza_engine.vocabulary import CommandInvocation

pytestmark = pytest.mark.check

MOCKS = """\
schemaVersion: "1.4"
command_mocks:
- name: compat-cli
  expect_calls: 2
  responses:
  - {args: [status], stdout: {state: ready}}
  - {args: [stop], stderr: "not allowed", exit_code: 4}
"""


def test_the_agents_shell_finds_the_mocked_program(
    agent_home: Path, tmp_path: Path, scripted_model: StartModel
) -> None:
    assert agent_home
    model = scripted_model(
        call("bash", command="compat-cli status", description="Look"),
        call("bash", command="cd / && compat-cli stop", description="Stop"),
        "It is ready.",
    )
    settings = f"executor: copilot-sdk, model: gpt-4o, provider: {{base_url: '{model.base_url}'}}"
    config = f"config: {{trials_per_task: 1, timeout_seconds: 60, {settings}}}\n"
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, config=config, more=MOCKS))
    trial = only_trial(report)
    assert (trial.error, trial.output) == ("", "It is ready.")
    first, second = list(trial.tool_calls or ())
    assert '{"state":"ready"}' in str(first.result)
    assert "not allowed" in str(second.result)
    assert trial.command_invocations == (
        CommandInvocation("compat-cli", ("status",), 0, 0),
        CommandInvocation("compat-cli", ("stop",), 4, 1),
    )
    assert verdicts(report)["expect_calls"].passed
