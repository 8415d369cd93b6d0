"""Records that somebody has edited: no surface believes a figure that what it is a figure of contradicts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine, stdout_of
from tests.engine.suites import GREETS, present, recorded, task, write_prompts, write_suite
from waza_engine.results.reading.newest_scores import latest_results

Document = dict[str, Any]
NEVER = "graders: [{type: text, name: never, config: {contains: [never said]}}]\n"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A run of two trials a task: ``a`` passed with 1.00, ``b`` failed with 0.50."""
    config = "config: {trials_per_task: 2, timeout_seconds: 20, executor: mock}\n"
    tasks = {"a": task("a"), "b": task("b", NEVER)}
    return recorded(write_suite(tmp_path, tasks, graders=GREETS, config=config))


def edited(record: Path, change: Callable[[Document], object]) -> Document:
    document: Document = json.loads(record.read_text("utf-8"))
    change(document)
    record.write_text(json.dumps(document), "utf-8")
    return document


def praise_summary(document: Document) -> None:
    document["summary"] |= {"succeeded": 2, "failed": 0, "success_rate": 1.0, "aggregate_score": 1.0}


def praise_trials(document: Document) -> None:
    for found in document["tasks"]:
        found["status"] = "passed"
        for trial in found["runs"]:
            trial["status"] = "passed"


def praise_statistics(document: Document) -> None:
    for found in document["tasks"]:
        found["stats"] |= {"avg_score": 1.0, "avg_weighted_score": 1.0, "pass_rate": 1.0, "passed_runs": 2}


@pytest.mark.parametrize("change", [praise_summary, praise_trials, praise_statistics])
def test_the_document_of_a_report_has_no_figure_that_its_conclusion_denies(
    record: Path, change: Callable[[Document], None]
) -> None:
    edited(record, change)
    told: Document = json.loads(engine("report", record, "--format", "json").stdout)
    summary = told["summary"]
    assert (summary["succeeded"], summary["failed"], summary["aggregate_score"]) == (1, 1, 0.75)
    assert told["metadata"]["engine"]["conclusion"]["tasks"]["failed"] == 1
    assert [found["status"] for found in told["tasks"]] == ["passed", "failed"]
    assert {trial["status"] for trial in told["tasks"][1]["runs"]} == {"failed"}


@pytest.mark.parametrize("change", [praise_summary, praise_trials, praise_statistics])
def test_every_report_counts_again(record: Path, change: Callable[[Document], None]) -> None:
    edited(record, change)
    said = engine("report", record).stdout
    assert "failed: 1 of 2 tasks passed, 1 failed  ·  score 0.75" in said
    assert "pass@1" not in said
    assert "Score: **0.75**" in engine("report", record, "--format", "markdown").stdout
    assert 'name="score" value="0.7500"' in engine("report", record, "--format", "junit").stdout
    compared = json.loads(engine("compare", record, record, "--format", "json").stdout)
    assert (compared["aggregate_scores"], compared["success_rates"]) == ([0.75, 0.75], [0.5, 0.5])
    gated = json.loads(engine("gate", "--baseline", record, "--current", record, "-f", "json").stdout)
    assert (gated["current_success_rate"], gated["current_aggregate_score"]) == (0.5, 0.75)
    low = engine("report", record, "--fail-under", "0.9").stdout
    assert "the score is 0.75, below 0.9" in low


@pytest.mark.parametrize("change", [praise_summary, praise_trials, praise_statistics])
def test_an_editor_counts_again(record: Path, change: Callable[[Document], None]) -> None:
    edited(record, change)
    newest = present(latest_results(record.parents[2]))
    found = newest.tasks["b"]
    assert (found.status, found.score, found.passed_trials, found.trials) == ("failed", 0.5, 0, 2)


def test_a_status_that_a_verdict_contradicts_is_told(record: Path) -> None:
    edited(record, praise_trials)
    told = "note: 1 task is recorded as passed, which a verdict contradicts: that counts"
    assert told in engine("report", record).stdout
    found = stdout_of("grade", record, code=1)
    assert "✗ b  0.50  (was recorded as passed, which a verdict contradicts)" in found
    assert "1 not as recorded" in found
    assert engine("grade", record, "-o", record).returncode == 1
    assert "contradicts" not in engine("report", record).stdout


def test_what_nobody_has_edited_is_not_doubted(record: Path) -> None:
    assert "contradicts" not in engine("report", record).stdout
    assert "all as recorded" in engine("grade", record).stdout


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_metric_below_its_threshold_is_missed_whatever_is_written(tmp_path: Path, value: float) -> None:
    metrics = "metrics: [{name: trigger_accuracy, threshold: 0.9}]\n"
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS, more=metrics)
    write_prompts(tmp_path, "Write a poem", "Write a song", should_not=["Add two numbers"])
    record = recorded(suite)

    def praise(document: Document) -> None:
        for found in document["trigger_results"][:2]:
            found["did_trigger"] = not found["should_trigger"]
        document["metrics"]["trigger_accuracy"] |= {"passed": True, "value": value}
        document["trigger_metrics"] |= {"accuracy": value, "f1": value}
        document["metadata"]["engine"]["status"] = "completed"

    edited(record, praise)
    found = engine("report", record)
    assert (found.returncode, "trigger_accuracy is 0.33, below 0.9" in found.stdout) == (1, True)
    assert "accuracy 0.33" in found.stdout
