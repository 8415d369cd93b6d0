import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.results.eras import go_march
from tests.engine.suites import GREETS, newest, run, task, write_suite
from waza_engine.moments import local_time
from waza_engine.results.reading import file_scores, newest_scores
from waza_engine.results.reading.file_scores import MOST_OBJECTS, MOST_VALUES
from waza_engine.results.reading.newest_scores import latest_results, results_of
from waza_engine.results.reading.scores import RunResult
from waza_engine.results.reviews import REVIEWS_NAME
from waza_language_server.features.scores.verdict_labels import age

GRADERS = """\
- {type: text, name: greets, config: {contains: [hello, goodbye]}}
- {type: human, name: review}
- {type: nonsense, name: broken}
"""


def read(tmp_path: Path, document: object) -> RunResult:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document))
    found = results_of(path)
    assert found is not None
    return found


def test_nothing_was_ever_run(tmp_path: Path) -> None:
    assert latest_results(tmp_path) is None
    assert latest_results(tmp_path / "gone") is None


def test_each_grader_has_its_mean_its_trials_and_its_checks(tmp_path: Path) -> None:
    run(write_suite(tmp_path, {"a": task("a")}, graders=GRADERS), trials=2)
    found = newest(tmp_path)
    assert (found.eval_file, found.executor) == ("eval.yaml", "mock")
    assert (found.status, found.complete) == ("failed", True)
    assert (found.tasks["a"].status, found.tasks["a"].trials) == ("failed", 2)
    assert found.tasks["a"].passed_trials == 0
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
    found = newest(tmp_path)
    scores = {(t.id, g.name): g.score for t in found.tasks.values() for g in t.graders.values()}
    assert scores == {("a", "one"): 1.0, ("a", "two"): 0.0, ("b", "one"): 1.0, ("b", "two"): 1.0}


def test_of_two_suites_in_one_directory_each_has_its_own(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS)
    run(path)
    other = path.with_name("other.yaml")
    other.write_text(path.read_text().replace("name: greets", "name: waves"))
    run(other)
    mine = newest(tmp_path, eval_file="eval.yaml")
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
    path.write_bytes(json.dumps({**go_march(), "tasks": []}).encode() + b"\n" * (MOST_OBJECTS + 1))
    assert results_of(path) is None


def test_an_older_file_is_not_read_behind_very_many_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest_scores, "MOST_SCORES", 4)
    many = [{"test_id": f"t{number}"} for number in range(3)]
    for name, tasks in (
        ("old", [{"test_id": "a"}]),
        ("middle", [{"test_id": "m"}, {"test_id": "n"}]),
        ("new", many),
    ):
        path = tmp_path / ".waza" / "results" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**go_march(), "tasks": tasks}))
        age = ["new", "middle", "old"].index(name)
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    found = newest(tmp_path)
    assert {"t0", "m", "n"} <= set(found.tasks)
    assert "a" not in found.tasks


def test_a_score_beyond_all_measure_costs_nothing(tmp_path: Path) -> None:
    document = go_march()
    first, second = (run["validations"]["greets"] for run in document["tasks"][1]["runs"])
    first |= {"score": 1e308, "details": {"status": "pending"}}
    second["details"] = {"status": "pending"}
    review = {"run": document["eval_id"], "task": "shaky", "trial": 2, "grader": "greets", "passed": True}
    (tmp_path / REVIEWS_NAME).write_text(json.dumps(review))
    found = read(tmp_path, document)
    assert found.tasks["shaky"].graders["greets"].passed_trials == 1


@pytest.mark.parametrize("cut_off", ["half a smiley \ud83d", "half a smiley \ud83d and more", "\ude0a"])
def test_an_answer_that_was_cut_inside_a_character_costs_nothing(tmp_path: Path, cut_off: str) -> None:
    document = go_march()
    document["tasks"][1]["runs"][0]["final_output"] = cut_off
    found = read(tmp_path, document)
    assert found.tasks["shaky"].graders["greets"].scores == (1.0, 0.5)


def test_the_first_tasks_of_very_many_are_shown_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_scores, "MOST_SCORES", 3)
    monkeypatch.setattr(file_scores, "MOST_SCORES_OF_FILE", 3)
    document = {**go_march(), "tasks": [{"test_id": f"t{number}"} for number in range(4)]}
    found = read(tmp_path, document)
    assert list(found.tasks) == ["t0", "t1", "t2"]
    assert "Only the first scores" in caplog.text


def test_the_tools_of_a_run_are_known_in_the_order_of_their_first_call(tmp_path: Path) -> None:
    document = go_march()
    used = (["bash", "view", "bash"], None, ["edit", "view"])
    document["tasks"] = [
        {"test_id": "a", "runs": [{"session_digest": {"tools_used": names}} for names in used]}
    ]
    found = read(tmp_path, document)
    assert found.tools == ("bash", "view", "edit")


# --- figures that no run has ---


_Edit = Callable[[dict[str, Any]], object]


def recorded(directory: Path, edit: _Edit) -> Path:
    suite = write_suite(directory, {"a": task("a"), "b": task("b", prompt="Bye")}, graders=GREETS)
    file = run(suite)[0].results_file
    assert file is not None
    document = json.loads(file.read_text("utf-8"))
    edit(document)
    file.write_text(json.dumps(document), "utf-8")
    return file


def reported(record: Path, output_format: str) -> str:
    return engine("report", record, "--format", output_format).stdout


@pytest.mark.parametrize(("score", "shown"), [(1e308, "1.00"), (-5, "0.00"), (95, "1.00"), (True, "0.00")])
def test_a_score_counts_from_0_to_1(tmp_path: Path, score: float, shown: str) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["tasks"][0]["runs"][0]["validations"]["greets"]["score"] = score

    record = recorded(tmp_path, edit)
    assert f"✓ a  {shown}" in reported(record, "text")
    mean = float(shown) / 2
    assert f'name="score" value="{mean:.4f}"' in reported(record, "junit")
    assert json.loads(engine("compare", record, record, "--format", "json").stdout)["aggregate_scores"] == [
        mean,
        mean,
    ]


def test_no_time_is_below_0(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["summary"]["duration_ms"] = -9
        document["tasks"][0]["runs"][0]["duration_ms"] = -5000

    record = recorded(tmp_path, edit)
    times = [
        case.get("time", "") for case in ElementTree.fromstring(reported(record, "junit")).iter("testcase")
    ]
    assert float(times[0]) == 0.0
    assert not any(time.startswith("-") for time in times)
    assert "-0.0 s" not in reported(record, "text")


def test_a_record_that_does_not_say_when_it_began_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = recorded(tmp_path, lambda document: document.pop("timestamp"))
    (suite,) = ElementTree.fromstring(reported(record, "junit")).iter("testsuite")
    assert "timestamp" not in suite.attrib
    assert "0001" not in "".join(reported(record, each) for each in ("text", "markdown", "github"))
    # West of Greenwich the first moment of the calendar cannot be told at all.
    monkeypatch.setenv("TZ", "America/New_York")
    unknown = datetime.min.replace(tzinfo=UTC)
    assert local_time(unknown) == ""
    assert age(unknown, datetime.now(UTC)) == "some time ago"


def test_a_task_that_is_recorded_twice_is_told_as_that(tmp_path: Path) -> None:
    record = recorded(tmp_path, lambda document: document["tasks"].append(document["tasks"][0]))
    said = engine("grade", record).stderr
    assert "the record has more tasks `a` than the suite; its record stays as it is" in said


def test_what_a_trial_that_was_cut_off_holds_counts_for_no_mark(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["metadata"]["engine"]["status"] = "canceled"
        lost = document["tasks"][1]
        lost["status"] = "skipped"
        lost["runs"][0] |= {"status": "skipped", "stopped": True}

    record = recorded(tmp_path, edit)
    assert "1 of 2 tasks passed, 1 lost" in reported(record, "text")
    found = newest(tmp_path)
    assert [list(found.tasks[name].graders) for name in ("a", "b")] == [["greets"], []]
