from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.engine.suites import run, task, write_prompts, write_suite
from waza_engine.results.conclusion import DECIDING
from waza_engine.results.metrics import FIGURES
from waza_engine.results.record import MetricOutcome, TaskOutcome, TrialOutcome, Validation
from waza_engine.runs.passes.suite_pass import suite_metrics, unknown_metrics
from waza_engine.scoring.task_scores import TrialScore, TrialStatus, task_statistics, task_status
from waza_engine.spec.eval_file import Metric
from waza_engine.vocabulary import METRICS


def a_task(*trials: tuple[TrialStatus, float]) -> TaskOutcome:
    """Return a task from the status and the score of each of its trials."""
    outcomes = [
        TrialOutcome(number, status, {"g": Validation("g", "text", score, status == "passed", "")})
        for number, (status, score) in enumerate(trials, 1)
    ]
    scores = [TrialScore(status, score, score) for status, score in trials]
    return TaskOutcome(
        "a", "A", task_status([status for status, _ in trials]), outcomes, task_statistics(scores)
    )


def metric(name: str, tasks: Sequence[TaskOutcome], threshold: float = 0.0) -> MetricOutcome:
    (found,) = suite_metrics([Metric(name=name, threshold=threshold, weight=2)], tasks, None)
    return found


TASKS = (
    a_task(("passed", 1.0), ("passed", 1.0)),
    a_task(("passed", 1.0), ("failed", 0.5)),
    a_task(("failed", 0.0), ("error", 0.0)),
    TaskOutcome("broken", "Broken", "error"),
    TaskOutcome("skipped", "Skipped", "skipped"),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Two of four tasks passed at least once; the skipped one is not judged.
        ("task_completion", 0.5),
        # 1 + 1 + 1 + 0.5 + 0 + 0 of the trials, 0 for the task without any.
        ("behavior_quality", 3.5 / 7),
        # 1, 1 - (1 - 0.5)² and twice 0.
        ("pass_at_k", (1 + 0.75) / 4),
        ("pass@k", (1 + 0.75) / 4),
        # 1, 0.5² and twice 0.
        ("pass_exp_k", (1 + 0.25) / 4),
        ("pass^k", (1 + 0.25) / 4),
    ],
)
def test_known_metrics_are_computed(name: str, value: float) -> None:
    found = metric(name, TASKS)
    assert (found.name, found.weight) == (name, 2)
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize(("threshold", "passed"), [(0.0, True), (0.5, True), (0.51, False)])
def test_a_metric_passes_from_its_threshold_on(threshold: float, passed: bool) -> None:
    assert metric("task_completion", TASKS, threshold).passed is passed


def test_what_cannot_be_computed_is_left_out() -> None:
    asked = [Metric(name="trigger_accuracy"), Metric(name="elegance"), Metric(name="task_completion")]
    assert suite_metrics(asked, [TaskOutcome("s", "S", "skipped")], None) == []


def test_what_no_grader_judged_is_left_out() -> None:
    ungraded = TaskOutcome(
        "u", "U", "passed", [TrialOutcome(1, "passed", {})], task_statistics([TrialScore("passed", 0.0, 0.0)])
    )
    assert metric("task_completion", [a_task(("failed", 0.0)), ungraded]).value == 0
    assert suite_metrics([Metric(name="task_completion", threshold=0.8)], [ungraded], None) == []


def test_editors_know_the_names_that_are_computed() -> None:
    assert (DECIDING, *FIGURES) == METRICS


def test_unknown_names_are_warnings() -> None:
    asked = [Metric(name="pass^k"), Metric(name="elegance"), Metric(name="elegance"), Metric(name="")]
    (warning,) = unknown_metrics(asked)
    assert warning.startswith("the metric `elegance` is not known")


def test_a_threshold_of_trigger_prompts_that_are_not_there_is_told(tmp_path: Path) -> None:
    more = "metrics: [{name: trigger_accuracy, threshold: 0.9}, {name: pass_at_k}]\n"
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, more=more)
    told = "`trigger_accuracy` is not computed, and its threshold decides nothing"
    _, events = run(path)
    assert any(told in event.message for event in events if event.message)
    write_prompts(tmp_path, "Go")
    _, events = run(path)
    assert not any(told in event.message for event in events if event.message)


def test_a_run_computes_them_and_warns_of_unknown_ones(tmp_path: Path) -> None:
    more = "metrics: [{name: pass_at_k, threshold: 0.9}, {name: elegance, threshold: 1}]\n"
    failing = "graders: [{type: text, name: no, config: {contains: [nope]}}]\n"
    passing = "graders: [{type: text, name: yes, config: {contains: [mock]}}]\n"
    report, events = run(write_suite(tmp_path, {"a": task("a", passing), "b": task("b", failing)}, more=more))
    assert [(one.name, one.value, one.passed) for one in report.outcome.metrics] == [
        ("pass_at_k", 0.5, False)
    ]
    assert any("`elegance`" in (event.message or "") for event in events)


def test_a_threshold_that_is_missed_does_not_fail_the_run(tmp_path: Path) -> None:
    more = "metrics: [{name: behavior_quality, threshold: 0.9}]\n"
    half = "graders: [{type: program, name: half, config: {command: echo, protocol: waza-json, args: %s}}]\n"
    answer = """['{"passed": true, "score": 0.5}']"""
    report, _ = run(write_suite(tmp_path, {"a": task("a", half % answer)}, more=more))
    assert [(one.value, one.passed) for one in report.outcome.metrics] == [(0.5, False)]
    assert report.outcome.status == "completed"
