"""Reviews by people: from a run that waits for them to scores, figures and the agreement with a judge."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Finished, engine
from tests.engine.suites import newest, recorded, run, task, write_suite
from waza_engine.commands.methods import Methods
from waza_engine.commands.regraded import answer, graded
from waza_engine.commands.reporting import ReportedRun, report_of
from waza_engine.commands.shared_options import ReportKind
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.reviews import REVIEWS_NAME, agreement, reviews
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites

HUMAN = """\
- type: human
  name: expert
  config: {instructions: Look twice, criteria: [No secrets]}
- type: text
  name: speaks
  config: {contains: [mock]}
"""
CALIBRATION = """\
- type: text
  name: judge
  config: {contains: [yes please]}
- type: human_calibration
  name: labels
  config: {calibrate_grader: judge}
"""
THREE_TRIALS = "config: {trials_per_task: 3, timeout_seconds: 20, executor: mock}\n"


def review(*arguments: str, cwd: Path) -> Finished:
    return engine("review", *arguments, cwd=cwd)


def listed(cwd: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(review("--json", *arguments, cwd=cwd).stdout)


def reviewed_suite(tmp_path: Path, graders: str = HUMAN, **options: Any) -> Path:
    """Run a suite with one task and return its result file."""
    return recorded(write_suite(tmp_path, {"a": task("a")}, graders=graders, **options))


def test_from_a_run_that_waits_to_the_score_that_the_editor_shows(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path)
    content = results.read_bytes()
    waiting = newest(tmp_path)
    assert (waiting.tasks["a"].graders["expert"].status, waiting.tasks["a"].score) == ("pending", 1.0)

    items = listed(tmp_path)["items"]
    assert [(item["task"], item["trial"], item["grader"], item["pending"]) for item in items] == [
        ("a", 1, "expert", True)
    ]
    assert (items[0]["instructions"], items[0]["criteria"]) == ("Look twice", ["No secrets"])

    said = review("--task", "a", "--fail", "--score", "0.25", "--comment", "a key in line 3",
                  "--reviewer", "Ann", cwd=tmp_path)  # fmt: skip
    assert (said.returncode, said.stderr) == (0, "")
    line = json.loads((tmp_path / REVIEWS_NAME).read_text("utf-8"))
    assert {key: value for key, value in line.items() if key not in ("run", "time")} == {
        "task": "a", "trial": 1, "grader": "expert", "passed": False, "score": 0.25, "reviewer": "Ann",
        "comments": "a key in line 3",
    }  # fmt: skip
    assert results.read_bytes() == content

    shown = newest(tmp_path)
    grader = shown.tasks["a"].graders["expert"]
    assert (grader.status, grader.score, grader.passed) == ("graded", 0.25, False)
    assert grader.feedback == "a key in line 3"
    assert (shown.tasks["a"].status, shown.tasks["a"].score) == ("failed", 0.625)
    assert listed(tmp_path)["items"] == []
    assert listed(tmp_path, "--all")["items"][0]["reviewer"] == "Ann"


@pytest.mark.parametrize(("verdict", "status"), [("--pass", "pending"), ("--fail", "graded")])
def test_a_trial_that_still_waits_is_no_zero_beside_a_reviewed_one(
    tmp_path: Path, verdict: str, status: str
) -> None:
    graders = "- {type: human, name: expert}\n"
    results = reviewed_suite(tmp_path, graders, config=THREE_TRIALS)
    assert review("--task", "a", "--trial", "2", verdict, "--score", "0.4", cwd=tmp_path).returncode == 0
    assert read_recording(results).document["tasks"][0]["stats"]["avg_score"] == 0.4
    assert "a  0.40  " in engine("report", results).stdout
    shown = newest(tmp_path)
    expert = shown.tasks["a"].graders["expert"]
    assert (shown.tasks["a"].score, expert.score, expert.scores, expert.status) == (0.4, 0.4, (0.4,), status)


def test_reports_and_figures_of_the_run_count_a_review(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path)
    waits = "note: 1 task passed so far, and a review is still to come"
    assert waits in engine("report", results).stdout
    assert review("--fail", cwd=tmp_path).returncode == 0
    assert waits not in engine("report", results).stdout
    document = read_recording(results).document
    verdict = document["tasks"][0]["runs"][0]["validations"]["expert"]
    assert (verdict["score"], verdict["passed"], "status" in verdict) == (0.0, False, False)
    assert verdict["details"]["status"] == "reviewed"
    assert verdict["details"]["instructions"] == "Look twice"
    assert document["tasks"][0]["runs"][0]["status"] == "failed"
    assert document["tasks"][0]["stats"]["avg_score"] == 0.5
    assert (document["summary"]["succeeded"], document["summary"]["aggregate_score"]) == (0, 0.5)
    assert document["metadata"]["engine"]["status"] == "failed"


def test_metrics_count_a_review(tmp_path: Path) -> None:
    more = "metrics: [{name: task_completion, threshold: 0.9}, {name: elegance}]\n"
    record = reviewed_suite(tmp_path, more=more)
    review("--fail", cwd=tmp_path)
    assert "note: task_completion is 0.00, below 0.9" in engine("report", record).stdout
    shown = newest(tmp_path)
    assert [(metric.value, metric.passed) for metric in shown.metrics] == [(0, False)]


def test_a_review_below_the_least_score_of_the_run_is_no_pass_for_the_editor_either(tmp_path: Path) -> None:
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=HUMAN), fail_under=0.9)
    review("--pass", "--score", "0.6", cwd=tmp_path)
    assert "✗ the score is 0.80, below 0.9" in engine("report", report.results_file).stdout
    shown = newest(tmp_path)
    assert shown.verdict == "failed"


def test_grading_again_keeps_what_people_said(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path)
    assert review("--pass", "--comment", "fine", cwd=tmp_path).returncode == 0
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(results), suites)
        found = answer(regrading, graded(regrading, RunCancellation()))["tasks"]["a"]
    assert (found["status"], found["graders"]["expert"]["score"]) == ("passed", 1.0)
    assert found["graders"]["expert"]["status"] == "graded"
    live = Methods(lambda _: None).table["grader.grade"]({"record": str(results), "grader": "expert"})()
    assert live["tasks"]["a"]["graders"]["expert"]["feedback"] == "fine"


def test_the_later_review_counts(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path)
    for verdict in ("--pass", "--fail"):
        assert review(verdict, cwd=tmp_path).returncode == 0
    assert read_recording(results).document["tasks"][0]["status"] == "failed"
    assert len((tmp_path / REVIEWS_NAME).read_text("utf-8").splitlines()) == 2


def test_a_task_that_only_waits_is_decided_by_its_review(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path, "- {type: human, name: expert}\n")
    assert read_recording(results).document["tasks"][0]["status"] == "skipped"
    assert review("--pass", cwd=tmp_path).returncode == 0
    document = read_recording(results).document
    assert (document["tasks"][0]["status"], document["summary"]["succeeded"]) == ("passed", 1)


def test_what_waits_at_a_checkpoint_is_reviewed_by_the_name_that_reports_give_it(tmp_path: Path) -> None:
    talk = """\
        id: a
        inputs: {prompt: one, follow_up_prompts: [two]}
        checkpoints: [{after_turn: 1, graders: [{type: human, name: expert}]}]
        """
    eval_file = write_suite(tmp_path, {"a": talk})
    told = engine("run", eval_file, "-f", "jsonl").stdout
    assert '"pending", "task": "a", "trial": 1' in told
    assert "waits for a review" in engine("report", eval_file).stdout
    (item,) = listed(tmp_path)["items"]
    assert (item["grader"], "one" in item["output"]) == ("expert after turn 1", True)
    for verdict, code in (("--pass", 0), ("--fail", 1)):
        assert review("--task", "a", "--grader", "expert after turn 1", verdict, cwd=tmp_path).returncode == 0
        assert engine("report", eval_file).returncode == code
        assert listed(tmp_path)["items"] == []
    found = newest(tmp_path)
    assert found.tasks["a"].status == "failed"


def test_the_next_run_waits_again(tmp_path: Path) -> None:
    reviewed_suite(tmp_path)
    assert review("--pass", cwd=tmp_path).returncode == 0
    report, _ = run(tmp_path / "eval.yaml")
    items = listed(tmp_path)["items"]
    assert [tmp_path / item["results"] for item in items] == [report.results_file]


def test_a_review_names_one_verdict(tmp_path: Path) -> None:
    reviewed_suite(tmp_path, config=THREE_TRIALS)
    many = review("--pass", cwd=tmp_path)
    assert (many.returncode, "3 verdicts fit; name one of them: --task a --trial 1" in many.stderr) == (
        2,
        True,
    )
    assert review("--pass", "--trial", "2", cwd=tmp_path).returncode == 0
    assert [item["trial"] for item in listed(tmp_path)["items"]] == [1, 3]
    none = review("--pass", "--grader", "speaks", cwd=tmp_path)
    assert (none.returncode, none.stderr) == (2, "Nothing waits for a review there.\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--pass", "--score", "2"], "must lie between 0 and 1"),
        (["--score", "0.5"], "add `--pass` or `--fail`"),
        (["none.json", "--pass"], "none.json is not a result file."),
    ],
)
def test_a_review_that_cannot_be_recorded(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    reviewed_suite(tmp_path)
    said = review(*arguments, cwd=tmp_path)
    assert (said.returncode, complaint in said.stderr) == (2, True)
    assert not (tmp_path / REVIEWS_NAME).exists()


def test_lines_that_say_nothing_are_told_and_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    results = reviewed_suite(tmp_path)
    (tmp_path / REVIEWS_NAME).write_text('{"run": 1}\nnot json', "utf-8")
    assert engine("report", results).returncode == 0
    assert f"{REVIEWS_NAME}:1 is no review: `run` must be text (and 1 more line)" in caplog.text
    assert review("--pass", cwd=tmp_path).returncode == 0
    assert len(reviews(results)) == 1


def test_reviews_of_another_run_change_nothing(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path)
    line = {"run": "another", "task": "a", "trial": 1, "grader": "expert", "passed": False}
    forged = {**line, "run": read_recording(results).document["eval_id"], "grader": "speaks"}
    (tmp_path / REVIEWS_NAME).write_text(f"{json.dumps(line)}\n{json.dumps(forged)}\n", "utf-8")
    document = read_recording(results).document
    assert document["tasks"][0]["status"] == "passed"
    assert document == json.loads(results.read_text("utf-8"))


def test_labels_tell_how_far_a_judge_agrees(tmp_path: Path) -> None:
    results = reviewed_suite(tmp_path, CALIBRATION, config=THREE_TRIALS)
    for trial, verdict in ((1, "--pass"), (2, "--fail"), (3, "--pass")):
        assert review("--trial", str(trial), verdict, cwd=tmp_path).returncode == 0
    found = read_recording(results).document["calibration"]["labels"]
    assert (found["calibrate_grader"], found["labels"], found["agreed"]) == ("judge", 3, 1)
    assert (found["false_negative_rate"], found["false_positive_rate"]) == (1.0, 0.0)
    text = review(cwd=tmp_path).stdout
    said = "agrees with people on 1 of 3 (33%), wrongly passed 0%, wrongly failed 100%"
    assert f"labels: `judge` {said}" in text
    assert (
        "agrees with people on 1 of 3"
        in report_of([ReportedRun(read_recording(results).document)], ReportKind.MARKDOWN).decode()
    )


@pytest.mark.parametrize(
    ("pairs", "share", "false_positive", "false_negative", "kappa"),
    [
        ([], None, None, None, None),
        ([(True, True)], 1.0, None, 0.0, None),
        ([(True, True), (False, False)], 1.0, 0.0, 0.0, 1.0),
        ([(True, False), (False, True)], 0.0, 1.0, 1.0, -1.0),
        # The usual textbook table: 20 both yes, 5 and 10 divided, 15 both no.
        ([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15,
         0.7, 0.4, 0.2, 0.4),
    ],
)  # fmt: skip
def test_agreement(
    pairs: list[tuple[bool, bool]],
    share: float | None,
    false_positive: float | None,
    false_negative: float | None,
    kappa: float | None,
) -> None:
    found = agreement(pairs)
    figures = map(found.get, ("agreement", "false_positive_rate", "false_negative_rate", "kappa"))
    for figure, wanted in zip(figures, (share, false_positive, false_negative, kappa), strict=True):
        assert figure == (None if wanted is None else pytest.approx(wanted))
