"""What a run leaves beside its result file: a session log, a second copy, transcripts."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, recorded, run, task, write_suite


def lines_of(directory: Path) -> list[dict[str, Any]]:
    (file,) = directory.iterdir()
    assert file.name.endswith("Z-session.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_the_session_log_tells_the_run_line_by_line(tmp_path: Path) -> None:
    tasks = {
        "a": task("a", "expected: {output_contains: [hello]}\n"),
        "b": task("b", prompt="Bye"),
        "c": "id: [",
    }
    path = write_suite(tmp_path, tasks, graders=GREETS)
    record = recorded(path, session_log=True)
    lines = lines_of(tmp_path / ".waza" / "sessions")
    assert [line["type"] for line in lines] == [
        "session_start",
        *("task_start", "grader_result", "grader_result", "task_complete"),
        *("task_start", "grader_result", "task_complete"),
        *("task_start", "error", "task_complete"),
        "session_complete",
    ]
    assert all(set(line) == {"timestamp", "type", "data"} for line in lines)
    data = [line["data"] for line in lines]
    assert data[0] == {"spec_path": str(path), "model": "", "engine": "mock", "task_count": 3}
    assert data[1] == {"task_name": "Task a", "task_num": 1, "total_tasks": 3}
    assert data[2] == {
        "task_name": "Task a",
        "trial": 1,
        "grader_name": "greets",
        "grader_type": "text",
        "passed": True,
        "score": 1.0,
        "feedback": "All text checks passed",
    }
    assert (data[3]["grader_name"], data[3]["grader_type"]) == ("_output_contains", "expected")
    assert data[4] | {"duration_ms": 0} == {
        "task_name": "Task a",
        "status": "passed",
        "score": 1.0,
        "duration_ms": 0,
    }
    assert "c.yaml" in data[9]["message"]
    assert data[-1] | {"duration_ms": 0} == {
        "passed": 1,
        "failed": 1,
        "errors": 1,
        "skipped": 0,
        "status": "failed",
        "results_file": str(record),
        "duration_ms": 0,
    }


def test_a_session_log_goes_where_it_is_asked_for_and_replaces_none(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite", {"a": task("a")})
    logs = tmp_path / "logs"
    for _ in range(3):
        assert engine("run", path, "--session-dir", logs).returncode == 0
    assert len(list(logs.iterdir())) == 3


def test_the_project_can_ask_for_a_log_and_an_option_refuse_it(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("defaults: {sessionLog: true}\n", "utf-8")
    path = write_suite(tmp_path, {"a": task("a")})
    run(path, session_log=False)
    assert not (tmp_path / ".waza" / "sessions").exists()
    run(path)
    assert lines_of(tmp_path / ".waza" / "sessions")[-1]["type"] == "session_complete"


def test_the_log_ends_with_what_stopped_the_run(tmp_path: Path) -> None:
    hook = "hooks: {before_run: [{command: no-such-program, error_on_fail: true}]}\n"
    run(write_suite(tmp_path, {"a": task("a")}, more=hook), session_log=True)
    *_, error, complete = lines_of(tmp_path / ".waza" / "sessions")
    assert "no-such-program" in error["data"]["message"]
    # As the record counts: the task did not run.
    assert (complete["data"]["status"], complete["data"]["skipped"]) == ("error", 1)


def test_another_directory_of_results_gets_a_copy(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("paths: {results: out}\n", "utf-8")
    path = write_suite(tmp_path / "evals" / "writer", {"a": task("a")})
    record = recorded(path, model="vendor/small")
    (copy,) = (tmp_path / "out").glob("*/*.json")
    assert copy.name == "vendor-small.json"
    assert copy.read_bytes() == record.read_bytes()


@pytest.mark.parametrize("written", ["results", "results/", "''"])
def test_the_usual_directory_of_results_gets_none(tmp_path: Path, written: str) -> None:
    (tmp_path / ".waza.yaml").write_text(f"paths: {{results: {written}}}\n", "utf-8")
    run(write_suite(tmp_path, {"a": task("a")}))
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a path below a file is refused otherwise there")
@pytest.mark.parametrize("option", ["--transcript-dir", "--session-dir"])
def test_a_directory_that_cannot_be_written_is_known_before_the_run(tmp_path: Path, option: str) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / "file").write_text("taken")
    found = engine("run", path, option, tmp_path / "file" / "x")
    assert (found.returncode, found.stdout) == (2, "")
    assert f"Results cannot be written to {tmp_path}{os.sep}file" in found.stderr


def test_a_copy_that_cannot_be_written_is_told_and_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("paths: {results: file/x}\n", "utf-8")
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / "file").write_text("taken")
    found = engine("run", path, "-o", tmp_path / "out.json")
    assert found.returncode == 2
    assert found.stderr.startswith(f"Results cannot be written to {tmp_path}{os.sep}file")
    assert found.stderr.count("\n") == 1
    assert "✓ a  1.00" in found.stdout
    assert (tmp_path / "out.json").is_file()


def test_a_log_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / ".waza").mkdir()
    (tmp_path / ".waza" / "sessions").write_text("taken")
    found = engine("run", path, "--session-log")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "✓ a  1.00" in found.stdout
    assert "results: " in found.stdout


def test_the_project_can_ask_for_more_words(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("defaults: {verbose: true}\n", "utf-8")
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    assert "Mock response" in engine("run", path).stdout
    assert "Mock response" not in engine("run", path, "--no-verbose").stdout
