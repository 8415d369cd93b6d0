"""Which files an agent left otherwise than it found them: in the record, and on the page of a result."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.runs.agents import Agent, tried
from tests.engine.suites import run, task, write_suite
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse
from waza_engine.results.codec.trials import trial_document, trial_of
from waza_engine.results.record import MOST_FILES_NAMED, FilesChanged, TrialOutcome
from waza_engine.results.reports.result_page import trial_sections
from waza_engine.runs.agent import trial_workspace as workspaces
from waza_engine.runs.agent.trial_workspace import watched_files

FILES = "[{path: keep.txt, content: a}, {path: old/gone.txt, content: b}, {path: edit.txt, content: c}]"
WRITES_TOO = """\
graders:
- type: program
  name: p
  config: {command: sh, args: [-c, 'echo x > "$WAZA_WORKSPACE_DIR/own.txt"']}
"""


def works(request: ExecutionRequest) -> ExecutionResponse:
    place = request.workspace
    (place / "new" / "deep").mkdir(parents=True)
    (place / "new" / "deep" / "ü.txt").write_text("new")
    (place / ".hidden").write_text("new")
    (place / "edit.txt").write_text("changed")
    (place / "old" / "gone.txt").unlink()
    return ExecutionResponse("done", "agent-1")


def trial_with(tmp_path: Path, more: str = "") -> TrialOutcome:
    text = f"id: a\nname: A\ninputs:\n  prompt: Work\n  files: {FILES}\n{more}"
    return tried(write_suite(tmp_path, {"a": text}), Agent(works))


def test_a_trial_keeps_the_files_that_its_agent_changed_and_none_of_its_graders(tmp_path: Path) -> None:
    trial = trial_with(tmp_path, WRITES_TOO)
    assert trial.status == "passed"
    expected = FilesChanged((".hidden", "new/deep/ü.txt"), ("edit.txt",), ("old/gone.txt",))
    assert trial.files_changed == expected
    document = trial_document(trial)
    assert document["files_changed"] == {
        "created": [".hidden", "new/deep/ü.txt"],
        "changed": ["edit.txt"],
        "deleted": ["old/gone.txt"],
    }
    assert trial_of(document, 1).files_changed == expected


def test_the_page_of_a_result_lists_them_once(tmp_path: Path) -> None:
    lines = list(trial_sections(trial_with(tmp_path), "Work", "done"))
    assert lines[lines.index("#### Files changed") + 2].splitlines() == [
        "- + `.hidden` created",
        "- + `new/deep/ü.txt` created",
        "- ~ `edit.txt` changed",
        "- − `old/gone.txt` deleted",
    ]
    assert "#### Files written" not in lines


def test_where_nothing_changed_nothing_is_written(tmp_path: Path) -> None:
    trial = run(write_suite(tmp_path, {"a": task("a")}))[0].outcome.tasks[0].trials[0]
    assert "files_changed" not in trial_document(trial)


def test_many_are_counted_and_what_was_changed_and_deleted_is_named_first(tmp_path: Path) -> None:
    (tmp_path / "edit").write_text("a")
    (tmp_path / "gone").write_text("a")
    changes = watched_files(tmp_path)
    for number in range(MOST_FILES_NAMED + 50):
        (tmp_path / f"new{number:04}").write_text("x")
    (tmp_path / "edit").write_text("ab")
    (tmp_path / "gone").unlink()
    found = changes()
    assert (found.changed, found.deleted) == (("edit",), ("gone",))
    assert len(found.created) == MOST_FILES_NAMED - 2
    assert found.more == 52
    trial = replace(TrialOutcome(1, "passed", None), files_changed=found)
    assert trial_of(trial_document(trial), 1).files_changed == found
    assert "- … and 52 more files" in "\n".join(trial_sections(trial, "", ""))


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_links_are_never_followed_and_what_git_keeps_is_left_out(tmp_path: Path) -> None:
    place, outside = tmp_path / "workspace", tmp_path / "outside"
    place.mkdir()
    outside.mkdir()
    changes = watched_files(place)
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    (outside / "secret").write_text("x")
    (place / "out").symlink_to(outside)
    (place / "loop").symlink_to(place)
    (place / "broken").symlink_to(place / "nowhere")
    assert changes() == FilesChanged(("broken", "loop", "out"))


def test_of_a_workspace_with_too_many_files_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspaces, "MOST_FILES", 3)
    changes = watched_files(tmp_path)
    for number in range(4):
        (tmp_path / str(number)).write_text("x")
    assert not changes()


@pytest.mark.parametrize(
    "block", [None, 3, [], {"created": "x", "changed": [1, None], "deleted": {}, "more": -2}]
)
def test_what_is_no_list_of_files_in_a_record_is_none(block: object) -> None:
    assert trial_of({"run_number": 1, "status": "passed", "files_changed": block}, 1).files_changed == (
        FilesChanged()
    )
