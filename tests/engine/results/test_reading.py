import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import run, task, write_suite
from waza_engine.results.reading import file_scores, newest_scores
from waza_engine.results.reading.file_scores import MOST_OBJECTS, MOST_VALUES
from waza_engine.results.reading.newest_scores import latest_results, results_of
from waza_engine.results.reading.scores import RunResult
from waza_engine.results.reviews import REVIEWS_NAME

GRADERS = """\
- {type: text, name: greets, config: {contains: [hello, goodbye]}}
- {type: human, name: review}
- {type: nonsense, name: broken}
"""
UPSTREAM: dict[str, Any] = {
    "eval_id": "run-1",
    "skill": "writer",
    "eval_name": "suite",
    "timestamp": "2026-07-01T10:00:00.123456789+02:00",
    "config": {"runs_per_test": 2, "model_id": "m", "engine_type": "copilot-sdk", "timeout_sec": 60},
    "summary": {"total_tests": 1},
    "metrics": None,
    "tasks": [
        {
            "test_id": "a",
            "display_name": "A",
            "status": "failed",
            "stats": {"avg_score": 0.75},
            "runs": [
                {
                    "status": "passed",
                    "validations": {"g": {"type": "text", "score": 1, "passed": True, "feedback": "ok"}},
                },
                {
                    "status": "failed",
                    "validations": {"g": {"type": "text", "score": 0.5, "passed": False, "feedback": "no"}},
                },
                {"status": "error", "validations": None, "error_msg": "broke", "transcript": None},
            ],
        }
    ],
}
PYTHON_ERA: dict[str, Any] = {
    "eval_id": "suite-1",
    "skill": "writer",
    "eval_name": "suite",
    "timestamp": "2026-01-01T00:00:00",
    "config": {"model": "m", "executor": "mock"},
    "summary": {"total_tasks": 1},
    "tasks": [
        {
            "id": "a",
            "name": "A",
            "status": "partial",
            "aggregate": {"mean_score": 0.5},
            "trials": [
                {
                    "status": "timeout",
                    "error": "too slow",
                    "grader_results": {
                        "g": {"type": "code", "score": 0.5, "passed": False, "message": "half"},
                        "h": {"type": "human", "score": 0, "passed": False, "details": {"status": "pending"}},
                    },
                }
            ],
        }
    ],
}


def read(tmp_path: Path, document: object) -> RunResult | None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))
    return results_of(path)


def test_nothing_was_ever_run(tmp_path: Path) -> None:
    assert latest_results(tmp_path) is None
    assert latest_results(tmp_path / "gone") is None


def test_each_grader_has_its_mean_its_trials_and_its_checks(tmp_path: Path) -> None:
    run(write_suite(tmp_path, {"a": task("a")}, graders=GRADERS), trials=2)
    found = latest_results(tmp_path)
    assert found is not None
    assert (found.eval_file, found.executor, found.status, found.complete) == (
        "eval.yaml",
        "mock",
        "failed",
        True,
    )
    assert (found.tasks["a"].status, found.tasks["a"].trials, found.tasks["a"].passed_trials) == (
        "failed",
        2,
        0,
    )
    graders = found.tasks["a"].graders
    greets = graders["greets"]
    assert (greets.status, greets.score, greets.scores, greets.passed) == ("graded", 0.5, (0.5, 0.5), False)
    assert "goodbye" in greets.feedback
    assert [(check.path, check.passed, check.passed_trials) for check in greets.checks] == [
        (("contains", 0), True, 2),
        (("contains", 1), False, 0),
    ]
    assert (graders["review"].status, graders["broken"].status) == ("pending", "error")


def test_a_run_of_one_task_or_grader_replaces_only_that(tmp_path: Path) -> None:
    one = "- {type: text, name: one, config: {contains: [hello]}}\n"
    graders = one + one.replace("one", "two")
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=graders)
    run(path)
    two = "name: two, config: {contains: ["
    path.write_text(path.read_text().replace(f"{two}hello", f"{two}x"))
    run(path, tasks=["a"], graders=["two"])
    found = latest_results(tmp_path)
    assert found is not None
    scores = {(t.id, g.name): g.score for t in found.tasks.values() for g in t.graders.values()}
    assert scores == {("a", "one"): 1.0, ("a", "two"): 0.0, ("b", "one"): 1.0, ("b", "two"): 1.0}


def test_results_of_upstream_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, UPSTREAM)
    assert found is not None
    assert (found.model, found.executor, found.timestamp.microsecond) == ("m", "copilot-sdk", 123456)
    assert found.tasks["a"].graders["g"].scores == (1.0, 0.5)
    assert found.tasks["a"].graders["g"].feedback == "no"
    assert found.tasks["a"].error == "broke"


def test_results_of_the_python_era_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, PYTHON_ERA)
    assert found is not None
    assert (found.model, found.executor) == ("m", "mock")
    assert (found.tasks["a"].status, found.tasks["a"].score, found.tasks["a"].error) == (
        "error",
        0.0,
        "too slow",
    )
    assert found.tasks["a"].graders["g"].feedback == "half"
    assert found.tasks["a"].graders["h"].status == "pending"


def test_results_beside_the_suite_are_found(tmp_path: Path) -> None:
    (tmp_path / "results" / "deep").mkdir(parents=True)
    (tmp_path / "results" / "deep" / "m.json").write_text(json.dumps(UPSTREAM))
    found = latest_results(tmp_path)
    assert found is not None
    assert list(found.tasks) == ["a"]


def test_of_two_suites_in_one_directory_each_has_its_own(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS)
    run(path)
    other = path.with_name("other.yaml")
    other.write_text(path.read_text().replace("name: greets", "name: waves"))
    run(other)
    mine = latest_results(tmp_path, eval_file="eval.yaml")
    assert mine is not None
    assert "waves" not in mine.tasks["a"].graders


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '{"tasks": 3}',
        '{"eval_name": "x", "tasks": [null, 3, {"runs": 3}]}',
        "[" * 100_000,
        '{"eval_name": "\\ud83d", "x": ' + "[" * 100_000,
    ],
)
def test_a_file_that_is_no_result_never_raises(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    results_of(path)
    assert latest_results(tmp_path) is None or text.startswith('{"eval_name"')


def test_reading_is_light() -> None:
    heavy = "('pydantic', 'yaml', 'psutil')"
    reading = "waza_engine.results.reading.newest_scores"
    code = f"import sys, {reading}; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"eval_name": "x", "tasks": [' + b"{}," * MOST_OBJECTS + b"{}]}", "more values than a run leaves"),
        (b'{"eval_name": "x", "y": [' + b"1," * MOST_VALUES + b"1]}", "more values than a run leaves"),
    ],
)
def test_a_file_of_very_many_values_is_not_read_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes, said: str
) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    assert results_of(path) is None
    assert said in caplog.text
    assert str(path) in caplog.text


def test_a_journal_of_very_many_lines_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "run.partial.jsonl"
    path.write_bytes(json.dumps({**UPSTREAM, "tasks": []}).encode() + b"\n" * (MOST_OBJECTS + 1))
    assert results_of(path) is None


def test_an_older_file_is_not_read_behind_very_many_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest_scores, "MOST_SCORES", 4)
    many = [{"test_id": f"t{number}"} for number in range(3)]
    for name, tasks in (
        ("old", UPSTREAM["tasks"]),
        ("middle", [{"test_id": "m"}, {"test_id": "n"}]),
        ("new", many),
    ):
        path = tmp_path / ".waza" / "results" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**UPSTREAM, "tasks": tasks}))
        age = ["new", "middle", "old"].index(name)
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    found = latest_results(tmp_path)
    assert found is not None
    assert {"t0", "m", "n"} <= set(found.tasks)
    assert "a" not in found.tasks


def test_a_score_beyond_all_measure_costs_nothing(tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads(json.dumps(UPSTREAM))
    verdict = document["tasks"][0]["runs"][0]["validations"]["g"]
    verdict |= {"score": 1e308, "details": {"status": "pending"}}
    review = {"run": "run-1", "task": "a", "trial": 2, "grader": "g", "passed": True}
    document["tasks"][0]["runs"][1]["validations"]["g"]["details"] = {"status": "pending"}
    (tmp_path / REVIEWS_NAME).write_text(json.dumps(review))
    found = read(tmp_path, document)
    assert found is not None
    assert found.tasks["a"].graders["g"].passed_trials == 1


@pytest.mark.parametrize("cut_off", ["half a smiley \ud83d", "half a smiley \ud83d and more", "\ude0a"])
def test_an_answer_that_was_cut_inside_a_character_costs_nothing(tmp_path: Path, cut_off: str) -> None:
    document: dict[str, Any] = json.loads(json.dumps(UPSTREAM))
    document["tasks"][0]["runs"][0]["final_output"] = cut_off
    found = read(tmp_path, document)
    assert found is not None
    assert found.tasks["a"].graders["g"].scores == (1.0, 0.5)


def test_the_first_tasks_of_very_many_are_shown_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_scores, "MOST_SCORES", 3)
    monkeypatch.setattr(file_scores, "MOST_SCORES_OF_FILE", 3)
    document = {**UPSTREAM, "tasks": [{"test_id": f"t{number}"} for number in range(4)]}
    found = read(tmp_path, document)
    assert found is not None
    assert list(found.tasks) == ["t0", "t1", "t2"]
    assert "Only the first scores" in caplog.text


def test_the_tools_of_a_run_are_known_in_the_order_of_their_first_call(tmp_path: Path) -> None:
    document: dict[str, Any] = json.loads(json.dumps(UPSTREAM))
    trials = document["tasks"][0]["runs"]
    trials[0]["session_digest"] = {"tools_used": ["bash", "view", "bash"]}
    trials[1]["session_digest"] = {"tools_used": None}
    trials[2]["session_digest"] = {"tools_used": ["edit", "view"]}
    found = read(tmp_path, document)
    assert found is not None
    assert found.tools == ("bash", "view", "edit")
