"""Files of ours have the layout that upstream's readers know."""

import copy
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from tests.command_line import engine as command
from tests.engine.results.upstream_layout import complaints
from tests.engine.serve.client import Engine
from tests.engine.suites import CONFIG, GREETS, HANGS, run, task, until_kept, write_suite
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.record import RunHeader, RunOutcome, TaskOutcome, TrialOutcome, Validation
from waza_engine.scoring.task_scores import TaskScore, suite_summary
from waza_engine.vocabulary import ModelUsage, SkillInvocation, ToolCall, Usage

EXAMPLE = Path(__file__).parents[3] / "examples" / "code-explainer"
TRIGGERS = """\
skill: writer
should_trigger_prompts: [{prompt: Write!, confidence: medium}]
should_not_trigger_prompts: [{prompt: Read!}]
"""
FOLLOW_UPS = """\
id: a
inputs: {prompt: Say hello, follow_up_prompts: [And again, hello]}
checkpoints:
  - after_turn: 1
    graders: [{type: text, name: early, config: {contains: [hello]}}]
  - after_turn: 2
    on_failure: stop
    graders: [{type: text, name: later, config: {contains: [nowhere]}}]
"""


def checked(path: Path | None) -> dict[str, Any]:
    assert path is not None
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert complaints(document) == []
    return document


def recorded(path: Path, **options: object) -> dict[str, Any]:
    return checked(run(path, **options)[0].results_file)


def test_a_run_of_the_example(tmp_path: Path) -> None:
    command("run", EXAMPLE, "-o", tmp_path / "r.json")
    document = checked(tmp_path / "r.json")
    assert document["trigger_metrics"]
    assert document["metrics"]


def test_a_run_that_passes_fails_and_breaks(tmp_path: Path) -> None:
    tasks = {
        "a": task("a"),
        "b": task("b", prompt="Bye"),
        "c": "id: [",
        "d": "id: d\ninputs: {prompt: x, files: [../x]}\n",
        "e": task("e", "graders: [{type: human, name: review}, {type: nonsense, name: odd}]"),
    }
    document = recorded(write_suite(tmp_path, tasks, graders=GREETS))
    assert {found["status"] for found in document["tasks"]} == {"passed", "failed", "error"}


def test_a_run_with_trials_has_its_intervals(tmp_path: Path) -> None:
    document = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS), trials=3)
    assert document["tasks"][0]["stats"]["bootstrap_ci"]
    assert document["summary"]["statistics"]


def test_a_run_with_nothing_but_reviews_is_skipped(tmp_path: Path) -> None:
    document = recorded(write_suite(tmp_path, {"a": task("a")}, graders="- {type: human, name: review}\n"))
    assert document["summary"]["skipped"] == 1


def test_a_run_that_is_cut_by_fail_fast(tmp_path: Path) -> None:
    config = CONFIG.replace("executor: mock", "executor: mock, fail_fast: true")
    tasks = {"a": task("a", prompt="Bye"), "b": task("b")}
    document = recorded(write_suite(tmp_path, tasks, graders=GREETS, config=config))
    assert [found["status"] for found in document["tasks"]] == ["failed", "skipped"]


def test_a_run_with_triggers_and_metrics(tmp_path: Path) -> None:
    metrics = "metrics: [{name: trigger_accuracy, weight: 1, threshold: 0.5}]\n"
    path = write_suite(tmp_path, {"a": task("a")}, more=metrics)
    (tmp_path / "trigger_tests.yaml").write_text(TRIGGERS)
    document = recorded(path)
    assert [found["prompt"] for found in document["trigger_results"]] == ["Write!", "Read!"]


def test_a_conversation_with_checkpoints(tmp_path: Path) -> None:
    document = recorded(write_suite(tmp_path, {"a": FOLLOW_UPS}, graders=GREETS))
    checkpoints = document["tasks"][0]["runs"][0]["checkpoints"]
    assert [found["status"] for found in checkpoints] == ["passed", "failed"]
    assert checkpoints[1]["stopped"] is True


def test_a_task_with_everything_expected(tmp_path: Path) -> None:
    expected = "golden: true\nexpected: {output_contains: [hello], output_not_contains: [bye]}\n"
    document = recorded(write_suite(tmp_path, {"a": task("a", expected)}, graders=GREETS))
    assert document["tasks"][0]["golden"] is True


def test_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("name,word\none,hello\ntwo,bye\n")
    path = write_suite(tmp_path, {}, graders=GREETS)
    path.write_text(path.read_text().replace("tasks: ['tasks/*.yaml']", "tasks_from: rows.csv"))
    (tmp_path / "rows.csv").write_text("name,prompt\none,Say {{.Vars.name}} hello\ntwo,Bye\n")
    document = recorded(path)
    assert [found["status"] for found in document["tasks"]] == ["passed", "failed"]


def test_a_run_of_an_editor(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    with Engine() as engine:
        engine.run(path, tasks=["a"], graders=["greets"])
        ended = engine.events_until("ended")[-1]
    assert len(checked(Path(ended["results_file"]))["tasks"]) == 1


def test_a_canceled_run(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", f"graders:\n{HANGS}")})
    with Engine() as engine:
        run_id = engine.run(path)
        engine.events_until("output", task="b")
        engine.request("run.cancel", run_id=run_id)
        ended = engine.events_until("ended")[-1]
    assert checked(Path(ended["results_file"]))["metadata"]["engine"]["status"] == "canceled"


def test_a_killed_run_that_was_made_whole(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", f"graders:\n{HANGS}")}, graders=GREETS)
    engine = Engine()
    engine.run(path)
    engine.events_until("output", task="b")
    until_kept(tmp_path, "a")
    engine.kill()
    (tmp_path / "tasks" / "b.yaml").unlink()
    run(path)
    documents = sorted((tmp_path / ".waza" / "results").glob("*.json"), key=lambda file: file.stat().st_mtime)
    recovered = checked(documents[0])
    assert recovered["metadata"]["engine"]["status"] == "canceled"
    assert recovered["tasks"][0]["stats"]["avg_score"] == 1.0


def test_a_record_that_was_graded_again(tmp_path: Path) -> None:
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS), trials=2)
    command("grade", report.results_file, "-o", tmp_path / "again.json")
    assert checked(tmp_path / "again.json")["metadata"]["engine"]["regraded"]


def test_a_session_of_an_agent_with_all_that_one_can_have() -> None:
    usage = Usage(2, 10, 20, 0, 5, 1.5, {"m": ModelUsage(10, 20, 0, 5, 2, 1.5)}, "custom", "models.example")
    calls = [
        ToolCall("edit", {"path": "a.py", "lines": [1, 2]}, "c1", {"content": "done"}, True),
        ToolCall("bash", {"command": ["ls", "-l"], "path": 3}, "c2", "plain text", False),
        ToolCall("odd", {}, "", [1, float("nan")], True),
    ]
    events = [
        {"type": "user.message", "content": "hi"},
        {"type": "assistant.message", "content": "well"},
        {
            "type": "tool.execution_start",
            "tool_call_id": "c1",
            "tool_name": "edit",
            "arguments": {"path": "a"},
        },
        {"type": "tool.execution_complete", "tool_call_id": "c1", "success": False, "tool_result": "text"},
        {"type": "assistant.message", "content": "done"},
    ]
    trial = TrialOutcome(
        number=1,
        status="failed",
        validations={"g": Validation("g", "text", 0.5, False, "", details={"a": {1: (2,)}}, weight=-1)},
        output="done \ud800",
        events=events,
        tool_calls=calls,
        skill_invocations=[SkillInvocation("writer"), SkillInvocation("reader", "skills/reader")],
        usage=usage,
        session="s",
        error="",
        captured_at=datetime.now(UTC).isoformat(),
    )
    header = RunHeader(
        "run-1", datetime.now(UTC), "eval.yaml", "e", "s", "copilot-sdk", "m", "j", 1, 60, ("a",), ("g",)
    )
    tasks = [TaskOutcome("a", "A", "failed", [trial])]
    outcome = RunOutcome(header, "failed", tasks, suite_summary([TaskScore("failed")]), usage)
    document = json.loads(json.dumps(run_document(outcome)))
    assert complaints(document) == []
    digest = document["tasks"][0]["runs"][0]["session_digest"]
    assert [call["result"] for call in digest["tool_calls"]] == [
        {"content": "done"},
        {"content": "plain text"},
        {"content": "[1, null]"},
    ]
    assert digest["tool_calls"][1]["arguments"]["command"] == ""
    assert document["tasks"][0]["runs"][0]["tool_events"][1]["args"] == {"command": ["ls", "-l"], "path": 3}
    assert document["summary"]["usage"]["cache_read_tokens"] == 0


def test_a_run_with_a_baseline(tmp_path: Path) -> None:
    config = CONFIG.replace("executor: mock", "executor: mock, skill_directories: [skills]")
    (tmp_path / "skills" / "writer").mkdir(parents=True)
    (tmp_path / "skills" / "writer" / "SKILL.md").write_text("---\nname: writer\ndescription: Writes.\n---\n")
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS, config=config, more="baseline: true\n")
    document = recorded(path, trials=2)
    assert document["baseline_outcome"]["tasks"][0]["test_id"] == "a"
    assert document["tasks"][0]["skill_impact"]["delta"] == 0


def test_every_key_is_described(tmp_path: Path) -> None:
    metrics = "metrics: [{name: trigger_accuracy, weight: 1, threshold: 0.5}]\n"
    tasks = {"a": FOLLOW_UPS, "b": task("b", prompt="Bye"), "c": "id: ["}
    path = write_suite(tmp_path, tasks, graders=GREETS, more=metrics)
    (tmp_path / "trigger_tests.yaml").write_text(TRIGGERS)
    page = (Path(__file__).parents[3] / "docs" / "results.md").read_text("utf-8")
    described = set(re.findall(r"`([\w.]+)`", page))
    described |= {key for name in described for key in name.split(".")}
    assert keys(recorded(path, trials=2)) - described == set()


def keys(value: object, inside: str = "") -> set[str]:
    """Return every key of a document that is not somebody else's: of a grader, a tool, an event, a metric."""
    if isinstance(value, list):
        return set[str]().union(*(keys(item, inside) for item in cast("list[object]", value)))
    if not isinstance(value, dict):
        return set()
    block = cast("dict[str, object]", value)
    named = inside in ("validations", "metrics", "model_metrics")
    free = inside in (
        "details",
        "arguments",
        "args",
        "result",
        "transcript",
        "settings",
        "context",
        "triggers",
    )
    if free or inside in ("trigger_metrics", "trigger_results"):
        return set()
    found = set[str]() if named else set(block)
    return found.union(*(keys(item, "" if named else key) for key, item in block.items()))


BREAKS: list[tuple[list[str | int], object, str]] = [
    (["schemaVersion"], "2.0", "one of"),
    (["timestamp"], "2026-01-01T00:00:00", "RFC 3339"),
    (["summary", "total_tests"], 7, "7 for 1 tasks"),
    (["summary", "usage"], {}, "must be absent"),
    (["summary", "success_rate"], None, "from 0 to 1"),
    (["surprise"], 1, "no key of the layout"),
    (["metrics"], None, "must be an object"),
    (["tasks", 0, "status"], "partial", "one of"),
    (["tasks", 0, "golden"], False, "must be absent"),
    (["tasks", 0, "runs", 0, "run_number"], 0, "1 or more"),
    (["tasks", 0, "runs", 0, "duration_ms"], 1.5, "whole number"),
    (["tasks", 0, "runs", 0, "session_digest", "tools_used"], ["edit"], "for 1 calls"),
    (["tasks", 0, "runs", 0, "validations", "greets", "identifier"], "other", "stands under"),
    (["tasks", 0, "runs", 0, "validations", "greets", "score"], 2, "from 0 to 1"),
    (["tasks", 0, "runs", 0, "transcript"], [], "must be absent"),
]


@pytest.mark.parametrize(("place", "value", "said"), BREAKS)
def test_the_check_notices(tmp_path: Path, place: list[str | int], value: object, said: str) -> None:
    document = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    broken: Any = copy.deepcopy(document)
    inner = broken
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    assert any(said in complaint for complaint in complaints(broken)), complaints(broken)


def test_the_check_notices_a_missing_key(tmp_path: Path) -> None:
    document = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    del document["tasks"][0]["runs"][0]["attempts"]
    assert complaints(document) == ["result.tasks[0].runs[0] has no key `attempts`"]
