"""How new trials would end is shown in each report of a task with several trials, and in no other."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.results.test_reports import SourceLocation, document, task, verdict
from tests.engine.suites import GREETS, run, write_suite
from tests.engine.suites import task as suite_task
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.codec.summary_blocks import counted_task
from waza_engine.results.conclusion import conclude
from waza_engine.results.reports.github import github_annotations
from waza_engine.results.reports.junit import junit_report
from waza_engine.results.reports.markdown_report import markdown_report
from waza_engine.results.reports.result_page import result_page

TWO_OF_THREE = "pass@3 0.96 (0.50–0.99), pass^3 0.30 (0.01–0.83)"
MEAN = "pass@3 0.98 (0.96–1.00), pass^3 0.65 (0.30–1.00)"


def tried(name: str, *passed: bool) -> dict[str, Any]:
    runs = [
        {
            "run_number": number,
            **task(name, "passed" if one else "failed", greets=verdict(passed=one))["runs"][0],
        }
        for number, one in enumerate(passed, start=1)
    ]
    return {**task(name, "passed" if all(passed) else "failed"), "runs": runs}


REPEATED = document(tried("flaky", True, False, True), tried("sure", True, True, True))
ONCE = document(tried("one", True), tried("two", False))


class Nowhere:
    def of(self, task: str, grader: str) -> SourceLocation:
        return SourceLocation("eval.yaml")

    def of_prompt(self, text: str, *, should_trigger: bool) -> SourceLocation:
        return SourceLocation("eval.yaml")


def test_a_conclusion_has_those_of_its_tasks_and_of_the_run() -> None:
    found = conclude(run_of(REPEATED))
    assert next(one.estimates.words for one in found.tasks if one.estimates) == TWO_OF_THREE
    assert found.tasks[0].document()["estimates"] == TWO_OF_THREE
    assert found.document()["estimates"] == MEAN
    once = conclude(run_of(ONCE))
    assert (once.pass_estimates, "estimates" in once.tasks[0].document()) == (None, False)


def test_a_task_in_error_counts_as_one_that_never_passes() -> None:
    broken: dict[str, Any] = {**tried("broken", False, False), "status": "error"}
    broken["runs"] = [
        {**one, "status": "error", "validations": {}, "error_msg": "gone"} for one in broken["runs"]
    ]
    found = conclude(run_of(document(tried("sure", True, True), broken)))
    assert found.pass_estimates is not None
    assert found.pass_estimates.pass_exp_k.mean == 0.5


def test_markdown_has_a_column() -> None:
    found = markdown_report(REPEATED)
    assert f"| ❌ | `flaky` | 0.75 | 2/3 | {TWO_OF_THREE} |" in found
    assert f"Repeated: **{MEAN}**" in found
    assert "Estimates" not in markdown_report(ONCE)


def test_junit_has_properties() -> None:
    case = ElementTree.fromstring(junit_report(REPEATED)).find(".//testcase[@name='flaky']")
    assert case is not None
    assert {found.get("name"): found.get("value") for found in case.iter("property")} == {
        "pass_rate": "0.6667",
        "pass_rate_ci95": "0.2077 to 0.9385",
        "pass_at_k": "0.9630",
        "pass_at_k_ci95": "0.5026 to 0.9998",
        "pass_exp_k": "0.2963",
        "pass_exp_k_ci95": "0.0090 to 0.8266",
    }
    assert ElementTree.fromstring(junit_report(ONCE)).find(".//testcase/properties") is None


def test_the_page_and_github_say_it() -> None:
    run = run_of(REPEATED)
    page = result_page(run.header, conclude(run))
    assert f"2/3 trials passed · {TWO_OF_THREE}" in page
    assert MEAN in page
    passing = document({**tried("flaky", True, False, True), "status": "passed", "required_pass_rate": 0.5})
    (line,) = github_annotations(conclude(run_of(passing)), "eval.yaml", Nowhere())
    assert line.rstrip().endswith(f"::task flaky is flaky: {TWO_OF_THREE}")


@pytest.fixture
def records(tmp_path: Path) -> tuple[Path, Path]:
    repeated, once = tmp_path / "repeated.json", tmp_path / "once.json"
    repeated.write_text(json.dumps(REPEATED), "utf-8")
    once.write_text(json.dumps(ONCE), "utf-8")
    return repeated, once


def test_the_terminal_has_it_by_task(records: tuple[Path, Path]) -> None:
    said = engine("report", records[0]).stdout
    assert f"✗ flaky  0.75  2/3 trials  ·  {TWO_OF_THREE}  flaky" in said
    assert f"\n{MEAN}\n" in said


def test_json_has_the_numbers() -> None:
    found = tried("flaky", True, False, True)
    stats = counted_task(found, found["runs"])["stats"]
    assert stats["pass_exp_k_ci"]["mean"] == stats["pass_exp_k"] == pytest.approx(8 / 27)
    assert stats["unbiased_pass_at"] == pytest.approx([2 / 3, 1])
    assert stats["unbiased_pass_exp"] == pytest.approx([2 / 3, 1 / 3])


def test_history_has_those_of_each_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": suite_task("a")}, graders=GREETS)
    run(suite)
    run(suite, trials=3)
    told = json.loads(engine("history", suite, "-f", "json").stdout)["tasks"][0]["estimates"]
    assert told == [None, "pass@3 1.00 (0.82–1.00), pass^3 1.00 (0.08–1.00)"]
    assert "pass@3 1.00" in " ".join(engine("history", suite).stdout.split())


@pytest.mark.parametrize(
    ("least", "code", "said"),
    [("0.65", 1, f"pass^k is 0.648, below 0.65 ({MEAN})"), ("0.6", 0, ""), ("0", 0, "")],
)
def test_a_gate_has_a_least_chance_that_all_pass(
    records: tuple[Path, Path], least: str, code: int, said: str
) -> None:
    found = engine("gate", "--baseline", records[0], "--current", records[0], "--min-pass-exp-k", least)
    assert (found.returncode, said in found.stdout, found.stdout.count(MEAN) >= 2) == (code, True, True), (
        found
    )


def test_a_gate_does_not_pass_what_one_trial_cannot_tell(records: tuple[Path, Path]) -> None:
    found = engine("gate", "--baseline", records[1], "--current", records[1], "--min-pass-exp-k", "0")
    assert (found.returncode, "no task of the current run has several trials" in found.stdout) == (1, True)
