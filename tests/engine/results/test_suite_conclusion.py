"""What a suite comes to by its newest results, when a part of it was run again since, or by another make."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from waza_engine.results.reading.scores import PromptResult, RunResult, TaskResult
from waza_engine.results.reading.suite_conclusion import conclude_recorded, conclude_suite
from waza_engine.results.record import MetricOutcome

THEN = datetime(2026, 7, 1, tzinfo=UTC)
LATER = THEN + timedelta(hours=1)
MISSED = MetricOutcome("trigger_accuracy", 0.5, 0.9, passed=False)


def recorded(*statuses: str, at: datetime = THEN, **known: Any) -> RunResult:
    """Return a run whose tasks came to these."""
    tasks = {
        str(number): TaskResult(str(number), "", status, 1.0, 1, 1, {}, at)
        for number, status in enumerate(statuses)
    }
    path = Path("results.json")
    return RunResult(
        path, at, "suite", "s", "eval.yaml", "mock", "", known.pop("status", ""), True, False, tasks, **known
    )


def since(whole: RunResult, *statuses: str, **known: Any) -> RunResult:
    """Return the newest results after a part of a suite was run again."""
    return replace(recorded(*statuses, at=LATER, **known), whole=whole)


def prompt(at: datetime = THEN, *, did: bool = True, error: str = "") -> PromptResult:
    return PromptResult("Greet", True, did, error, at)


def test_a_suite_whose_last_run_was_whole_comes_to_what_that_concluded() -> None:
    whole = recorded("passed", verdict="failed", reasons=("trigger_accuracy is 0.50, below 0.9",))
    found = conclude_suite(replace(whole, whole=whole))
    assert (found.verdict, found.reasons) == ("failed", ("trigger_accuracy is 0.50, below 0.9",))


@pytest.mark.parametrize(
    ("status", "verdict"), [("failed", "failed"), ("completed", "passed"), ("", "passed")]
)
def test_what_another_make_has_against_its_run_counts_whatever_its_tasks_say(
    status: str, verdict: str
) -> None:
    whole = recorded("passed", "passed", status=status)
    assert conclude_suite(replace(whole, whole=whole)).verdict == verdict


@pytest.mark.parametrize(
    ("statuses", "verdict"), [(("skipped",), "unjudged"), (("skipped", "passed"), "passed")]
)
def test_a_run_that_was_completed_without_a_verdict_of_anything_is_no_pass(
    statuses: tuple[str, ...], verdict: str
) -> None:
    assert conclude_recorded(recorded(*statuses, status="completed")).verdict == verdict


@pytest.mark.parametrize(
    ("newest", "verdict", "reasons"),
    [
        (("passed", "passed"), "passed", ()),
        (("passed", "failed"), "failed", ("1 of 2 tasks failed",)),
        (("failed", "error"), "failed", ("1 of 2 tasks failed", "1 of 2 tasks in error")),
        (("passed", "error"), "errored", ("1 of 2 tasks in error",)),
        (("skipped", ""), "unjudged", ()),
    ],
)
def test_a_part_that_was_run_since_counts_with_what_the_others_came_to_before(
    newest: tuple[str, ...], verdict: str, reasons: tuple[str, ...]
) -> None:
    whole = recorded("failed", "failed", verdict="failed", reasons=("2 tasks failed",))
    found = conclude_suite(since(whole, *newest))
    assert (found.verdict, found.reasons) == (verdict, reasons)


def test_a_metric_that_only_informs_makes_no_suite_fail() -> None:
    whole = recorded("passed", verdict="passed", metrics=(replace(MISSED, name="task_completion"),))
    assert conclude_suite(since(whole, "passed")).verdict == "passed"


def test_the_accuracy_of_the_whole_run_holds_until_a_prompt_is_tried_again() -> None:
    wrong, right = prompt(did=False), prompt(LATER)
    whole = recorded("passed", verdict="failed", metrics=(MISSED,), prompts=(wrong,))
    as_before = conclude_suite(since(whole, "passed", prompts=(wrong,)))
    assert (as_before.verdict, as_before.reasons) == (
        "failed",
        ("trigger_accuracy is 0.50, below 0.9", "1 of 1 trigger prompt answered wrongly"),
    )
    assert conclude_suite(since(whole, "passed", prompts=(right,))).verdict == "passed"
    again = conclude_suite(since(whole, "passed", prompts=(prompt(LATER, did=False),)))
    assert (again.verdict, again.reasons) == ("failed", ("1 of 1 trigger prompt answered wrongly",))
    untried = conclude_suite(since(whole, "passed", prompts=(prompt(LATER, error="no login"),)))
    assert (untried.verdict, untried.reasons) == ("errored", ("1 of 1 trigger prompt could not be tried",))


def test_a_wrong_answer_within_the_threshold_is_no_failure() -> None:
    enough = replace(MISSED, passed=True)
    prompts = (prompt(), prompt(did=False))
    whole = recorded("passed", verdict="passed", metrics=(enough,), prompts=prompts)
    assert conclude_suite(since(whole, "passed", prompts=prompts)).verdict == "passed"


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (recorded("passed", status="completed"), "passed"),
        (recorded("passed", "failed", status="completed"), "failed"),
        (recorded("passed", "error", status="failed"), "errored"),
        (recorded("passed", status="failed"), "failed"),
        (recorded("passed", "error", verdict="errored"), "errored"),
        (recorded("failed", "error", verdict="interrupted"), "failed"),
        (recorded("passed", "skipped", verdict="limited"), "errored"),
        (recorded("skipped", verdict="unjudged"), "unjudged"),
    ],
)
def test_what_one_record_says_is_told_by_what_failed_before_what_broke(run: RunResult, verdict: str) -> None:
    assert conclude_recorded(run).verdict == verdict
