"""Suites, or tasks, without a grader: they pass as upstream's do, and each report says what that means."""

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.command_line import engine, stdout_of
from tests.engine.suites import GREETS, present, recorded, run, task, write_suite
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.suite_conclusion import conclude_suite

WORDS = "nothing was judged: there is no grader"


def ungraded(directory: Path, count: int = 2) -> Path:
    return write_suite(directory, {name: task(name) for name in "abc"[:count]})


def test_a_run_without_graders_says_so_and_ends_as_upstream_s_does(tmp_path: Path) -> None:
    found = stdout_of("run", ungraded(tmp_path))
    assert WORDS in found
    assert "0 of 2 tasks passed, 2 skipped" in found
    assert "✓" not in found
    assert "0.00" not in found


def test_its_record_is_that_of_upstream_with_another_conclusion(tmp_path: Path) -> None:
    report, events = run(ungraded(tmp_path))
    document = json.loads(present(report.results_file).read_text("utf-8"))
    assert {found["status"] for found in document["tasks"]} == {"passed"}
    assert (document["summary"]["succeeded"], document["summary"]["aggregate_score"]) == (2, 0.0)
    concluded = document["metadata"]["engine"]["conclusion"]
    assert (concluded["verdict"], concluded["exit_code"]) == ("unjudged", 0)
    assert concluded["reasons"] == [WORDS]
    closed = [event for event in events if event.task == "a" and event.kind in ("passed", "skipped")]
    assert [(event.kind, event.score) for event in closed] == [("skipped", None), ("skipped", None)]


def test_every_report_of_it_says_the_same(tmp_path: Path) -> None:
    record = recorded(ungraded(tmp_path))
    results = record
    text = engine("report", results)
    assert (text.returncode, WORDS in text.stdout, "score" in text.stdout) == (0, True, False)
    markdown = engine("report", results, "--format", "markdown").stdout
    assert "nothing judged" in markdown
    assert "| ⏭️ | `a` |  |  |" in markdown
    cases = ElementTree.fromstring(engine("report", results, "--format", "junit").stdout).iter("testcase")
    assert all(case.find("skipped") is not None for case in cases)
    (annotation,) = engine("report", results, "--format", "github").stdout.splitlines()
    assert annotation.startswith("::warning ")
    assert annotation.endswith(f",title=tasks::{WORDS}")
    assert "nothing judged" in engine("grade", results).stdout
    assert "nothing judged" in engine("history", tmp_path).stdout
    compared = engine("compare", results, results, "--all").stdout
    assert "0.00" not in compared
    assert compared.count("nothing judged") == 2


def test_a_gate_lets_it_pass_and_warns(tmp_path: Path) -> None:
    record = recorded(ungraded(tmp_path))
    files = ("--baseline", record, "--current", record)
    found = stdout_of("gate", *files)
    assert "current: no task was judged" in found
    assert WORDS in found
    assert "%" not in found


def test_a_gate_fails_when_nothing_is_judged_that_was_judged_before(tmp_path: Path) -> None:
    now = recorded(ungraded(tmp_path / "now"))
    for prompt in ("Say hello", "Bye"):  # it is no measure how many passed
        judged = {name: task(name, prompt=prompt) for name in "ab"}
        then = recorded(write_suite(tmp_path / prompt, judged, graders=GREETS))
        files = ("--baseline", then, "--current", now)
        found = stdout_of("gate", *files, "--max-regression-pct", "100", code=1)
        assert "gate: FAIL\n" in found
        assert f"✗ in the current run {WORDS}" in found


def test_a_gate_on_right_trigger_prompts_alone_judges_no_task(tmp_path: Path) -> None:
    record = recorded(ungraded(tmp_path))
    document = json.loads(record.read_text("utf-8"))
    document["trigger_results"] = [{"prompt": "x", "should_trigger": True, "did_trigger": True}]
    document["trigger_metrics"] = {"true_positives": 1}
    (tmp_path / "now.json").write_text(json.dumps(document), "utf-8")
    found = engine("gate", "--baseline", record, "--current", tmp_path / "now.json")
    assert found.returncode == 0
    assert "⚠ in the current run no task was judged" in found.stdout


def test_with_a_least_score_there_is_none(tmp_path: Path) -> None:
    assert "there is no score" in stdout_of("run", ungraded(tmp_path), "--fail-under", "0.1", code=1)


def test_the_last_event_of_a_run_ends_as_the_command_does(tmp_path: Path) -> None:
    found = engine("run", ungraded(tmp_path), "--fail-under", "0.1", "-f", "jsonl")
    ended = json.loads(found.stdout.splitlines()[-1])
    assert (ended["status"], ended["conclusion"]["exit_code"], found.returncode) == ("failed", 1, 1)


def test_a_run_that_was_no_pass_for_its_least_score_is_none_in_its_record(tmp_path: Path) -> None:
    engine("run", ungraded(tmp_path), "--fail-under", "0.1")
    (record,) = (tmp_path / ".waza" / "results").glob("*.json")
    for least in ((), ("--fail-under", "0.05")):  # a lower one does not make it a pass
        assert "there is no score" in stdout_of("report", record, *least, code=1)
    newest = present(latest_results(tmp_path))
    assert conclude_suite(newest).verdict == "failed"
    assert engine("history", tmp_path).stdout.splitlines()[0].endswith(", failed")


def test_one_task_without_a_grader_is_told_beside_those_that_were_judged(tmp_path: Path) -> None:
    tasks = {"a": task("a"), "b": task("b", f"graders:\n{GREETS}")}
    found = stdout_of("run", write_suite(tmp_path, tasks))
    assert "1 of 2 tasks passed, 1 skipped" in found
    note = "note: 1 task has no grader: nothing was judged there, and the score counts that as 0"
    assert note in found
    engine("run", write_suite(tmp_path, {**tasks, "b": task("b", f"graders:\n{GREETS}", prompt="Bye")}))
    files = sorted((tmp_path / ".waza" / "results").glob("*.json"), key=lambda path: path.stat().st_mtime)
    gate = engine("gate", "--baseline", files[0], "--current", files[-1]).stdout
    assert "current: 0.0% of 1 task passed, 1 not judged" in gate
    assert "regression: 100.00 percentage points" in gate


def test_runs_side_by_side_have_the_pass_rate_of_the_judged_tasks(tmp_path: Path) -> None:
    none_passed = "- {type: text, name: says, config: {contains: [goodbye]}}\n"
    graded = task("b", f"graders:\n{none_passed}")
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": graded}))
    found = json.loads(engine("compare", record, record, "-f", "json").stdout)
    assert found["success_rates"] == [0.0, 0.0]


def test_an_editor_reads_it_as_nothing_judged(tmp_path: Path) -> None:
    run(ungraded(tmp_path))
    found = present(latest_results(tmp_path))
    assert {one.status for one in found.tasks.values()} == {"skipped"}
    assert conclude_suite(found).verdict == "unjudged"


def test_an_expectation_or_a_checkpoint_judges_as_well(tmp_path: Path) -> None:
    expects = "expected: {output_contains: [hello]}\n"
    checks = (
        "inputs: {prompt: Say hello, follow_up_prompts: [Again]}\n"
        f"checkpoints: [{{after_turn: 1, graders: [{GREETS.strip().removeprefix('- ')}]}}]\n"
    )
    tasks = {"a": task("a", expects), "b": f"id: b\nname: b\n{checks}"}
    assert "2 of 2 tasks passed" in engine("run", write_suite(tmp_path, tasks)).stdout


def test_a_task_that_waits_for_people_has_no_score_while_it_runs(tmp_path: Path) -> None:
    waits = "graders: [{type: human, name: look, config: {criteria: ['ok?']}}]\n"
    suite = write_suite(tmp_path, {"a": task("a", waits), "b": task("b", f"graders:\n{GREETS}")})
    told = engine("run", suite).stdout.splitlines()
    assert ("◷ a" in told, "✓ b  1.00" in told) == (True, True)
