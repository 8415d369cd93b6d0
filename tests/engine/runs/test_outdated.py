"""Which tasks are not what they were when their newest result was recorded."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.executors.talking import write_skill
from tests.engine.suites import CONFIG, GREETS, replaced, run, task, write_suite
from waza_engine.commands.methods import Methods

pytestmark = pytest.mark.check

READS = "id: a\nname: Task a\ninputs: {prompt: Say hello, files: [notes.txt]}\n"
JUDGED = "graders:\n- {type: program, name: checks, config: {command: python3, args: [check.py]}}\n"
OWN = "- {id: c, name: Task c, inputs: {prompt: Say hello}}\n"
ALL = ["a", "b", "c"]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite that was run: task a reads a fixture, b is judged by a program, c stands in the eval file."""
    place = tmp_path / "evals"
    (place / "fixtures").mkdir(parents=True)
    (place / "fixtures/notes.txt").write_text("one\n")
    (place / "check.py").write_text("import words\n")
    (place / "words.py").write_text("one = 1\n")
    write_skill(tmp_path / "skills", "writer")
    (tmp_path / ".git").mkdir()
    config = CONFIG.replace("mock}", "mock, skill_directories: [../skills]}")
    path = write_suite(place, {"a": READS, "b": task("b", JUDGED)}, graders=GREETS, config=config)
    path.write_text(path.read_text().replace("tasks: ['tasks/*.yaml']\n", f"tasks:\n- 'tasks/*.yaml'\n{OWN}"))
    run(path)
    return path


def affected(suite: Path, **options: Any) -> list[str]:
    answer = Methods(lambda _: None).table["run.affected"]({"path": str(suite), **options})()
    assert answer["of"] == len(list((suite.parent / "tasks").iterdir())) + 1
    return answer["tasks"]


CHANGES = {
    "nothing": ("tasks/a.yaml", "id: a", "id: a", []),
    "a prompt": ("tasks/a.yaml", "Say hello", "Say hello now", ["a"]),
    "a program that grades": ("check.py", "import words", "import words  # new", ["b"]),
    "a skill": ("../skills/writer/SKILL.md", "Do it well", "Do it", ALL),
    "a task in the eval file": (
        "eval.yaml",
        "Task c, inputs: {prompt: Say",
        "Task c, inputs: {prompt: Cry",
        ["c"],
    ),
    "a grader of the suite": ("eval.yaml", "[hello]", "[Say]", ALL),
    "the executor": ("eval.yaml", "executor: mock", "executor: replay", ALL),
    "the description": ("eval.yaml", "name: suite", "name: suite\ndescription: new", []),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_tasks_that_changed_since_their_results_are_told(suite: Path, what: str) -> None:
    file, old, new, expected = CHANGES[what]
    replaced(suite.parent / file, old, new)
    assert affected(suite) == expected


def test_a_task_without_results_is_among_them(suite: Path) -> None:
    (suite.parent / "tasks/new.yaml").write_text(task("new"))
    assert affected(suite) == ["new"]


def test_files_that_came_and_went_count(suite: Path) -> None:
    (suite.parent.parent / "skills/writer/more.md").write_text("more")
    assert affected(suite) == ALL
    (suite.parent.parent / "skills/writer/more.md").unlink()
    (suite.parent / "words.py").unlink()
    assert affected(suite) == ["b"]


def test_each_task_is_compared_with_its_own_newest_run(suite: Path) -> None:
    replaced(suite.parent.parent / "skills/writer/SKILL.md", "Do it well", "Do it")
    run(suite, tasks=("b",))
    assert affected(suite) == ["a", "c"]
    run(suite, tasks=("a", "c"))
    assert affected(suite) == []
    replaced(suite.parent / "tasks/b.yaml", "Say hello", "Say more")
    assert affected(suite) == ["b"]


def test_one_grader_that_was_run_alone_is_no_result_of_a_task(suite: Path) -> None:
    replaced(suite, GREETS, GREETS + GREETS.replace("name: greets", "name: greets_again"))
    run(suite)
    assert affected(suite) == []
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say hello now")
    run(suite, tasks=("a",), graders=("greets",))
    assert affected(suite) == ["a"]


def test_the_options_of_the_run_count(suite: Path) -> None:
    assert affected(suite, executor="mock") == []
    assert affected(suite, model="another") == [], "the executor asks no model"
    assert affected(suite, executor="openai", model="another") == ALL


def test_a_credential_in_a_suite_file_is_no_change(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value-123")
    replaced(suite, "Task c, inputs: {prompt: Say hello", "Task c, inputs: {prompt: 'very-secret-value-123'")
    run(suite)
    replaced(suite, "name: suite", "name: suite\ndescription: new")
    assert affected(suite) == []
    replaced(suite, "very-secret-value-123", "another")
    assert affected(suite) == ["c"]


def test_a_suite_that_was_never_run_is_affected_as_a_whole(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")})
    answer = Methods(lambda _: None).table["run.affected"]({"path": str(path)})()
    assert answer == {"tasks": ["a", "b"], "of": 2}


WAITS = "graders:\n- {type: human, name: reads, config: {criteria: [Is it kind]}}\n"


def test_what_nothing_judges_and_what_waits_for_a_person_was_run_all_the_same(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", WAITS), "c": task("c", JUDGED)})
    (tmp_path / "check.py").write_text("")
    run(path)
    ask = Methods(lambda _: None).table["run.affected"]
    assert ask({"path": str(path)})()["tasks"] == []
    for name in "ab":
        replaced(tmp_path / f"tasks/{name}.yaml", "Say hello", "Say hello now")
    assert ask({"path": str(path)})()["tasks"] == ["a", "b"]
