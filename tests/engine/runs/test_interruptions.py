"""What a run has found out, and perhaps paid for, is kept when it is cancelled or something breaks."""

import json
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.runs.agents import Agent, cancel_when, scripted, tried
from tests.engine.suites import (
    CONFIG,
    config_with,
    only_task,
    openai_config,
    present,
    run,
    task,
    write_prompts,
    write_suite,
)
from tests.patience import ON_A_BUSY_MACHINE
from tests.scripted_model import Answer, Held, ModelRequest, Reply, ScriptedModel, Tokens, call
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.record import RunOutcome
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials import attempts
from waza_engine.runs.trials.trial import InterruptedTrialError
from waza_engine.vocabulary import Usage

SAYS = "- {type: text, name: says, config: {contains: [fine]}}\n"
FINE = Answer("fine", usage=Tokens(90, 10))
FOLLOW_UP = "id: a\ninputs: {prompt: one, follow_up_prompts: [two]}\n"


def config(model: ScriptedModel, more: str = "") -> str:
    return openai_config(model.base_url, more, "gpt-4o")


def cancelled_at(
    request: int, model: ScriptedModel, path: Path, *, trials: int = 1, told: list[RunEvent] | None = None
) -> RunOutcome:
    """Run a suite and cancel it when a request has arrived (from 1); ``told`` takes its events."""
    cancellation, ended = RunCancellation(), threading.Event()

    def cancel() -> None:
        model.wait_for_requests(request)
        cancellation.request()
        ended.set()

    def hear(event: RunEvent) -> None:
        if told is not None:
            told.append(event)

    threading.Thread(target=cancel, daemon=True).start()
    report = prepare(RunSettings(path, trials=trials)).run(hear, cancellation)
    assert ended.wait(5 + ON_A_BUSY_MACHINE)
    assert report.outcome.status == "canceled"
    return report.outcome


def test_the_turns_before_a_cancelled_one_are_kept(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(FINE, Held())
    path = write_suite(tmp_path, {"a": FOLLOW_UP}, graders=SAYS, config=config(model))
    (found,) = cancelled_at(2, model, path).tasks
    (trial,) = found.trials
    assert (found.status, trial.status, trial.output) == ("skipped", "skipped", "fine")
    assert present(trial.usage).input_tokens == 90
    assert present(trial.cost).usd > 0


def test_a_task_that_is_cancelled_behind_a_trial_that_passed_is_told_as_cut_short(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(FINE, Held())
    tasks = {"a": task("a"), "b": task("b")}
    path = write_suite(tmp_path, tasks, graders=SAYS, config=config(model, "workers: 1"))
    told: list[RunEvent] = []
    cancelled_at(2, model, path, trials=3, told=told)
    (ended,) = [event for event in told if event.kind == "passed" and event.trial is None]
    assert (ended.task, ended.message) == ("a", "the run was interrupted; 1 of 3 trials ran")
    assert ended.conclusion is not None
    assert ended.conclusion["cut_short"] == ended.message
    assert [grader["verdict"] for grader in ended.conclusion["graders"]] == ["passed"]
    assert told[-1].kind == "ended"
    assert told[-1].completed == 1


def test_the_attempt_before_a_cancelled_one_counts(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(Answer("bad"), Held())
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=config(model, "max_attempts: 3"))
    (found,) = cancelled_at(2, model, path).tasks
    (trial,) = found.trials
    assert (found.status, trial.status, trial.output, trial.attempts) == ("failed", "failed", "bad", 1)
    assert trial.validations is not None


def test_a_run_that_is_cancelled_in_the_pause_keeps_the_attempt_before_it(tmp_path: Path) -> None:
    cancellation, answered = RunCancellation(), threading.Event()

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        if request.prompt == "one":
            return ExecutionResponse("half an answer", "agent-1", usage=Usage(input_tokens=7))
        answered.set()
        raise ExecutorError("too many requests", transient=True)

    # The pause begins after the answer, and lasts for half a second or more.
    cancel_when(lambda: (answered.wait(60), time.sleep(0.2)), cancellation)
    path = write_suite(tmp_path, {"a": FOLLOW_UP}, config=config_with("max_attempts: 9"))
    started = time.monotonic()
    with pytest.raises(InterruptedTrialError) as raised:
        tried(path, Agent(answer), cancellation)
    assert time.monotonic() - started < 2 + ON_A_BUSY_MACHINE, "it waits for no further attempt"
    outcome = raised.value.outcome
    assert (outcome.output, outcome.usage) == ("half an answer", Usage(input_tokens=7))


def test_the_trigger_prompts_before_the_end_of_a_cancelled_run_are_kept(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def answer(request: ModelRequest) -> Reply:
        replies: dict[str, Reply] = {"quick": call("skill", skill="writer"), "slow": Held()}
        return replies.get(request.prompt, "hello")

    (tmp_path / ".git").mkdir()
    model = scripted_model(answer)
    write_skill(tmp_path / "skills", "writer")
    settings = config(model, "workers: 1, skill_directories: [../skills]")
    path = write_suite(tmp_path / "evals", {"a": task("a")}, config=settings)
    write_prompts(path.parent, "quick", "slow", "never")
    outcome = cancelled_at(3, model, path)
    assert [(found.prompt, found.did_trigger) for found in outcome.triggers] == [("quick", True)]
    assert outcome.trigger_metrics is None


def test_a_workspace_that_cannot_be_made_costs_no_other_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    removes = f"""\
- type: program
  name: removes
  config: {{command: python3, args: [-c, 'import shutil; shutil.rmtree({str(temporary)!r})']}}
""".replace(repr(str(temporary)), f'"{temporary}"')
    report, events = run(write_suite(tmp_path / "suite", {"a": task("a")}, graders=removes), trials=2)
    first, second = only_task(report).trials
    assert first.output.startswith("Mock response")
    assert second.status == "error"
    assert "the workspace cannot be made" in second.error
    assert events[-1].completed == 2


def test_values_without_end_in_an_answer_cost_no_results(tmp_path: Path) -> None:
    deep: Any = "bottom"
    for _ in range(800):
        deep = [deep]
    made = {"type": "tool.execution_start", "tool_call_id": "1", "tool_name": "read"}
    transcript = [{**made, "arguments": {"path": deep}}]
    answered = {"run_number": 1, "status": "passed", "final_output": "fine", "transcript": transcript}
    recording = {
        "eval_name": "suite",
        "summary": {"total_tests": 1},
        "tasks": [{"test_id": "a", "status": "passed", "runs": [answered]}],
    }
    (tmp_path / "run.json").write_text(json.dumps(recording))
    replays = CONFIG.replace("executor: mock", "executor: replay, recording: run.json")
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=replays))
    assert report.outcome.status == "completed"
    (read,) = read_recording(present(report.results_file)).tasks
    assert read.trials[0].outcome.output == "fine"


GOOD = "- {type: text, name: good, config: {contains: [good]}}\n"


def suite(directory: Path, most_attempts: int) -> Path:
    config = config_with(f"max_attempts: {most_attempts}")
    return write_suite(directory, {"a": task("a")}, config=config, graders=GOOD)


def rate_limit() -> ExecutorError:
    return ExecutorError("too many requests", transient=True)


def test_a_failed_trial_is_tried_again_at_once_in_a_fresh_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent(scripted("bad", "bad", "good"))
    pauses: list[float] = []

    def pause(seconds: float, _: object) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(attempts, "_pause", pause)
    outcome = tried(suite(tmp_path, 5), agent)
    assert (outcome.status, outcome.attempts) == ("passed", 3)
    assert pauses == [0.0, 0.0]
    assert len({request.workspace for request in agent.requests}) == 3


def test_an_error_that_may_go_away_is_tried_again_after_a_pause(tmp_path: Path) -> None:
    started = time.monotonic()
    outcome = tried(suite(tmp_path, 2), Agent(scripted(rate_limit(), "good")))
    assert (outcome.status, outcome.attempts) == ("passed", 2)
    assert time.monotonic() - started >= 0.5


def test_the_last_attempt_counts(tmp_path: Path) -> None:
    outcome = tried(suite(tmp_path, 2), Agent(scripted("bad", rate_limit())))
    assert (outcome.status, outcome.attempts, outcome.error) == ("error", 2, "too many requests")


@pytest.mark.parametrize("attempts", [0, 1])
def test_without_further_attempts_the_first_counts(tmp_path: Path, attempts: int) -> None:
    outcome = tried(suite(tmp_path, attempts), Agent(scripted(rate_limit())))
    assert (outcome.status, outcome.attempts) == ("error", 1)


@pytest.mark.parametrize("error", [ExecutorError("no key"), RuntimeError("a defect")])
def test_an_error_that_stays_is_not_tried_again(tmp_path: Path, error: Exception) -> None:
    agent = Agent(scripted(error))
    assert (tried(suite(tmp_path, 3), agent).attempts, len(agent.requests)) == (1, 1)


def test_a_follow_up_that_meets_a_rate_limit_starts_the_trial_anew(tmp_path: Path) -> None:
    agent = Agent(scripted("good", rate_limit(), "good", "good"))
    path = suite(tmp_path, 2)
    (tmp_path / "tasks" / "a.yaml").write_text("id: a\ninputs: {prompt: one, follow_up_prompts: [two]}\n")
    outcome = tried(path, agent)
    assert (outcome.status, outcome.attempts) == ("passed", 2)
    assert [request.prompt for request in agent.requests] == ["one", "two", "one", "two"]
