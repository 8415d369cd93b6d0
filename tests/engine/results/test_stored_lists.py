"""Transcripts of finished tasks are on the disk, and the record is read and written as if they were not."""

from __future__ import annotations

import errno
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.engine.executors.agents import write_agent
from tests.engine.suites import task, write_suite
from waza_engine.results.attachments import LONGEST_INLINE
from waza_engine.results.codec.summary_blocks import task_document
from waza_engine.results.record import TaskOutcome, TrialOutcome
from waza_engine.results.stored_lists import LEAST_BYTES, StoredList, Transcripts
from waza_engine.results.writing.store import Attachments, encoded
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.vocabulary import ToolCall

LONG = "word " * LEAST_BYTES


def outcome(text: str = LONG) -> TaskOutcome:
    events: list[dict[str, Any]] = [
        {"type": "user.message", "content": "Say ½"},
        {"type": "tool.execution_start", "tool_call_id": "1", "arguments": {"path": "a"}},
        {"type": "assistant.message", "content": text, "nested": {"n": [1, 2.5, None, True]}},
    ]
    calls = [ToolCall("read", {"path": "a"}, "1", {"content": text}, True), ToolCall("none")]
    first = TrialOutcome(1, "passed", {}, events=events, tool_calls=calls)
    return TaskOutcome("a", "A", "passed", [first, TrialOutcome(2, "error", None, tool_calls=None)])


def test_a_stored_task_has_the_document_that_it_had(tmp_path: Path) -> None:
    found = Transcripts(tmp_path).stored(outcome())
    (first, second), (before, _) = found.trials, outcome().trials
    assert isinstance(first.events, StoredList)
    assert isinstance(first.tool_calls, StoredList)
    assert (len(first.events), len(first.tool_calls)) == (3, 2)
    assert [*first.events] == before.events
    assert first.events[-1] == before.events[-1]
    assert first.events[:1] == before.events[:1]
    assert [*first.tool_calls] == before.tool_calls
    assert second.tool_calls is None
    assert task_document(found) == task_document(outcome())


def test_a_stored_list_is_not_in_memory(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path)
    transcripts.stored(outcome())
    tracemalloc.start()
    try:
        found = transcripts.stored(outcome("word " * 200_000))
        in_memory, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.trials[0].events) == 3
    assert in_memory < 100_000


def test_short_lists_stay_in_memory(tmp_path: Path) -> None:
    found = Transcripts(tmp_path / "missing").stored(outcome("short"))
    assert found.trials[0].events == outcome("short").trials[0].events


def test_a_disk_that_is_full_leaves_them_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert Transcripts(tmp_path).stored(outcome()) == outcome()


def test_long_strings_are_attachments_all_the_same(tmp_path: Path) -> None:
    text = "x" * (LONGEST_INLINE + 1)
    plain, stored = (Attachments(tmp_path / name / "run.json") for name in ("plain", "stored"))
    before = encoded(task_document(plain.of(outcome(text))))
    assert encoded(task_document(stored.of(Transcripts(tmp_path).stored(outcome(text))))) == before
    assert len(before) < LONGEST_INLINE
    (one,), (other,) = ([*(tmp_path / name / "run.attachments").iterdir()] for name in ("plain", "stored"))
    assert one.read_bytes() == other.read_bytes()


SAYS = """\
    say(type="result", content="LONG")
"""


def test_a_run_keeps_no_transcript_in_memory_and_leaves_no_file(tmp_path: Path) -> None:
    write_agent(tmp_path, SAYS.replace("LONG", LONG))
    config = "config: {timeout_seconds: 60, executor: command, adapter: adapter.json, trials_per_task: 1}\n"
    path = write_suite(tmp_path, {"a": task("a")}, config=config)
    report = prepare(RunSettings(path)).run(lambda event: None, RunCancellation())
    (trial,) = report.outcome.tasks[0].trials
    assert report.results_file is not None
    assert isinstance(trial.events, StoredList)
    assert any(LONG.strip() in str(event) for event in trial.events)
    assert LONG.strip() in report.results_file.read_text("utf-8")
    assert {file.suffix for file in report.results_file.parent.iterdir() if file.is_file()} <= {".json", ""}
