"""Files of every version of upstream are read by everything here that reads results."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.results.eras import HELLO, SAMPLES, go_march, go_newest, python_era
from tests.engine.suites import newest, task, write_suite
from tests.shared_corpus import SUITES, needs_corpus
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.codec.summary_blocks import task_of
from waza_engine.results.reading.newest_scores import latest_results, results_of
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.reading.scores import task_result
from waza_engine.results.task_conclusion import conclude_task
from waza_engine.vocabulary import CommandInvocation, ToolDenial

every_era = pytest.mark.parametrize("era", SAMPLES)
eras_with_trials = pytest.mark.parametrize("era", [name for name in SAMPLES if name != "sparse"])


def written(directory: Path, era: str) -> Path:
    path = directory / f"{era}.json"
    path.write_text(json.dumps(SAMPLES[era](), indent=2), "utf-8")
    return path


@every_era
def test_the_editor_gets_the_tasks(tmp_path: Path, era: str) -> None:
    found = results_of(written(tmp_path, era))
    assert found is not None
    assert (found.eval_name, found.complete) == ("greeter-eval", True)
    assert {task.id: task.status for task in found.tasks.values()} == {
        "good": "passed",
        "shaky": "failed",
        "broken": "error",
    }
    assert found.tasks["broken"].error == "the agent did not start"


@eras_with_trials
def test_the_editor_gets_the_graders(tmp_path: Path, era: str) -> None:
    found = results_of(written(tmp_path, era))
    assert found is not None
    assert (found.model, found.executor, found.skill) == ("m1", "copilot-sdk", "greeter")
    greets = found.tasks["shaky"].graders["greets"]
    assert (greets.score, greets.scores, greets.passed) == (0.75, (1.0, 0.5), False)
    assert greets.feedback == "goodbye is missing"
    assert (found.tasks["shaky"].score, found.tasks["shaky"].passed_trials) == (0.75, 1)
    assert found.tasks["good"].graders["greets"].passed


@every_era
def test_results_beside_a_suite_are_shown_in_its_files(tmp_path: Path, era: str) -> None:
    (tmp_path / "results" / "2026-03-05T000000.000" / "greeter").mkdir(parents=True)
    written(tmp_path / "results" / "2026-03-05T000000.000" / "greeter", era)
    found = newest(tmp_path)
    assert set(found.tasks) == {"good", "shaky", "broken"}


@every_era
def test_reports_are_written(tmp_path: Path, era: str) -> None:
    path = written(tmp_path, era)
    junit = engine("report", path, "--format", "junit")
    cases = {
        case.get("name"): [child.tag for child in case if child.tag not in ("system-out", "properties")]
        for case in ElementTree.fromstring(junit.stdout).iter("testcase")
    }
    beside: dict[str, list[str]] = {}
    if "baseline_outcome" in SAMPLES[era]():
        beside = {"the skills": ["failure"], "the run without skills": ["error"]}
    prompts: dict[str, list[str]] = {
        each["prompt"]: [] for each in SAMPLES[era]().get("trigger_results") or ()
    }
    assert cases == {"good": [], "shaky": ["failure"], "broken": ["error"], **beside, **prompts}
    # A metric that fails no run is no case, and told all the same.
    assert ("task_completion is" in junit.stdout) == (era == "python")
    markdown = engine("report", path, "--format", "markdown")
    assert "`greeter-eval`: 1 of 3 tasks passed" in markdown.stdout
    assert "the agent did not start" in markdown.stdout
    text = engine("report", path)
    assert (text.returncode, text.stderr) == (1, "")
    assert "1 of 3 tasks passed" in text.stdout


@eras_with_trials
def test_every_era_can_be_compared_with_today(tmp_path: Path, era: str) -> None:
    paths = [written(tmp_path, era), written(tmp_path, "0.38")]
    found = json.loads(engine("compare", *paths, "--format", "json").stdout)
    assert found["models"] == ["m1", "m1"]
    assert found["aggregate_scores"] == pytest.approx([0.5833333, 0.5833333])
    assert found["success_rates"] == pytest.approx([0.3333333, 0.3333333])
    assert found["durations_ms"] == [5000, 5000]
    shaky = next(each for each in found["task_deltas"] if each["task_id"] == "shaky")
    assert (shaky["scores"], shaky["pass_rates"]) == ([0.75, 0.75], [0.5, 0.5])
    assert shaky["statuses"] == ["failed", "failed"]


def test_a_comparison_tells_how_tools_were_used(tmp_path: Path) -> None:
    paths = [written(tmp_path, "python"), written(tmp_path, "0.38")]
    python, newest = json.loads(engine("compare", *paths, "--format", "json").stdout)["tool_metrics"]
    assert python["total_calls"] == 0
    assert newest == {
        "total_calls": 4,
        "tasks_with_tools": 2,
        "avg_calls_per_task": pytest.approx(4 / 3),
        "success_rate": 1.0,
        "selection_accuracy": 0.0,
        "call_count_histogram": {"0": 2, "1": 4, "2": 0, "3+": 0},
    }


def test_what_a_file_does_not_say_is_null_in_a_comparison(tmp_path: Path) -> None:
    paths = [written(tmp_path, "sparse"), written(tmp_path, "0.38")]
    found = json.loads(engine("compare", *paths, "--format", "json").stdout)
    assert found["aggregate_scores"][0] is None
    assert found["aggregate_score_delta"] is None
    assert [each["scores"][0] for each in found["task_deltas"]] == [None, None, None]


@eras_with_trials
def test_every_era_can_be_graded_again(tmp_path: Path, era: str) -> None:
    graders = f"- {{type: text, name: greets, config: {{contains: [{HELLO}]}}}}\n"
    suite = write_suite(
        tmp_path / "suite", {name: task(name) for name in ("good", "shaky", "broken")}, graders=graders
    )
    found = engine("grade", written(tmp_path, era), "--suite", suite, "--format", "json")
    answer = json.loads(found.stdout)
    # Only the agent is to blame for what is wrong now.
    assert found.returncode == 4
    assert {name: each["status"] for name, each in answer["tasks"].items()} == {
        "good": "passed",
        "shaky": "passed",
        "broken": "error",
    }
    assert answer["tasks"]["shaky"]["graders"]["greets"]["scores"] == [1.0, 1.0]
    assert answer["tasks"]["shaky"]["graders"]["greets"]["recorded"] == {"score": 0.75, "passed": False}


@pytest.mark.parametrize("era", ["0.9", "0.25", "0.38"])
def test_tool_calls_and_usage_are_what_graders_get(tmp_path: Path, era: str) -> None:
    trial = read_recording(written(tmp_path, era)).tasks[0].trials[0].outcome
    assert trial.tool_calls is not None
    arguments = {"command": "ls", "cwd": "src"} if era == "0.38" else {"command": "ls"}
    assert [(call.name, call.arguments, call.success) for call in trial.tool_calls] == [
        ("bash", arguments, True)
    ]
    if era != "0.9":
        assert trial.usage is not None
        assert (trial.usage.input_tokens, trial.usage.premium_requests) == (100, 1)
        assert trial.usage.model_metrics["m1"].request_count == 2
        assert [skill.path for skill in trial.skill_invocations] == ["skills/greeter"]


def test_the_python_era_has_tokens_and_knows_no_tool_calls(tmp_path: Path) -> None:
    trial = read_recording(written(tmp_path, "python")).tasks[0].trials[0].outcome
    assert trial.tool_calls is None
    assert trial.usage is not None
    assert (trial.usage.turns, trial.usage.input_tokens, trial.usage.output_tokens) == (2, 100, 50)


def test_a_summary_of_several_skills_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    summary = {
        "timestamp": "2026-03-05T00:00:00Z",
        "skills": [{"skill_name": "greeter", "models": ["m1"], "pass_rate": 1, "output_files": ["r.json"]}],
        "overall": {"total_skills": 1, "total_models": 1, "avg_pass_rate": 1, "avg_aggregate_score": 1},
    }
    path.write_text(json.dumps(summary))
    assert latest_results(tmp_path) is None
    found = engine("report", path)
    assert (found.returncode, "not a result file" in found.stderr) == (2, True)


def test_a_file_of_a_later_format_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**go_newest(), "schemaVersion": "2.0"}))
    for arguments in (("report", path), ("compare", path, path), ("grade", path)):
        found = engine(*arguments)
        assert (found.returncode, "format version 2.0" in found.stderr) == (2, True)


def test_the_newest_run_counts_whatever_era_it_is_of(tmp_path: Path) -> None:
    old, new = python_era(), go_march()
    new["tasks"] = new["tasks"][:1]
    new["tasks"][0]["runs"][0]["validations"]["greets"]["score"] = 0.8
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "old.json").write_text(json.dumps(old))
    (tmp_path / "results" / "new.json").write_text(json.dumps(new))
    found = newest(tmp_path)
    assert (found.tasks["good"].score, found.tasks["shaky"].score) == (0.9, 0.75)


@needs_corpus
def test_the_result_files_among_the_sample_suites_are_read() -> None:
    found = [path for path in sorted(SUITES.rglob("results*.json")) if path.is_file()]
    assert found
    for path in found:
        run = results_of(path)
        assert run is not None, path
        assert run.tasks


# --- newer versions of upstream ---


TRIAL = {
    "run_number": 1,
    "status": "passed",
    "validations": {"a": {"identifier": "a", "type": "text", "passed": True, "score": 1}},
    "session_digest": {
        "tool_policy_mode": "allow_list",
        "tool_policy_denials": [{"tool": "bash", "kind": "shell", "reason": "not in the list"}],
    },
    "command_invocations": [{"command": "az", "args": ["status"], "exit_code": 3, "response_index": 1}],
    "final_output": "ready",
}
STATS = {"pass_rate": 1, "pass_rate_ci": {"lower": 0.2, "upper": 1, "mean": 1, "confidence_level": 0.95}}
SUMMARY = {"total_tests": 1, "statistics": {"success_rate_ci": {"lower": 0.2}, "pass_hat_k": [1]}}


@pytest.mark.parametrize("version", ["1.3", "1.4", "1.5"])
def test_a_result_file_of_a_newer_version_is_read(version: str) -> None:
    document: dict[str, Any] = {
        "schemaVersion": version,
        "eval_name": "suite",
        "evaluation_usage": {"sessions": []},
        "summary": SUMMARY,
        "tasks": [{"test_id": "t", "status": "passed", "stats": STATS, "runs": [TRIAL]}],
    }
    (task,) = run_of(document).tasks
    (trial,) = task.trials
    assert (task.status, trial.status, trial.output) == ("passed", "passed", "ready")
    assert trial.tool_policy == "allow_list"
    assert trial.tool_denials == (ToolDenial("bash", "shell", "not in the list"),)
    assert trial.command_invocations == (CommandInvocation("az", ("status",), 3, 1),)


def test_a_task_without_figures_is_worth_what_its_graders_gave() -> None:
    verdicts = {
        name: {"type": "text", "passed": True, "score": score} for name, score in (("a", 1), ("b", 0.5))
    }
    waiting = {"w": {"type": "human", "passed": False, "score": 0, "status": "pending"}}
    runs = [{"run_number": 1, "status": "passed", "validations": {**verdicts, **waiting}}]
    task = {"test_id": "t", "status": "passed", "runs": runs}
    (read,) = run_of({"schemaVersion": "1.4", "tasks": [task]}).tasks
    assert conclude_task(read).score == 0.75
    assert task_result(task_of(task), datetime.now(UTC)).score == 0.75
