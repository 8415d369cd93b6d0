"""Results for a CI system (JUnit) and for a pull request (Markdown)."""

import html
import json
import re
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, run, write_suite
from tests.engine.suites import task as suite_task
from tests.hostile_text import HOSTILE, hidden_in, outside_of_code, replaced
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.codec.summary_blocks import counted_task
from waza_engine.results.conclusion import conclude
from waza_engine.results.reports.github import SourceLocation, github_annotations
from waza_engine.results.reports.junit import junit_report
from waza_engine.results.reports.markdown_report import LONGEST_CHARACTERS, markdown_report
from waza_engine.results.reports.result_page import result_page


def verdict(*, passed: bool, feedback: str = "", status: str = "") -> dict[str, Any]:
    score = 1.0 if passed else 0.25
    found = {"type": "text", "score": score, "passed": passed, "feedback": feedback}
    return {**found, "status": status} if status else found


def task(name: str, status: str, error: str = "", **validations: dict[str, Any]) -> dict[str, Any]:
    run = {"status": status, "duration_ms": 1500, "validations": validations}
    found: dict[str, Any] = {"test_id": name, "display_name": name.title(), "status": status, "runs": [run]}
    found["stats"] = {}
    return {**found, "error_msg": error} if error else found


def document(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {
        "eval_name": "explainers",
        "skill": "explain",
        "timestamp": "2026-01-02T03:04:05Z",
        "config": {"model_id": "gpt", "engine_type": "openai"},
        "summary": {"aggregate_score": 0.75, "duration_ms": 3000},
        "tasks": list(tasks),
    }


FOUR = document(
    task("good", "passed", greets=verdict(passed=True)),
    task("bad", "failed", greets=verdict(passed=True), says=verdict(passed=False, feedback="no <word>")),
    task("broken", "error", "the task file is empty"),
    task("later", "skipped", review=verdict(passed=False, status="pending")),
)


def suite_of(found: dict[str, Any]) -> ElementTree.Element:
    suite = ElementTree.fromstring(junit_report(found)).find("testsuite")
    assert suite is not None
    return suite


def test_markdown_says_what_passed_so_far_only() -> None:
    cut = task("cut", "passed", "the run was interrupted; 1 of 2 trials ran", greets=verdict(passed=True))
    row = "| ✅ | `cut` | 1.00 so far: the run was interrupted; 1 of 2 trials ran | 1/1 |"
    assert row in markdown_report(document(cut))


def test_junit_has_a_suite_with_its_counts_and_properties() -> None:
    suite = suite_of(FOUR)
    counts = {key: suite.get(key) for key in ("name", "tests", "failures", "errors", "skipped", "time")}
    assert counts == {
        "name": "explainers",
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "6.0",
    }
    assert suite.get("timestamp") == "2026-01-02T03:04:05+00:00"
    properties = {found.get("name"): found.get("value") for found in suite.iter("property")}
    assert properties == {"skill": "explain", "model": "gpt", "engine": "openai", "score": "0.5417"} | {
        "verdict": "failed",
        "reason": "1 task in error",
        "note": "1 task waits for a review",
    }


def test_junit_has_a_case_for_every_task() -> None:
    found = [
        (case.get("name"), case.get("classname"), case.get("time"), [child.tag for child in case])
        for case in suite_of(FOUR).iter("testcase")
    ]
    assert found == [
        ("good", "explain", "1.5", []),
        ("bad", "explain", "1.5", ["failure"]),
        ("broken", "explain", "1.5", ["error"]),
        ("later", "explain", "1.5", ["skipped"]),
    ]


def test_junit_of_many_tasks_takes_no_more_for_each_of_them() -> None:
    started = time.process_time()
    suite = suite_of(document(*(task(f"t{number}", "passed") for number in range(4_000))))
    assert suite.get("tests") == "4000"
    assert time.process_time() - started < 8 + ON_A_BUSY_MACHINE


def test_junit_says_which_grader_failed_and_what_broke() -> None:
    suite = suite_of(FOUR)
    failure, error, skipped = (suite.find(f".//{name}") for name in ("failure", "error", "skipped"))
    assert failure is not None
    assert error is not None
    assert skipped is not None
    assert (failure.get("type"), failure.get("message")) == ("GraderFailure", "not passed: says")
    cause, said = (failure.text or "").splitlines()
    assert cause == "skill: The answer was found wrong by `says`, and nothing contradicts that."
    assert said == "says: 0.25 no <word>"
    assert (error.get("type"), error.get("message")) == ("ExecutionError", "the task file is empty")
    assert skipped.get("message") == "waits for a review: review"


def test_junit_stays_well_formed_whatever_a_grader_says() -> None:
    odd = "\x00\x1b[31m\ud800 ]]> & \ufffe"
    suite = suite_of(document(task("a\x01", "failed", says=verdict(passed=False, feedback=odd))))
    failure = suite.find(".//failure")
    assert failure is not None
    assert "]]> &" in str(failure.text)


def test_markdown_has_a_headline_a_table_and_details_of_what_failed() -> None:
    text = markdown_report(FOUR)
    assert text.startswith("## ❌ `explainers`: 1 of 4 tasks passed\n")
    assert "Model: **`gpt`**" in text
    assert "| ✅ | `good` | 1.00 | 1/1 |" in text
    cause = "skill: The answer was found wrong by `says`, and nothing contradicts that."
    assert f"<summary>❌ <code>bad</code></summary>\n\n{cause}\n\n- **`says`** 0.25: `no <word>`\n" in text
    assert "- `the task file is empty`" in text
    assert "- **`review`** pending" in text
    assert "<summary>✅" not in text


class Nowhere:
    """Of all that a run judged no more is known than its suite."""

    def of(self, task: str, grader: str) -> SourceLocation:
        del task, grader
        return SourceLocation("eval.yaml")

    def of_prompt(self, text: str, *, should_trigger: bool) -> SourceLocation:
        del text, should_trigger
        return SourceLocation("eval.yaml")


def test_every_report_names_the_trigger_prompts_that_went_wrong_and_what_broke_them() -> None:
    tried: dict[str, Any] = {"should_trigger": True, "did_trigger": False}
    prompts = [
        {**tried, "prompt": "Explain it", "final_output": "Sure."},
        {**tried, "prompt": "Clarify it", "error_msg": "no answer in 60 s"},
    ]
    metric = {"identifier": "trigger_accuracy", "value": 0.5, "threshold": 0.9, "passed": False, "weight": 1}
    figures = {"false_negatives": 2, "errors": 1, "accuracy": 0.0}
    found = {
        **FOUR,
        "trigger_results": prompts,
        "trigger_metrics": figures,
        "metrics": {"trigger_accuracy": metric},
    }
    run = run_of(found)
    told = (
        junit_report(found).decode(),
        markdown_report(found),
        "".join(github_annotations(conclude(run), "eval.yaml", Nowhere())),
        result_page(run.header, conclude(run)),
    )
    for report in told:
        assert re.search(r"Explain it.*\s*.*should have triggered", report), report
        assert re.search(r"Clarify it.*\s*.*could not be tried \(no answer in 60 s\)", report), report
    assert "Sure." in told[-1]
    assert "Explain it" not in result_page(run.header, conclude(run), task="good")


def test_markdown_of_a_good_run_says_so() -> None:
    text = markdown_report(document(task("good", "passed", greets=verdict(passed=True))))
    assert text.startswith("## ✅ `explainers`: 1 of 1 task passed\n")
    assert "<details>" not in text


def test_markdown_shows_a_text_as_it_is() -> None:
    said = "a|b *c* `d` [e](https://x.example)\n# f @team #12 <script>"
    text = markdown_report(document(task("t|u", "failed", says=verdict(passed=False, feedback=said))))
    assert "| ❌ | `t\\|u` | 0.25 | 0/1 |" in text
    line = next(line for line in text.splitlines() if line.startswith("- **`says`**"))
    assert line.endswith("``a|b *c* `d` [e](https://x.example) # f @team #12 <script>``")


def test_whatever_stands_in_a_result_only_code_in_the_comment_shows_it() -> None:
    """So there is no image, no link, no mention and no HTML but ours."""
    planted = replaced(document(task("\\", "failed", "x", a=verdict(passed=False, feedback="x"))), HOSTILE)
    text = markdown_report({**planted, "timestamp": "2026-01-02T03:04:05Z"})
    assert hidden_in(text) == set()
    titles = re.findall("<code>(.*?)</code>", text)
    assert titles == [html.escape(html.unescape(title)) for title in titles]
    assert "zzz" not in re.sub("<code>.*?</code>", "", outside_of_code(text))
    assert not re.search(r"^\s*::|##\[", text, re.MULTILINE)


def test_the_root_of_junit_has_the_attributes_that_jenkins_allows_and_no_other() -> None:
    """Its schema (`junit-10.xsd`) is strict, and a file that it refuses counts as no report."""
    root = ElementTree.fromstring(junit_report(FOUR))
    assert root.attrib == {"tests": "4", "failures": "1", "errors": "1", "time": root.get("time")}
    suite = suite_of(FOUR)
    allowed = {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"}
    assert set(suite.keys()) <= allowed
    assert re.fullmatch(r"[0-9]+(\.[0-9]+)?", suite.get("time", ""))
    for case in suite.iter("testcase"):
        assert set(case.keys()) <= {"name", "classname", "time"}
        assert {child.tag for child in case} <= {"skipped", "error", "failure"}


def test_junit_shows_what_a_terminal_would_obey() -> None:
    planted = replaced(document(task("t", "failed", "x", a=verdict(passed=False, feedback="x"))), HOSTILE)
    xml = junit_report(planted)
    ElementTree.fromstring(xml)
    assert hidden_in(xml.decode()) == set()
    assert r"\x1b]0;" in xml.decode()
    assert not re.search(r"^\s*::|##\[", xml.decode(), re.MULTILINE)


def test_markdown_is_never_longer_than_a_comment_may_be() -> None:
    long = verdict(passed=False, feedback="x" * 5000)
    text = markdown_report(document(*(task(f"t{number}", "failed", says=long) for number in range(500))))
    assert len(text) < LONGEST_CHARACTERS + 100
    assert text.endswith("The rest is in the result file.\n")


@pytest.mark.parametrize("odd", [None, 3, "x", [], [None, 3], {"a": None}])
def test_a_report_may_find_anything_anywhere(odd: object) -> None:
    for key in ("eval_name", "skill", "timestamp", "config", "summary", "tasks"):
        found = {**FOUR, key: odd}
        ElementTree.fromstring(junit_report(found))
        assert markdown_report(found)
    for key in ("test_id", "status", "runs", "stats", "error_msg"):
        found = document({**task("a", "failed"), key: odd})
        ElementTree.fromstring(junit_report(found))
        assert markdown_report(found)


def test_no_report_says_that_a_mock_asked_a_model() -> None:
    found = {**FOUR, "config": {"model_id": "gpt", "engine_type": "mock"}}
    for report in (markdown_report(found), junit_report(found).decode()):
        assert "gpt" not in report


# --- how new trials would end, of a task with several ---


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
