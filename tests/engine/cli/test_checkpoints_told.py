"""Answers that only a checkpoint found wrong: each report says that they failed, and where."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import engine, stdout_of
from tests.engine.suites import present, run, write_suite
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.suite_conclusion import conclude_suite

pytestmark = pytest.mark.smoke

SAYS = "- {type: text, name: says, config: {contains: [Mock]}}\n"
TASK = """\
    id: {0}
    inputs: {{prompt: one, follow_up_prompts: [two]}}
    checkpoints:
    - after_turn: 1
      on_failure: {1}
      graders: [{{type: text, name: early, config: {{contains: [hello]}}}}]
"""
WHY = "not passed: early after turn 1"


@pytest.fixture(name="results")
def fixture_results(tmp_path: Path) -> Path:
    tasks = {name: TASK.format(name, name) for name in ("continue", "stop")}
    report, events = run(write_suite(tmp_path, tasks, graders=SAYS))
    told = {event.task: (event.kind, event.score) for event in events if event.conclusion and event.task}
    assert told == {"continue": ("failed", 1.0), "stop": ("failed", 0.0)}
    trials = [(event.trial, event.kind) for event in events if event.kind in ("failed", "errored")]
    assert trials == [(1, "failed"), (None, "failed")] * 2
    return present(report.results_file)


def test_what_a_checkpoint_has_stopped_has_failed_and_the_record_keeps_upstream_s_word(results: Path) -> None:
    document = json.loads(results.read_text("utf-8"))
    assert [task["status"] for task in document["tasks"]] == ["failed", "error"]
    concluded = document["metadata"]["engine"]["conclusion"]
    assert (concluded["verdict"], concluded["exit_code"], concluded["reasons"]) == (
        "failed",
        1,
        ["2 tasks failed"],
    )


def test_a_score_that_is_full_all_the_same_is_not_left_alone(results: Path) -> None:
    for command in ("report", "grade"):
        found = engine(command, results)
        assert (found.returncode, f"✗ continue  1.00  {WHY}" in found.stdout) == (1, True)
        assert "✗ stop  0.00\n" in found.stdout
    assert f"| ❌ | `continue` | 1.00 ({WHY}) | 0/1 |" in engine("report", results, "-f", "markdown").stdout


def test_every_other_report_calls_both_failed(results: Path) -> None:
    cases = list(ElementTree.fromstring(engine("report", results, "-f", "junit").stdout).iter("testcase"))
    assert [case.find("failure") is not None for case in cases] == [True, True]
    assert {case.find("error") for case in cases} == {None}
    assert "2 failed" in engine("report", results, "-f", "markdown").stdout
    found = present(latest_results(results.parents[2]))
    assert {task.status for task in found.tasks.values()} == {"failed"}
    assert conclude_suite(found).verdict == "failed"


@pytest.mark.parametrize(
    "at_the_end",
    [
        "{type: human, name: looks}",
        "{type: program, name: breaks, config: {command: python3, args: [-c, ''], protocol: waza-json}}",
    ],
)
def test_whoever_is_to_judge_at_the_end_what_was_found_wrong_before_has_failed(
    tmp_path: Path, at_the_end: str
) -> None:
    eval_file = write_suite(tmp_path, {"a": TASK.format("a", "continue")}, graders=f"- {at_the_end}\n")
    for command in ("run", "report", "grade"):
        assert "failed: 0 of 1 task passed" in stdout_of(command, eval_file, code=1)


def test_a_run_says_so_as_each_task_ends(tmp_path: Path) -> None:
    found = engine("run", write_suite(tmp_path, {"a": TASK.format("a", "continue")}, graders=SAYS))
    assert found.returncode == 1
    assert f"✗ a  1.00  {WHY}\n" in found.stdout
