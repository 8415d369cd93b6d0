import os
import threading
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import write_skill
from tests.engine.runs.agents import Agent, Answer, cancel_when, tried_prompts
from tests.engine.suites import CONFIG, config_with, openai_config, present, replaced, run, task, write_suite
from tests.scripted_model import ModelRequest, Reply, call
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse, ExecutorError
from waza_engine.results.codec.run_documents import trigger_document
from waza_engine.results.record import TriggerOutcome
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.runs.trials.triggers import prompts_at_a_time
from waza_engine.scoring.trigger_scores import trigger_metrics
from waza_engine.vocabulary import SkillInvocation

TESTS = """\
skill: writer
should_trigger_prompts:
- {prompt: Write a text}
- {prompt: Write more, confidence: medium}
should_not_trigger_prompts:
- {prompt: Add two numbers}
"""


def suite(directory: Path, settings: str = "", more: str = "") -> Path:
    path = write_suite(directory, {"a": task("a")}, config=config_with(settings), more=more)
    (directory / "trigger_tests.yaml").write_text(TESTS)
    return path


def triggered(
    path: Path, agent: Agent, lines: list[str] | None = None, cancellation: RunCancellation | None = None
) -> list[TriggerOutcome]:
    workers = prompts_at_a_time(load_suite(path).spec.config.workers)
    return tried_prompts(path, agent, cancellation, lines, workers=workers)


def invoking(*prompts: str, skill: str = "writer") -> Answer:
    """Return an agent that invokes a skill for these prompts."""

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        skills = (SkillInvocation(skill),) if request.prompt in prompts else ()
        return ExecutionResponse("said", skill_invocations=skills)

    return answer


def test_a_prompt_triggers_when_the_agent_invokes_the_skill(tmp_path: Path) -> None:
    found = triggered(suite(tmp_path), Agent(invoking("Write a text", "Add two numbers")))
    assert [(one.prompt, one.should_trigger, one.did_trigger) for one in found] == [
        ("Write a text", True, True),
        ("Write more", True, False),
        ("Add two numbers", False, True),
    ]
    metrics = present(trigger_metrics(found))
    # One hit of weight 1, one miss of weight ½, one false alarm of weight 1.
    assert (metrics.precision, metrics.recall, metrics.accuracy) == (0.5, 0.6667, 0.4)


def test_a_skill_of_a_plugin_and_a_command_are_the_skill(tmp_path: Path) -> None:
    for name in ("docs:writer", "/writer"):
        found = triggered(suite(tmp_path), Agent(invoking("Write a text", skill=name)))
        assert [(one.did_trigger, one.skills) for one in found] == [(True, (name,)), (False, ()), (False, ())]


def test_the_record_says_which_skill_came_first(tmp_path: Path) -> None:
    def answer(request: ExecutionRequest) -> ExecutionResponse:
        names = ("reader", "writer") if request.prompt == "Write a text" else ("reader",)
        error = "too late" if request.prompt == "Write a text" else None
        return ExecutionResponse("", skill_invocations=tuple(map(SkillInvocation, names)), error=error)

    lines: list[str] = []
    found = triggered(suite(tmp_path, settings="workers: 1"), Agent(answer), lines)
    assert [(one.did_trigger, one.skills, one.error) for one in found] == [
        (True, ("reader", "writer"), ""),
        (False, ("reader",), ""),
        (False, ("reader",), ""),
    ]
    assert lines[1].endswith("did not trigger (`reader` was invoked first), which is wrong: Write more")
    assert trigger_document(found[0])["skills"] == ["reader", "writer"]


def test_an_error_is_a_wrong_answer_and_is_counted(tmp_path: Path) -> None:
    def answer(request: ExecutionRequest) -> ExecutionResponse:
        if request.prompt == "Write a text":
            raise ExecutorError("no connection")
        if request.prompt == "Add two numbers":
            return ExecutionResponse("", error="it gave up", skill_invocations=(SkillInvocation("reader"),))
        return ExecutionResponse("", skill_invocations=(SkillInvocation("writer"),))

    found = triggered(suite(tmp_path), Agent(answer))
    assert [(one.did_trigger, one.error) for one in found] == [
        (False, "no connection"),
        (True, ""),
        (True, "it gave up"),
    ]
    metrics = present(trigger_metrics(found))
    assert (metrics.errors, metrics.true_positives, metrics.accuracy) == (2, 1, 0.2)


def test_each_prompt_is_told_as_it_is_done(tmp_path: Path) -> None:
    lines: list[str] = []
    triggered(suite(tmp_path, settings="workers: 1"), Agent(invoking("Write a text")), lines)
    assert lines == [
        "trigger prompt 1/3: triggered, as expected: Write a text",
        "trigger prompt 2/3: did not trigger, which is wrong: Write more",
        "trigger prompt 3/3: did not trigger, as expected: Add two numbers",
    ]


def test_the_agent_knows_of_the_skill_but_has_not_read_it(tmp_path: Path) -> None:
    skills = write_skill(tmp_path / "skills", "writer", "Writes.", "The body.")
    settings = "skill_directories: [skills], first_event_timeout_seconds: 3"
    agent = Agent(invoking())
    triggered(suite(tmp_path, settings=settings), agent)
    for request in agent.requests:
        assert request.instructions == "Skills at hand:\n- writer: Writes."
        assert request.skill_directories == (skills,)
        assert request.stop_at_skill == "writer"
        assert (request.timeout_seconds, request.first_event_timeout_seconds) == (20.0, 3.0)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_every_prompt_gets_its_own_copy_of_the_fixtures(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    fixtures = tmp_path / "fixtures"
    for name in ("src/app.py", ".env", ".git/config", "node_modules/x.js", "src/vendor/y.go"):
        (fixtures / name).parent.mkdir(parents=True, exist_ok=True)
        (fixtures / name).write_text(name)
    (fixtures / "large.bin").write_bytes(bytes(1024 * 1024 + 1))
    (fixtures / "full.bin").write_bytes(bytes(1024 * 1024))
    (fixtures / "link.txt").symlink_to(tmp_path / "secret.txt")
    seen: list[list[str]] = []
    places: set[Path] = set()

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        files = sorted(path for path in request.workspace.rglob("*") if path.is_file())
        seen.append([path.relative_to(request.workspace).as_posix() for path in files])
        places.add(request.workspace)
        (request.workspace / "left.txt").touch()
        return ExecutionResponse("")

    triggered(suite(tmp_path), Agent(answer))
    assert seen == [[".env", "full.bin", "src/app.py"]] * 3
    assert len(places) == 3
    assert not any(place.exists() for place in places)


def test_as_many_prompts_are_tried_at_a_time_as_there_are_workers(tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=60)

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        together.wait()
        return ExecutionResponse(request.prompt)

    found = triggered(suite(tmp_path, settings="workers: 3"), Agent(answer))
    assert [(one.output, one.error) for one in found] == [
        ("Write a text", ""),
        ("Write more", ""),
        ("Add two numbers", ""),
    ]


def test_a_cancelled_run_waits_for_no_prompt(tmp_path: Path) -> None:
    cancellation, asked = RunCancellation(), threading.Event()
    released = threading.Event()

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        del request
        asked.set()
        released.wait(60)
        return ExecutionResponse("")

    cancel_when(lambda: asked.wait(60), cancellation)
    agent = Agent(answer)
    try:
        with pytest.raises(CancelledRunError):
            triggered(suite(tmp_path, settings="workers: 1"), agent, cancellation=cancellation)
    finally:
        released.set()
    assert len(agent.requests) == 1


def test_a_run_tries_the_prompts_and_tells_of_them(tmp_path: Path, scripted_model: StartModel) -> None:
    write_skill(tmp_path / "skills", "writer")

    def answer(request: ModelRequest) -> Reply:
        return call("skill", skill="writer") if request.prompt.startswith("Write") else "4"

    model = scripted_model(answer)
    path = suite(tmp_path, more="metrics: [{name: trigger_accuracy, threshold: 1.0}]\n")
    replaced(path, CONFIG, openai_config(model.base_url, "skill_directories: [skills]"))
    report, events = run(path)
    assert present(report.outcome.trigger_metrics).accuracy == 1.0
    assert [metric.passed for metric in report.outcome.metrics] == [True]
    told = [event.message or "" for event in events if (event.message or "").startswith("trigger prompt")]
    assert len(told) == 3


def test_a_run_of_chosen_tasks_tries_no_prompts(tmp_path: Path) -> None:
    report, _ = run(suite(tmp_path), tasks=("a",))
    assert (report.outcome.triggers, report.outcome.trigger_metrics) == ([], None)
