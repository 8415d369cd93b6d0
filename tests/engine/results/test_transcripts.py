"""The files of ``--transcript-dir``: one a task, with everything that was said."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import GREETS, run, task, write_suite
from waza_engine.results.record import TaskOutcome
from waza_engine.results.writing.store import ResultsError, check_writable, opened_output, write_output
from waza_engine.results.writing.transcripts import file_stem, transcript_document, write_transcript

STARTED = datetime(2026, 7, 1, 12, 0, 5, tzinfo=UTC)


def finished(tmp_path: Path, text: str, **options: object) -> TaskOutcome:
    report, _ = run(write_suite(tmp_path, {"a": text}, graders=GREETS), **options)
    return report.outcome.tasks[0]


def test_a_transcript_has_all_trials_and_the_verdicts_of_the_last(tmp_path: Path) -> None:
    outcome = finished(tmp_path, task("a"), trials=2)
    found = transcript_document(outcome, "Say hello", STARTED)
    assert list(found) == [
        "task_id",
        "task_name",
        "status",
        "started_at",
        "completed_at",
        "duration_ms",
        "prompt",
        "final_output",
        "transcript",
        "validations",
        "session",
    ]
    assert (found["task_id"], found["task_name"], found["status"]) == ("a", "Task a", "passed")
    assert (found["prompt"], found["started_at"]) == ("Say hello", "2026-07-01T12:00:05+00:00")
    assert "hello" in found["final_output"]
    assert len(found["transcript"]) == sum(len(trial.events) for trial in outcome.trials)
    assert found["validations"]["greets"]["passed"] is True
    assert found["session"]["session_id"] == outcome.trials[-1].session


def test_the_end_is_the_start_and_what_the_trials_took(tmp_path: Path) -> None:
    outcome = finished(tmp_path, task("a"))
    found = transcript_document(outcome, "", STARTED)
    took = datetime.fromisoformat(found["completed_at"]) - STARTED
    assert took.total_seconds() * 1000 == found["duration_ms"] == outcome.trials[0].duration_ms


def test_a_task_that_broke_says_why(tmp_path: Path) -> None:
    outcome = finished(tmp_path, "id: a\ninputs: {prompt: x, files: [../x]}\n")
    found = transcript_document(outcome, "x", STARTED)
    assert (found["status"], found["transcript"], found["validations"]) == ("error", [], {})
    assert "../x" in found["error_msg"]


def test_a_task_that_never_started_has_a_transcript_too() -> None:
    found = transcript_document(TaskOutcome("a", "A", "error", error="no file"), "", STARTED)
    assert (found["error_msg"], found["session"], found["final_output"]) == ("no file", {}, "")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Say Hello, World!", "say-hello-world"),
        ("../../etc/passwd", "etcpasswd"),
        ("grüße", "gre"),
        ("日本", "unnamed"),
        ("", "unnamed"),
        ("con\0trol\n", "control"),
        ("x" * 500, "x" * 120),
    ],
)
def test_a_name_becomes_part_of_a_file_name(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_files_are_named_by_task_and_time_and_never_replaced(tmp_path: Path) -> None:
    one, other = TaskOutcome("a", "Say hi", "passed"), TaskOutcome("b", "say HI", "failed")
    paths = [write_transcript(tmp_path / "new" / "deep", each, "", STARTED) for each in (one, other)]
    assert [path.name for path in paths] == ["say-hi-20260701-120005.json", "say-hi-20260701-120005-2.json"]
    read: list[dict[str, Any]] = [json.loads(path.read_text("utf-8")) for path in paths]
    assert [each["task_id"] for each in read] == ["a", "b"]
    assert sorted(path.name for path in (tmp_path / "new" / "deep").iterdir()) == sorted(
        path.name for path in paths
    )


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ResultsError, match=r"cannot be written to .*taken"):
        write_transcript(tmp_path / "taken", TaskOutcome("a", "A", "passed"), "", STARTED)


# --- outputs that people name ---


@pytest.mark.parametrize("name", ["eval.yaml", "tasks/a.yml", "evals.json"])
def test_no_file_of_a_suite_is_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("written by a person", "utf-8")
    for write in (
        lambda: write_output(path, b"{}"),
        lambda: opened_output(path),
        lambda: check_writable(path),
    ):
        with pytest.raises(ResultsError, match="is a file of a suite; name another file"):
            write()
    assert path.read_text("utf-8") == "written by a person"
    write_output(tmp_path / "report.html", b"<p>")
    write_output(tmp_path / "report.html", b"<p>")
