"""Graders that need not pass, and tasks that need not pass in every trial: one verdict in every view."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import CONFIG, GREETS, only_task, run, task, verdicts, write_suite
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.codec.summary_blocks import counted_run, task_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.metrics import metric_value
from waza_engine.results.reading.scores import task_result
from waza_engine.results.reports.junit import junit_report
from waza_engine.results.reports.markdown_report import markdown_report
from waza_engine.results.task_conclusion import conclude_task
from waza_engine.scoring.task_scores import TrialStatus, task_status

ADVICE = "- {type: text, name: advice, required: false, config: {contains: [goodbye]}}\n"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def recorded(trials: list[bool], **keys: Any) -> dict[str, Any]:
    """Return a passed task of a document whose trials passed or failed."""
    runs = [
        {
            "run_number": number,
            "status": "passed" if passed else "failed",
            "validations": {"g": {"type": "text", "score": float(passed), "passed": passed}},
        }
        for number, passed in enumerate(trials, 1)
    ]
    return {"test_id": "a", "status": "passed", "runs": runs, **keys}


def test_an_advisory_grader_counts_in_the_score_and_fails_no_trial(tmp_path: Path) -> None:
    report, events = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + ADVICE))
    found = conclude(report.outcome)
    assert (found.verdict, report.outcome.summary.aggregate_score) == ("passed", 0.5)
    assert [(one.name, one.verdict) for one in found.tasks[0].graders] == [
        ("greets", "passed"),
        ("advice", "advisory"),
    ]
    told = [event for event in events if event.kind == "graded" and event.grader == "advice"]
    assert [event.status for event in told] == ["advisory"]


def test_it_does_not_speak_against_its_task_in_a_report(tmp_path: Path) -> None:
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + ADVICE))
    document = run_document(report.outcome)
    assert document["tasks"][0]["runs"][0]["validations"]["advice"]["required"] is False
    assert b"<failure" not in junit_report(document)
    assert "✅" in markdown_report(document).splitlines()[0]
    assert "(advisory) 0.00: " in markdown_report(document)
    result = task_result(task_of(document["tasks"][0]), NOW)
    assert (result.status, result.graders["advice"].status) == ("passed", "advisory")
    assert conclude_task(task_of(document["tasks"][0])).verdict == "passed"


def test_one_that_breaks_is_no_error_of_the_trial(tmp_path: Path) -> None:
    broken = "- {type: nonsense, name: broken, required: false}\n"
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + broken))
    assert verdicts(report)["broken"].status == "error"
    assert conclude(report.outcome).verdict == "passed"


def test_a_task_without_a_required_grader_is_not_judged(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=ADVICE)
    found = conclude(run(path)[0].outcome)
    assert (found.verdict, found.tasks[0].reason) == (
        "unjudged",
        "nothing was judged: none of its graders is required",
    )


@pytest.mark.parametrize(
    ("passed", "rate", "status"),
    [(2, 0.66, "passed"), (2, 0.67, "failed"), (2, 1.0, "failed"), (3, 1.0, "passed"), (0, 0.1, "failed")],
)
def test_a_task_passes_when_enough_of_its_trials_do(passed: int, rate: float, status: str) -> None:
    trials: list[TrialStatus] = ["passed" if number < passed else "failed" for number in range(3)]
    assert task_status(trials, rate) == status


def test_every_view_of_a_record_knows_how_many_trials_were_needed() -> None:
    lenient, strict = (recorded([True, False, True], **keys) for keys in ({"required_pass_rate": 0.66}, {}))
    assert task_result(task_of(lenient), NOW).status == "passed"
    assert conclude_task(task_of(lenient)).verdict == "passed"
    assert task_result(task_of(strict), NOW).status == "failed"
    assert conclude_task(task_of(strict)).verdict == "failed"


@pytest.mark.parametrize("odd", [-1, 0, 5, "0.1", None, float("nan")])
def test_a_rate_that_no_suite_can_ask_for_asks_for_all_trials(odd: object) -> None:
    task = recorded([True, False, True], required_pass_rate=odd)
    assert conclude_task(task_of(task)).verdict == task_result(task_of(task), NOW).status == "failed"


def test_the_rate_of_the_task_comes_before_that_of_the_suite(tmp_path: Path) -> None:
    config = CONFIG.replace("}", ", pass_rate: 0.5}")
    (tmp_path / "one").mkdir()
    report, _ = run(write_suite(tmp_path / "one", {"a": task("a")}, graders=GREETS, config=config))
    assert only_task(report).pass_rate == 0.5
    (tmp_path / "two").mkdir()
    own = {"a": task("a", "pass_rate: 0.75\n")}
    report, _ = run(write_suite(tmp_path / "two", own, graders=GREETS, config=config))
    assert run_document(report.outcome)["tasks"][0]["required_pass_rate"] == 0.75


def test_the_score_that_counts_is_the_weighted_one_with_the_plain_mean_beside_it(tmp_path: Path) -> None:
    heavy = "- {type: text, name: heavy, weight: 3, required: false, config: {contains: [goodbye]}}\n"
    report, events = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + heavy), fail_under=0.3)
    found = conclude(report.outcome)
    assert (found.score, found.plain_score, found.tasks[0].score) == (0.25, 0.5, 0.25)
    assert "the score is 0.25, below 0.3" in [reason.words for reason in found.reasons]
    assert [event.score for event in events if event.task == "a" and event.grader is None][-1] == 0.25
    document = run_document(report.outcome)
    assert "0.25 (plain mean 0.50)" in markdown_report(document)
    result = task_result(task_of(document["tasks"][0]), NOW)
    assert (result.score, result.plain_score) == (0.25, 0.5)
    assert metric_value("behavior_quality", report.outcome.tasks) == 0.25


def test_a_label_that_fails_measures_the_judge_and_fails_no_task() -> None:
    label = {"type": "human_calibration", "score": 0.0, "passed": False, "details": {"status": "reviewed"}}
    judge = {"type": "prompt", "score": 1.0, "passed": True}
    run = counted_run({"validations": {"judge": judge, "label": label}}, execution_error=False)
    assert run["status"] == "passed"
    written = {"test_id": "a", "status": "passed", "runs": [run]}
    assert conclude_task(task_of(written)).score == task_result(task_of(written), NOW).score == 1.0
    assert conclude_task(task_of(written)).verdict == task_result(task_of(written), NOW).status == "passed"
