import json
from pathlib import Path

import pytest

from tests.command_line import engine, stderr_of, stdout_of
from tests.engine.suites import GREETS, recorded, task, write_prompts, write_suite


def test_a_record_that_still_passes_is_exit_code_0(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    found = engine("grade", record)
    assert (found.returncode, found.stderr) == (0, "")
    assert "✓ a  1.00" in found.stdout
    assert "all as recorded" in found.stdout


def test_a_record_that_no_longer_passes_is_exit_code_1_and_says_what_changed(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS.replace("hello", "adieu"))
    found = stdout_of("grade", record, code=1)
    assert "✗ a  0.00  (was passed)" in found
    assert "greets  0.00  (was 1.00, passed)" in found


PART = "only the grader `greets` was run: no verdict of the suite"


def test_what_some_graders_say_is_not_held_against_what_all_of_them_said(tmp_path: Path) -> None:
    fails = task("a", "expected: {output_contains: [adieu]}\n")
    record = recorded(write_suite(tmp_path, {"a": fails}, graders=GREETS))
    found = engine("grade", record, "--grader", "greets").stdout
    assert "(was failed)" not in found
    assert PART in found
    assert "all as recorded" in found


def test_a_run_of_some_graders_is_one_of_all_when_all_have_graded_it_again(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    record = recorded(path, graders=("greets",))
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    assert PART not in engine("grade", record, "-o", whole).stdout
    assert PART not in engine("report", whole).stdout
    engine("grade", record, "--task", "a", "-o", part)
    assert PART in engine("report", part).stdout


@pytest.mark.parametrize(
    ("ended", "code", "words"),
    [
        ({"status": "canceled"}, 1, "interrupted: 1 of 2 tasks passed, 1 not run"),
        ({"status": "error", "limit": "the limit is reached"}, 1, "stopped by a limit"),
        ({"status": "error", "message": "the hook failed"}, 1, "not run to its end"),
        ({"status": "failed"}, 0, "passed: 1 of 2 tasks passed, 1 not run"),
    ],
)
def test_a_run_that_was_cut_short_stays_so_when_it_is_graded_again(
    tmp_path: Path, ended: dict[str, str], code: int, words: str
) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS))
    document = json.loads(record.read_text())
    unrun = {"test_id": "b", "display_name": "b", "status": "skipped", "runs": [], "error_msg": "not run"}
    document["tasks"] = [found for found in document["tasks"] if found["test_id"] == "a"] + [unrun]
    document["metadata"]["engine"] |= ended
    record.write_text(json.dumps(document))
    found = engine("grade", record, "-o", tmp_path / "again.json")
    assert found.returncode == code
    assert words in found.stdout
    assert "score 1.00" in found.stdout
    assert "– b\n" in found.stdout
    report = engine("report", tmp_path / "again.json")
    assert report.returncode == code
    assert words in report.stdout
    assert json.loads(engine("grade", record, "--format", "json").stdout)["overall_score"] == 1.0


def test_a_task_that_was_not_recorded_is_counted_and_lets_nothing_pass(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    record = recorded(path)
    write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    found = stdout_of("grade", record, "-o", tmp_path / "again.json", code=1)
    assert "not run to its end: 1 of 2 tasks passed, 1 not run  ·  score 1.00" in found
    assert "1 task of the suite was not recorded" in found
    assert [each["test_id"] for each in json.loads((tmp_path / "again.json").read_text())["tasks"]] == ["a"]
    answer = json.loads(engine("grade", record, "--format", "json").stdout)
    assert (answer["passed"], answer["conclusion"]["tasks"]["not_run"]) == (False, 1)
    assert engine("grade", record, "--task", "a").returncode == 0
    assert engine("grade", record, "--task", "*").returncode == 1


def test_a_run_of_chosen_tasks_is_graded_again_as_that_part(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS), tasks=("a",))
    assert "note: only tasks that match `a` were selected" in stdout_of("grade", record)


def test_trigger_prompts_count_as_recorded_when_a_run_is_graded_again(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path,
        {"a": task("a")},
        graders=GREETS,
        more="metrics: [{name: trigger_accuracy, threshold: 0.9}]\n",
    )
    write_prompts(tmp_path, "Write!")
    record = recorded(path)
    document = json.loads(record.read_text())
    document["trigger_results"][0]["did_trigger"] = False
    document["trigger_metrics"] |= {"accuracy": 0.0, "f1": 0.0, "true_positives": 0, "false_negatives": 1}
    document["metrics"]["trigger_accuracy"] |= {"value": 0.0, "passed": False}
    record.write_text(json.dumps(document))
    found = engine("grade", record)
    assert found.returncode == engine("report", record).returncode == 1
    assert "✗ trigger_accuracy is 0.00, below 0.9" in found.stdout
    # Whoever asks for a part is told of that part.
    assert engine("grade", record, "--task", "a").returncode == 0


def test_a_run_of_trigger_prompts_alone_is_not_called_one_of_another_suite(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    write_prompts(tmp_path, "Write!")
    record = recorded(path, prompts=("Write!",))
    assert "trigger prompts alone, which are not graded again" in stderr_of("grade", record)


def test_a_task_that_cannot_be_loaded_does_not_make_a_run_one_without_an_end(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": "id: ["}, graders=GREETS))
    again = tmp_path / "again.json"
    assert engine("grade", record, "-o", again).returncode == 2
    then, now = (engine("report", each, "-f", "json").stdout for each in (record, again))
    reasons = [json.loads(each)["metadata"]["engine"]["conclusion"]["reasons"] for each in (then, now)]
    assert reasons == [["1 task could not be run", "1 task in error"]] * 2


def test_json_is_one_object_and_the_file_a_whole_record(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    found = engine("grade", record, "--format", "json", "--suite", tmp_path, "-o", tmp_path / "again.json")
    answer = json.loads(found.stdout)
    assert (answer["overall_score"], answer["passed"]) == (1.0, True)
    again = json.loads((tmp_path / "again.json").read_text())
    assert again["metadata"]["engine"]["regraded"]["record"] == record.name
    assert engine("grade", tmp_path / "again.json").returncode == 0


def test_a_suite_stands_for_its_newest_record(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    for place in (tmp_path, tmp_path / "eval.yaml"):
        found = engine("grade", place, "--format", "json")
        assert json.loads(found.stdout)["record"] == str(record)
