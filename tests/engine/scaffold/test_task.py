"""``waza-engine new task``: a file that the suite picks up."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.scaffold.test_suite import problems
from tests.engine.suites import CONFIG, GREETS, recorded, run, task, write_suite
from waza_engine.commands.methods import Methods
from waza_engine.json_rpc import RpcError
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.reading.recordings import read_recording
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.scaffold.file_changes import ScaffoldError
from waza_engine.scaffold.recorded_task import recorded_task
from waza_engine.scaffold.task import new_task


def test_a_task_is_picked_up_and_runs(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    found = engine(
        "new", "task", "says-hello", "--suite", tmp_path, "--prompt", 'Say: "hello"', "--name", "Hi: 1"
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert str(tmp_path / "tasks" / "says-hello.yaml") in found.stdout
    assert [each.id for each in load_suite(path).tasks] == ["a", "says-hello"]
    report, _ = run(path, tasks=["says-hello"])
    made = report.outcome.tasks[0]
    assert (made.status, made.name) == ("passed", "Hi: 1")
    assert 'Say: "hello"' in made.trials[0].output
    assert not [line for line in problems(tmp_path) if "says-hello" in line]


@pytest.mark.parametrize(
    ("patterns", "identifier", "place"),
    [
        ("['tasks/*.yaml']", "b", "tasks/b.yaml"),
        ("['tasks/*.yml']", "b", "tasks/b.yml"),
        ("['tasks/*']", "b", "tasks/b.yaml"),
        ("['*/task.yaml']", "b", "b/task.yaml"),
        ("['task-*.yaml']", "b", "task-b.yaml"),
        ("['../shared/*.yaml']", "b", "../shared/b.yaml"),
        ("['tasks/a.yaml', 'more/*.yaml']", "b", "more/b.yaml"),
        ("['tasks/*.yaml']", "Größer als: 1/2", "tasks/groer-als-1-2.yaml"),
        ("['tasks/*.yaml']", "集約", "tasks/集約.yaml"),
        ("['tasks/*.yaml']", "集約 1", "tasks/1.yaml"),
        ("['tasks/**/*.yaml']", "größe", "tasks/größe/größe.yaml"),
    ],
)
def test_the_file_goes_where_a_pattern_finds_it(
    tmp_path: Path, patterns: str, identifier: str, place: str
) -> None:
    suite = tmp_path / "suite"
    path = write_suite(suite, {"a": task("a")})
    path.write_text(path.read_text().replace("['tasks/*.yaml']", patterns))
    made = new_task(identifier, suite)
    assert made.path.resolve() == (suite / place).resolve()
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.write_text(made.text, "utf-8")
    assert identifier in [each.id for each in load_suite(path).tasks]


def test_its_lines_end_as_those_of_the_suite(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    assert "\r" not in new_task("b", path).text
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert engine("new", "task", "b", "--suite", path).returncode == 0
    made = (tmp_path / "tasks/b.yaml").read_bytes()
    assert made.count(b"\r\n") == made.count(b"\n") > 1
    assert [each.id for each in load_suite(path).tasks] == ["a", "b"]


def test_a_suite_without_tasks_gets_its_first(tmp_path: Path) -> None:
    write_suite(tmp_path, {})
    assert new_task("a", tmp_path).path == tmp_path / "tasks" / "a.yaml"


@pytest.mark.parametrize(
    ("identifier", "said"),
    [("a", "has the id `a` already"), (" ", "must be a word"), ("a\nb", "must be a word")],
)
def test_an_id_that_cannot_be_is_refused(tmp_path: Path, identifier: str, said: str) -> None:
    write_suite(tmp_path, {"other": task("a")})
    with pytest.raises(ScaffoldError, match=said):
        new_task(identifier, tmp_path)


@pytest.mark.parametrize(
    ("patterns", "identifier", "said"),
    [
        (
            "['tasks/*.yaml']",
            "A",
            "a.yaml is there already, and on Windows and macOS A.yaml would be the same;",
        ),
        (
            "['*/task.yaml']",
            "Tasks",
            "tasks is there already, and on Windows and macOS Tasks would be the same;",
        ),
        ("['tasks/*.yaml']", "con", "Windows keeps that name for itself;"),
        ("['tasks/*.yaml']", "Nul.1", "Windows keeps that name for itself;"),
    ],
)
def test_a_file_that_other_systems_cannot_have_is_refused(
    tmp_path: Path, patterns: str, identifier: str, said: str
) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    path.write_text(
        path.read_text().replace("[tasks/*.yaml]", patterns).replace("['tasks/*.yaml']", patterns)
    )
    with pytest.raises(ScaffoldError, match=re.escape(said)):
        new_task(identifier, path)
    assert new_task("console", path).path.name in ("console.yaml", "task.yaml")


def test_a_suite_that_names_its_files_says_what_to_add(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    path.write_text(path.read_text().replace("tasks/*.yaml", "tasks/a.yaml"))
    with pytest.raises(ScaffoldError, match=r"add `- tasks/\*\.yaml`"):
        new_task("b", tmp_path)


def test_a_dataset_gets_rows_and_no_files(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {})
    path.write_text(path.read_text().replace("tasks: ['tasks/*.yaml']", "tasks_from: rows.csv"))
    (tmp_path / "rows.csv").write_text("id,prompt\na,b\n")
    with pytest.raises(ScaffoldError, match="add a row"):
        new_task("b", tmp_path)


def test_a_task_is_never_replaced_unless_asked(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")})
    before = (tmp_path / "tasks" / "a.yaml").read_text()
    found = engine("new", "task", "a", "--suite", tmp_path)
    assert (found.returncode, "--force" in found.stderr) == (2, True)
    assert (tmp_path / "tasks" / "a.yaml").read_text() == before
    assert engine("new", "task", "a", "--suite", tmp_path, "--force").returncode == 0
    assert (tmp_path / "tasks" / "a.yaml").read_text() != before


@pytest.mark.parametrize(("directory", "said"), [("gone", "gone"), (".", "no eval.yaml")])
def test_a_suite_that_is_not_there_is_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = engine("new", "task", "a", "--suite", directory)
    assert (found.returncode, said in found.stderr, "Traceback" in found.stderr) == (2, True, False)


def test_its_grader_takes_no_name_of_the_suite(tmp_path: Path) -> None:
    skill = tmp_path / "SKILL.md"
    skill.write_text("---\nname: explain\ndescription: Explains code.\n---\n", "utf-8")
    assert engine("new", "suite", skill, "--out", tmp_path / "suite").returncode == 0
    assert engine("new", "task", "second", "--suite", tmp_path / "suite").returncode == 0
    found = engine("run", tmp_path / "suite", "--task", "second")
    assert (found.returncode, found.stderr) == (0, "")


# --- a recorded trial becomes a task ---


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


def test_the_lines_of_a_recorded_task_end_as_those_of_the_suite(tmp_path: Path) -> None:
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
