"""Mocked programs: an agent that runs commands meets the canned answers, and never the real program."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.agents import write_agent
from tests.engine.suites import (
    COMMAND_CONFIG,
    only_trial,
    openai_config,
    present,
    run,
    task,
    verdicts,
    write_suite,
)
from tests.scripted_model import call
from waza_engine.runs.run import RunReport
from waza_engine.vocabulary import CommandInvocation

pytestmark = pytest.mark.check

# It runs its prompt as a shell command and tells how that came out.
AGENT = """\
import subprocess, sys
ran = subprocess.run(sys.stdin.read(), shell=True, capture_output=True, text=True)
print(ran.stdout + ran.stderr + f"<{ran.returncode}>")
"""
MOCK = """\
command_mocks:
- name: az
  responses:
  - {args: [status], stdout: {state: ready}}
  - {args_regex: ['show', '[0-9]+'], stdout: "found\\n", stderr: "slow\\n", exit_code: 3}
"""


def agent_suite(directory: Path, more: str, prompt: str, below: str = "") -> Path:
    text = {"prompt": {"stdin": True}, "x-waza": {"output_mode": "text"}}
    write_agent(directory, AGENT, result=None, output=None, **text)
    written = {"a": task("a", below, prompt=json.dumps(prompt))}
    return write_suite(directory, written, config=COMMAND_CONFIG, more=more)


def answer(directory: Path, more: str, prompt: str, below: str = "") -> str:
    outcome = only_trial(run(agent_suite(directory, more, prompt, below))[0])
    assert outcome.error == ""
    return outcome.output.strip()


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("az status", '{"state":"ready"}<0>'),
        ("az show 12", "found\nslow\n<3>"),
        ("cd / && az status", '{"state":"ready"}<0>'),
    ],
)
def test_the_first_response_that_fits_answers(tmp_path: Path, prompt: str, said: str) -> None:
    assert answer(tmp_path, MOCK, prompt) == said


@pytest.mark.parametrize("prompt", ["az", "az status --all", "az show 12a", "az show"])
def test_a_call_that_nothing_fits_fails_and_says_what_to_add(tmp_path: Path, prompt: str) -> None:
    said = answer(tmp_path, MOCK, prompt)
    assert said.endswith("<127>")
    assert "add one to its `command_mocks.responses`" in said


def test_conditions_on_the_environment_and_the_folder(tmp_path: Path) -> None:
    more = """\
    command_mocks:
    - name: az
      responses:
      - {args: [], environment: {REGION: west}, stdout: west}
      - {args: [], workdir: app/sub, stdout: sub}
      - {args: [], stdout: else}
    """
    prompt = "REGION=west az; REGION=east az; mkdir -p app/sub; cd app/sub; az"
    assert answer(tmp_path, more, prompt) == "westelsesub<0>"


def test_a_fixture_is_written_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks/out.bin").write_bytes(b"a\tb\n")
    more = "command_mocks: [{name: az, responses: [{args: [], fixture: mocks/out.bin}]}]\n"
    assert answer(tmp_path, more, "az") == "a\tb\n<0>"


def test_a_fixture_that_is_not_there_is_an_error_of_the_trial(tmp_path: Path) -> None:
    more = "command_mocks: [{name: az, responses: [{args: [], fixture: gone.txt}]}]\n"
    outcome = only_trial(run(agent_suite(tmp_path, more, "az"))[0])
    assert outcome.status == "error"
    assert "`az`: the fixture `gone.txt` cannot be read" in outcome.error


@pytest.mark.parametrize(
    ("below", "said"),
    [
        ("command_mocks: [{name: ls, responses: [{args: [], stdout: mine}]}]\n", "mine<0>"),
        ("command_mocks: []\n", "<0>"),
    ],
)
def test_a_list_of_the_task_replaces_that_of_the_suite(tmp_path: Path, below: str, said: str) -> None:
    more = "command_mocks: [{name: ls, responses: [{args: [], stdout: theirs}]}]\n"
    assert answer(tmp_path, more, "ls", below) == said


@pytest.mark.parametrize(("calls", "passed"), [(1, False), (2, True), (3, False)])
def test_the_number_of_calls_is_a_check(tmp_path: Path, calls: int, passed: bool) -> None:
    more = "command_mocks: [{name: az, expect_calls: 2, responses: [{args: [], stdout: x}]}]\n"
    report, _ = run(agent_suite(tmp_path, more, "; ".join(["az"] * calls)))
    verdict = verdicts(report)["expect_calls"]
    assert verdict.passed is passed
    assert only_trial(report).status == ("passed" if passed else "failed")
    assert passed or verdict.feedback.startswith("`az` was called")


def test_calls_stand_in_the_results_without_secrets(tmp_path: Path) -> None:
    report, _ = run(agent_suite(tmp_path, MOCK, "az status; az --token=abc login --password x"))
    assert only_trial(report).command_invocations == (
        CommandInvocation("az", ("status",), 0, 0),
        CommandInvocation("az", ("--token=[REDACTED]", "login", "[REDACTED]", "[REDACTED]"), 127, -1),
    )
    assert written_run(report)["command_invocations"][0] == {
        "command": "az",
        "args": ["status"],
        "exit_code": 0,
        "response_index": 0,
    }


def test_the_steps_of_a_sequence_come_one_after_the_other(tmp_path: Path) -> None:
    path = agent_suite(tmp_path, "", "az; az; az")
    head = 'scenario: faults\nschemaVersion: "2.0"\n'
    more = """\
command_mocks:
- name: az
  responses:
  - args: []
    sequence: [{exit_code: 1, stderr: busy}, {stdout: ready, delay_ms: 5}]
"""
    path.write_text(head + path.read_text("utf-8").replace("skill: writer\n", "") + more, "utf-8")
    first = only_trial(run(path)[0])
    assert first.output.startswith("ready")
    assert "busyaz: this program is mocked: every step of its `sequence` is used up" in first.output
    assert [call.exit_code for call in first.command_invocations] == [1, 0, 127]
    assert only_trial(run(path)[0]).output == first.output


def test_a_model_with_workspace_tools_meets_the_mocks(tmp_path: Path, scripted_model: StartModel) -> None:
    model = scripted_model(call("bash", command="az status"), "It is ready.")
    config = openai_config(model.base_url, "workspace_tools: [run]")
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, config=config, more=MOCK))
    (used,) = list(only_trial(report).tool_calls or ())
    assert "ready" in str(used.result)
    assert [made.command for made in only_trial(report).command_invocations] == ["az"]


def test_an_executor_without_programs_runs_the_suite_and_says_so(tmp_path: Path) -> None:
    more = "command_mocks: [{name: az, expect_calls: 1, responses: [{args: []}]}]\n"
    report, events = run(write_suite(tmp_path, {"a": task("a")}, more=more))
    assert only_trial(report).status == "passed"
    assert "`command_mocks` has no effect: the executor `mock` starts no programs" in str(events)


def written_run(report: RunReport) -> dict[str, Any]:
    return json.loads(present(report.results_file).read_text("utf-8"))["tasks"][0]["runs"][0]
