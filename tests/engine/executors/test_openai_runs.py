"""Whole runs with the executor ``openai``: the graders read what the model did."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.results.upstream_layout import complaints
from tests.engine.suites import only_trial, present, run, task, write_suite
from tests.patience import ON_A_BUSY_MACHINE
from tests.scripted_model import Answer, Held, ModelRequest, Reply, Status, Tokens, call
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings

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
    return (
        "config: {trials_per_task: 1, timeout_seconds: 20, executor: openai, model: small, "
        f"provider: {{base_url: '{base_url}'}}, workspace_tools: [read, write], {more}}}\n"
    )


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


def test_a_judge_asks_the_same_server_with_its_verdict_tools(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def reply(request: ModelRequest) -> Reply:
        if "set_waza_grade_pass" not in request.tool_names:
            return "Hello!"
        if request.tool_results:
            return "Graded."
        return call("set_waza_grade_pass", description="greets", reason="it greets")

    model = scripted_model(reply)
    graders = "- {type: prompt, name: polite, config: {prompt: Is it polite?, continue_session: true}}"
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=graders, config=config(model.base_url, "judge_model: judge")
    )

    report, _ = run(path)

    verdict = (only_trial(report).validations or {})["polite"]
    assert (verdict.passed, verdict.score) == (True, 1.0), verdict.feedback
    assert [request.model for request in model.requests] == ["small", "judge", "judge"]
    assert "Hello!" in str(model.requests[1].messages)


def test_a_task_without_an_answer_is_an_error_and_the_others_go_on(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def reply(request: ModelRequest) -> Reply:
        return Status(400, "no thanks") if "bad" in request.prompt else "Hello!"

    tasks = {"a": task("a", prompt="bad"), "b": task("b", prompt="good")}
    graders = "- {type: text, name: greets, config: {contains: [Hello]}}"
    path = write_suite(tmp_path, tasks, graders=graders, config=config(scripted_model(reply).base_url))

    report, _ = run(path)

    bad, good = report.outcome.tasks
    assert good.status == "passed"
    assert "no thanks" in (bad.trials[0].error or "")


def test_cancelling_a_run_ends_it_at_once_and_keeps_what_is_done(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model("Hello!", Held())
    tasks = {"a": task("a"), "b": task("b")}
    path = write_suite(tmp_path, tasks, config=config(model.base_url))
    cancellation = RunCancellation()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(prepare(RunSettings(path)).run, lambda _event: None, cancellation)
        model.wait_for_requests(2)
        started = time.monotonic()
        cancellation.request()
        report = running.result(20 + ON_A_BUSY_MACHINE)

    assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE
    assert report.outcome.status == "canceled"
    assert report.outcome.tasks[0].trials[0].output == "Hello!"


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
