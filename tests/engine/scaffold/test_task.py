"""``waza-engine new task``: a file that the suite picks up."""

import re
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.scaffold.test_suite import problems
from tests.engine.suites import run, task, write_suite
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.scaffold.file_changes import ScaffoldError
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
