"""What a suite comes to by its newest results, when a part of it was run again since, or by another make."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import newest, run, task, write_suite
from tests.engine.suites import recorded as recorded_file
from waza_engine.commands.reporting import report_command, standing_of
from waza_engine.commands.shared_options import ReportKind
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


# --- runs of some graders ---


GRADERS = """\
- {type: text, name: a, config: {contains: [hello]}}
- {type: text, name: b, config: {contains: [nowhere]}}
"""


def test_a_record_of_one_grader_says_so_in_every_report(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"one": task("one"), "two": task("two")}, graders=GRADERS)
    run(path)
    record = recorded_file(path, graders=["a"])
    document = json.loads(record.read_text("utf-8"))
    concluded = document["metadata"]["engine"]["conclusion"]
    assert (concluded["verdict"], concluded["exit_code"]) == ("unjudged", 0)
    assert concluded["words"] == "1 of 2 graders was run; 2 of 2 tasks passed there"
    standing = standing_of(path)
    assert standing is not None
    assert {name: each["status"] for name, each in standing["tasks"].items()} == {
        "one": "failed",
        "two": "failed",
    }
    words = "the suite failed: 2 of 2 tasks failed (its last whole run and the parts run since)"
    assert standing["words"] == words
    for kind in (ReportKind.TEXT, ReportKind.MARKDOWN, ReportKind.JUNIT, ReportKind.GITHUB, ReportKind.HTML):
        told = tmp_path / kind
        assert report_command([path], kind, told) == 1
        assert kind == ReportKind.HTML or "✓" not in told.read_text("utf-8")
        assert "✅" not in told.read_text("utf-8")
        assert words in told.read_text("utf-8")


def test_a_part_that_passes_after_an_interrupted_run_is_no_verdict_of_the_suite(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path, {"one": task("one"), "two": task("two")}, graders=GRADERS.replace("nowhere", "hello")
    )
    record = recorded_file(path)
    document = json.loads(record.read_text("utf-8"))
    document["metadata"]["engine"] |= {"status": "canceled", "conclusion": None}
    record.write_text(json.dumps(document | {"tasks": document["tasks"][:1]}), "utf-8")
    assert standing_of(path) is None
    run(path, tasks=["one"])
    standing = standing_of(path) or {}
    assert standing["words"] == "the suite is not judged: the suite was never run as a whole"


def test_a_run_of_all_graders_by_their_names_judges_its_tasks(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"one": task("one")}, graders=GRADERS.replace("nowhere", "hello"))
    run(path, graders=["a", "b", "nosuch"])
    found = newest(tmp_path)
    assert found.tasks["one"].status == "passed"
    run(path, graders=["a", "nosuch"])
    alone = newest(tmp_path)
    assert alone.partial


def test_a_directory_counts_only_what_its_newest_suite_still_has(tmp_path: Path) -> None:
    first = write_suite(tmp_path, {"one": task("one"), "gone": task("gone")}, graders=GRADERS)
    run(first)
    graders = GRADERS.replace("nowhere", "hello")
    path = write_suite(tmp_path, {"one": task("one"), "two": task("two")}, graders=graders)
    (tmp_path / "tasks" / "gone.yaml").unlink()
    run(path)
    run(path, tasks=["one"])
    assert standing_of(tmp_path) == standing_of(path)
    assert [*(standing_of(tmp_path) or {})["tasks"]] == ["one", "two"]
