"""A recorded trial becomes a task: what it was asked, the files it had, and what it did."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.suites import CONFIG, GREETS, recorded, run, write_suite
from waza_engine.commands.methods import Methods
from waza_engine.json_rpc import RpcError
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.reading.recordings import read_recording
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.scaffold.file_changes import ScaffoldError
from waza_engine.scaffold.recorded_task import recorded_task

TASK = """\
id: a
name: Task a
tags: [old]
timeout_seconds: 7
inputs: {prompt: Say hello, files: [notes.txt]}
expected: {output_contains: [something else]}
"""


def suite_of(tmp_path: Path, tasks: str = "['tasks/*.yaml']") -> Path:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/notes.txt").write_text("one\n")
    path = write_suite(tmp_path, {"a": TASK}, graders=GREETS, config=CONFIG)
    path.write_text(path.read_text().replace("['tasks/*.yaml']", tasks))
    run(path)
    return path


def save(suite: Path, **params: Any) -> list[Path]:
    asked = {"path": str(suite), "task": "a", "task_id": "saved", **params}
    answer = Methods(lambda _: None).table["task.save"](asked)()
    return [Path(file) for file in answer["files"]]


def test_it_asks_the_same_with_the_same_files_and_expects_what_was_said(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    assert save(suite) == [tmp_path / "tasks/saved.yaml"]
    saved = next(task.task for task in load_suite(suite).tasks if task.id == "saved")
    assert saved is not None
    assert saved.inputs.prompt == "Say hello"
    assert [getattr(file, "path", file) for file in saved.inputs.files] == ["notes.txt"]
    assert saved.timeout_seconds == 7
    assert not saved.tags
    (line,) = saved.expected.output_contains
    report, _ = run(suite, tasks=("saved",))
    (trial,) = report.outcome.tasks[0].trials
    assert line in trial.output
    assert trial.status == "passed", trial.validations


def test_its_lines_end_as_those_of_the_suite(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    suite.write_bytes(suite.read_bytes().replace(b"\n", b"\r\n"))
    (made,) = save(suite)
    assert made.read_bytes().count(b"\r\n") == made.read_bytes().count(b"\n") > 1
    assert "saved" in [task.id for task in load_suite(suite).tasks]


COMMENTED = """\
# Owned by the greeting team.
id: a
name: Task a

# Old tags.
tags: [old]

# The agent is slow.
timeout_seconds: 7  # seconds
inputs:
  prompt: Say hello  # as a user would
  files:
    - path: notes.txt
# Old checks.
expected:
  output_contains: [something else]
# The end.
"""


@pytest.mark.parametrize("inline", [False, True], ids=["a file", "an item of the eval file"])
def test_comments_about_what_is_kept_stay(tmp_path: Path, inline: bool) -> None:
    suite = suite_of(tmp_path)
    if inline:
        item = COMMENTED.replace("\n", "\n    ").replace("    \n", "\n").rstrip()
        text = suite.read_text().replace("['tasks/*.yaml']", f"\n  - {item}\n  # next\n  - tasks/b*.yaml")
        suite.write_text(text)
        (tmp_path / "tasks/a.yaml").unlink()
    else:
        (tmp_path / "tasks/a.yaml").write_text(COMMENTED)
    run(suite)
    text = save(suite)[0].read_text()
    kept = COMMENTED.replace("id: a", "id: saved").replace("Task a", "saved")
    kept = kept.replace("# Old tags.\ntags: [old]\n\n", "").partition("# Old checks")[0]
    assert text.startswith(kept.partition("\n")[2] if inline else kept), text
    assert "next" not in text
    assert "Old" not in text


def test_a_prompt_of_several_lines_is_a_block(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    (tmp_path / "tasks/a.yaml").write_text(TASK.replace("Say hello", r'"Say:\n\n- hello\n  - twice"'))
    run(suite)
    save(suite)
    text = (tmp_path / "tasks/saved.yaml").read_text()
    assert "  prompt: |-\n    Say:\n\n    - hello\n      - twice\n" in text


def test_tools_are_those_that_were_called(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    report, _ = run(suite)
    assert report.results_file is not None
    document = run_document(report.outcome)
    digest: Any = document["tasks"][0]["runs"][0]["session_digest"]
    called = ("view", "bash", "view")
    digest["tool_calls"] = [{"name": name, "arguments": {}, "success": True} for name in called]
    record = tmp_path / "recorded.json"
    record.write_text(json.dumps(document))
    made = recorded_task(read_recording(record), suite, "a", "saved")
    assert "required_tools:\n        - view\n        - bash\n" in made.text


def test_a_task_that_no_pattern_picks_up_is_listed_and_comments_stay(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "  # all of them\n- tasks/a.yaml  # the first")
    before = suite.read_text()
    assert save(suite) == [tmp_path / "tasks/saved.yaml", suite]
    after = suite.read_text()
    assert after == before.replace("# the first\n", "# the first\n- tasks/saved.yaml\n")
    assert [task.id for task in load_suite(suite).tasks] == ["a", "saved"]


def test_the_prompt_is_that_of_the_record(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    task = tmp_path / "tasks/a.yaml"
    task.write_text(TASK.replace("Say hello", "Sing").replace("notes.txt", "other.txt"))
    save(suite)
    text = (tmp_path / "tasks/saved.yaml").read_text()
    assert "Say hello" in text
    assert "notes.txt" in text
    assert "Sing" not in text


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"task": "nowhere"}, "has no results yet"),
        ({"trial": 9}, "no trial 9"),
        ({"task_id": "a"}, "already"),
        ({"record": "/nowhere.json"}, "no result file"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_nothing_is_written(
    tmp_path: Path, params: dict[str, Any], why: str
) -> None:
    suite = suite_of(tmp_path)
    with pytest.raises(RpcError, match=why):
        save(suite, **params)
    assert [path.name for path in (tmp_path / "tasks").iterdir()] == ["a.yaml"]


def test_an_id_that_is_taken_is_refused_where_no_pattern_fits_either(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "\n- tasks/a.yaml\n- {id: saved, inputs: {prompt: hello}}")
    with pytest.raises(RpcError, match="has the id `saved` already"):
        save(suite)


def test_the_command_does_the_same(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    done = engine("new", "task", "saved", "--suite", suite, "--from-task", "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert "# Recorded in trial 1 of" in (tmp_path / "tasks/saved.yaml").read_text()
    assert engine("new", "task", "more", "--suite", suite, "--from-task", "b").returncode == 2


def test_a_record_of_another_suite_is_no_record_of_the_task(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    record = recorded(suite)
    with pytest.raises(ScaffoldError, match="holds no task `b`"):
        recorded_task(read_recording(record), suite, "b", "saved")
