"""Which result file is that of the newest run, and which files are read to know it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.results.eras import SAMPLES
from tests.engine.suites import newest, run, task, write_suite
from waza_engine.results.reading import file_scores, newest_scores
from waza_engine.results.reading.formats import head_of
from waza_engine.results.reading.newest_scores import latest_results, newest_result_file
from waza_engine.results.reading.scores import LaterRun, RunResult

GREETS = "- {type: text, name: greets, config: {contains: [hello]}}\n"
HEAD: dict[str, Any] = {"eval_name": "suite", "summary": {"total_tests": 1}}


@pytest.fixture(name="read_files")
def fixture_read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read to their end."""
    read: list[str] = []
    really = file_scores.scores_in_file

    def scores_in_file(path: Path) -> RunResult | None:
        read.append(path.name)
        return really(path)

    monkeypatch.setattr(file_scores, "scores_in_file", scores_in_file)
    return read


def written(directory: Path, name: str, day: int, **more: object) -> Path:
    """Write a result file of a run that began on a day of January."""
    path = directory / ".waza" / "results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**HEAD, "timestamp": f"2026-01-{day:02}T00:00:00Z", "tasks": [], **more}))
    return path


def test_the_newest_file_is_found_and_none_is_read_to_its_end(tmp_path: Path, read_files: list[str]) -> None:
    files = [written(tmp_path, f"{day}.json", day) for day in range(1, 31)]
    assert newest_result_file(tmp_path) == files[-1]
    assert read_files == []


def test_the_newest_run_is_the_one_that_began_last_not_the_file_written_last(tmp_path: Path) -> None:
    newest, older = written(tmp_path, "new.json", 2), written(tmp_path, "old.json", 1)
    os.utime(newest, (1, 1))
    assert newest_result_file(tmp_path) == newest
    newest.unlink()
    assert newest_result_file(tmp_path) == older


def test_a_file_that_says_behind_its_tasks_when_it_began_is_found_too(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"tasks": [{"test_id": "a"}], **HEAD, "timestamp": "2026-02-01T00:00:00Z"}))
    written(tmp_path, "old.json", 1)
    assert newest_result_file(tmp_path) == path


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"a": 1', '{"tasks": 3}', "[" * 99_999, '{"x": ' + "[" * 99_999]
)
def test_what_is_no_result_is_no_newest_one(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "old.json", 1)
    path.with_name("new.json").write_text(text)
    assert newest_result_file(tmp_path) == path


@pytest.mark.parametrize("era", SAMPLES)
def test_the_head_of_every_era_says_what_the_whole_file_says(tmp_path: Path, era: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(SAMPLES[era]()))
    found, head = latest_results(tmp_path), head_of(path)
    assert found is not None
    assert head is not None
    assert (head.started, head.eval_file) == (found.timestamp, found.eval_file)


def test_the_head_of_a_journal_stands_before_its_many_planned_tasks(tmp_path: Path) -> None:
    planned = [{"test_id": f"t{number}", "display_name": "x" * 50} for number in range(5_000)]
    path = tmp_path / "run.partial.jsonl"
    path.write_text(json.dumps({**HEAD, "timestamp": "2026-01-01T00:00:00Z", "planned": planned}) + "\n")
    head = head_of(path)
    assert head is not None
    assert head.started.year == 2026


def test_behind_a_run_of_the_whole_suite_no_older_file_is_read(tmp_path: Path, read_files: list[str]) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    run(path)
    run(path)
    whole, _ = run(path)
    part, _ = run(path, tasks=["b"])
    found = newest(tmp_path, eval_file="eval.yaml")
    assert found.tasks.keys() == {"a", "b"}
    assert whole.results_file is not None
    assert part.results_file is not None
    assert read_files == [part.results_file.name, whole.results_file.name]


@pytest.mark.parametrize(
    "options", [{"skip_graders": True}, {"graders": ["greets"]}, {"tasks": ["a"]}, {"tags": ["x"]}]
)
def test_behind_a_run_of_a_part_older_files_are_read(tmp_path: Path, options: dict[str, Any]) -> None:
    graders = GREETS + GREETS.replace("greets", "waves")
    path = write_suite(tmp_path, {"a": task("a", "tags: [x]"), "b": task("b")}, graders=graders)
    run(path)
    run(path, **options)
    found = newest(tmp_path, eval_file="eval.yaml")
    assert found.tasks.keys() == {"a", "b"}
    assert all(each.graders.keys() == {"greets", "waves"} for each in found.tasks.values())


def test_a_task_in_error_does_not_keep_the_scores_of_an_older_run(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    run(path)
    (tmp_path / "tasks" / "b.yaml").write_text("id: b\nname: B\ninputs: 3\n")
    broken, _ = run(path)
    assert [each.status for each in broken.outcome.tasks] == ["passed", "error"]
    found = newest(tmp_path, eval_file="eval.yaml")
    assert (found.tasks["b"].status, found.tasks["b"].graders) == ("error", {})
    assert "greets" in found.tasks["a"].graders


def test_scores_that_are_older_than_a_run_that_did_not_come_to_their_task_are_known(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    run(path)
    path.write_text(path.read_text().replace("contains: [hello]", "contains: [goodbye]"))
    cut, _ = run(path, fail_fast=True)
    found = newest(tmp_path, eval_file="eval.yaml")
    a, b = found.tasks["a"], found.tasks["b"]
    assert (b.status, b.later) == ("passed", LaterRun(cut.outcome.header.started))
    assert b.later_than(b.timestamp)
    assert not a.later_than(a.timestamp)
    run(path, tasks=["b"])
    again = newest(tmp_path, eval_file="eval.yaml")
    assert not again.tasks["b"].later_than(again.tasks["b"].timestamp)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def of_a_newer_format(path: Path) -> None:
    path.write_text(path.read_text().replace('"schemaVersion": "1.4"', '"schemaVersion": "2.0"'))


def too_large(path: Path) -> None:
    path.write_text(f"{path.read_text()}{' ' * 100_000}")


@pytest.mark.parametrize("spoil", [cut_off, of_a_newer_format, too_large])
def test_scores_that_are_older_than_a_record_that_cannot_be_read_are_known(
    tmp_path: Path, spoil: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest_scores, "LONGEST_BYTES", 90_000)
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    (tmp_path / "trigger_tests.yaml").write_text("skill: writer\nshould_trigger_prompts: [{prompt: go}]\n")
    run(path)
    unread, _ = run(path)
    assert unread.results_file is not None
    spoil(unread.results_file)
    run(path, tasks=["b"])
    found = newest(tmp_path, eval_file="eval.yaml")
    later = LaterRun(unread.outcome.header.started, unread.results_file)
    a, b = found.tasks["a"], found.tasks["b"]
    assert (found.later, a.later_than(a.timestamp), b.later_than(b.timestamp)) == (later, later, None)
    assert [prompt.later for prompt in found.prompts] == [later]


def test_a_run_that_ended_amid_its_trigger_prompts_leaves_the_others_their_verdict(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / "trigger_tests.yaml").write_text(
        "skill: writer\nshould_trigger_prompts: [{prompt: go}, {prompt: come}]\n"
    )
    run(path)
    cut, _ = run(path)
    assert cut.results_file is not None
    document = json.loads(cut.results_file.read_text())
    document["metadata"]["engine"]["status"] = "canceled"
    del document["trigger_results"][1], document["trigger_metrics"]
    cut.results_file.write_text(json.dumps(document))
    found = newest(tmp_path, eval_file="eval.yaml")
    assert {prompt.prompt for prompt in found.prompts} == {"go", "come"}
    assert [prompt.timestamp == cut.outcome.header.started for prompt in found.prompts] == [True, False]
