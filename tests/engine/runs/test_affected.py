"""The tasks that a change affects, in git or since their newest results, and what is told of them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine, stderr_of, stdout_of
from tests.engine.executors.talking import write_skill
from tests.engine.runs.test_repositories import git
from tests.engine.suites import CONFIG, GREETS, present, replaced, run, task, write_prompts, write_suite
from waza_engine.commands.methods import Methods
from waza_engine.json_rpc import RpcError
from waza_engine.results.conclusion import conclude
from waza_engine.results.reading.formats import head_of
from waza_engine.runs.loading.suite_on_disk import NothingAffectedError, SuiteError

pytestmark = pytest.mark.check

READS = "id: a\nname: Task a\ninputs: {prompt: Say hello, files: [notes.txt]}\n"
JUDGED = """\
graders:
- {type: program, name: checks, config: {command: python3, args: [check.py]}}
- {type: json_schema, name: fits, config: {schema_file: shape.json}}
"""
ALL = ["a", "b", "c", "d"]
OWN = """\
- {id: c, name: Task c, inputs: {prompt: Say hello}}
- {id: d, name: Task d, inputs: {prompt: Say hello}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A committed suite: task a reads a fixture, b is judged by files, c and d stand in the eval file."""
    top = tmp_path / "repository"
    place = top / "evals"
    (place / "fixtures").mkdir(parents=True)
    (place / "fixtures/notes.txt").write_text("one\n")
    (place / "fixtures/gone.txt").write_text("one\n")
    (place / "check.py").write_text("import words\n")
    (place / "words.py").write_text("one = 1\n")
    (place / "shape.json").write_text("{}\n")
    (top / "README.md").write_text("old\n")
    write_skill(top / "skills", "writer")
    config = CONFIG.replace("mock}", "mock, skill_directories: [../skills]}")
    path = write_suite(place, {"a": READS, "b": task("b", JUDGED)}, graders=GREETS, config=config)
    path.write_text(path.read_text().replace("tasks: ['tasks/*.yaml']\n", f"tasks:\n- 'tasks/*.yaml'\n{OWN}"))
    git(top, "init", "-q", "-b", "main")
    commit(path)
    return path


def commit(suite: Path) -> None:
    git(suite.parent.parent, "add", "-A")
    git(suite.parent.parent, "commit", "-q", "-m", "a change")


def ran(suite: Path, since: str = "HEAD", **options: object) -> list[str]:
    """Return the ids of the tasks that are run, [] when nothing is affected."""
    try:
        report, _ = run(suite, changed_since=since, **options)
    except NothingAffectedError:
        return []
    return [found.id for found in report.outcome.tasks]


CHANGES = {
    "a prompt": ("tasks/a.yaml", "Say hello", "Say hello now", ["a"]),
    "a comment in a task": ("tasks/a.yaml", "id: a", "id: a  # the first", []),
    "a fixture": ("fixtures/notes.txt", "one", "two", ["a"]),
    "a program that grades": ("check.py", "import words", "import words  # new", ["b"]),
    "a module beside that program": ("words.py", "one", "two", ["b"]),
    "a schema": ("shape.json", "{}", "{ }", ["b"]),
    "a skill": ("../skills/writer/SKILL.md", "Do it well", "Do it", ALL),
    "a task in the eval file": (
        "eval.yaml",
        "Task d, inputs: {prompt: Say",
        "Task d, inputs: {prompt: Cry",
        ["d"],
    ),
    "a grader of the suite": ("eval.yaml", "[hello]", "[Say]", ALL),
    "the number of trials": ("eval.yaml", "trials_per_task: 1", "trials_per_task: 2", ALL),
    "the description": ("eval.yaml", "name: suite", "name: suite\ndescription: new", []),
    "an unrelated file": ("../README.md", "old", "new", []),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_tasks_that_a_change_affects_are_run(suite: Path, what: str) -> None:
    file, old, new, expected = CHANGES[what]
    replaced(suite.parent / file, old, new)
    assert ran(suite) == expected


def test_so_are_those_of_a_change_that_is_committed(suite: Path) -> None:
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say hello now")
    replaced(suite.parent / "shape.json", "{}", "{ }")
    commit(suite)
    assert ran(suite, "HEAD~1") == ["a", "b"]


def test_a_task_that_is_new_is_run_be_it_untracked(suite: Path) -> None:
    (suite.parent / "tasks/new.yaml").write_text(task("new"))
    assert ran(suite) == ["new"]


def test_a_task_whose_file_was_deleted_is_run(suite: Path) -> None:
    replaced(suite.parent / "tasks/a.yaml", "notes.txt", "gone.txt")
    commit(suite)
    (suite.parent / "fixtures/gone.txt").unlink()
    assert ran(suite) == ["a"]


def test_a_skill_that_was_deleted_affects_all_tasks(suite: Path) -> None:
    (suite.parent.parent / "skills/writer/SKILL.md").unlink()
    assert ran(suite) == ALL


def test_what_happened_on_another_branch_is_no_change_of_this_one(suite: Path) -> None:
    top = suite.parent.parent
    git(top, "checkout", "-q", "-b", "other")
    replaced(suite.parent / "tasks/b.yaml", "Say hello", "Say more")
    commit(suite)
    git(top, "checkout", "-q", "main")
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say more")
    commit(suite)
    assert ran(suite, "other") == ["a"]


def test_all_tasks_are_run_when_the_suite_could_not_be_read_then(suite: Path) -> None:
    text = suite.read_text()
    suite.write_text("tasks: [\n")
    commit(suite)
    suite.write_text(text)
    assert ran(suite) == ALL


def test_all_tasks_are_run_when_git_ignores_the_suite(suite: Path) -> None:
    top = suite.parent.parent
    (top / ".gitignore").write_text("evals/\n")
    git(top, "rm", "-rq", "--cached", "evals")
    commit(suite)
    assert ran(suite) == ALL


def test_a_skill_in_the_folder_of_its_suite_is_not_changed_by_a_task(suite: Path) -> None:
    (suite.parent / "SKILL.md").write_text("---\nname: writer\ndescription: Writes.\n---\nWrite.\n")
    replaced(suite, "skill_directories: [../skills]", "skill_directories: [.]")
    commit(suite)
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say hello now")
    assert ran(suite) == ["a"]
    commit(suite)
    (suite.parent / "tasks/a.yaml").unlink()
    assert ran(suite) == []
    (suite.parent / "more.md").write_text("more")
    assert ran(suite) == ["b", "c", "d"]


def test_other_filters_hold_as_well(suite: Path) -> None:
    replaced(suite, "[hello]", "[Say]")
    assert ran(suite, tasks=("a", "b")) == ["a", "b"]
    assert ran(suite, graders=("checks",)) == []


def test_what_programs_leave_in_a_folder_is_no_change(suite: Path) -> None:
    for name in ("../skills/writer/.DS_Store", "../skills/writer/.SKILL.md.swp", "._check.py"):
        (suite.parent / name).write_text("", "utf-8")
    assert ran(suite) == []


def test_files_of_runs_are_no_change(suite: Path) -> None:
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say more")
    ran(suite)
    commit(suite)
    assert (suite.parent / ".waza").is_dir()
    assert ran(suite) == []


def test_a_task_with_a_branch_of_a_repository_is_always_run(suite: Path) -> None:
    repos = "inputs: {prompt: Look, repos: [{type: worktree, source: .., dest: app}]}\n"
    (suite.parent / "tasks/r.yaml").write_text(f"id: r\nname: Task r\n{repos}")
    commit(suite)
    assert ran(suite) == ["r"]


def test_trigger_prompts_are_tried_when_a_change_affects_them(suite: Path) -> None:
    file = write_prompts(suite.parent, "Write a text", should_not=["Count to ten"])
    commit(suite)
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say more")
    report, _ = run(suite, changed_since="HEAD")
    assert ([found.id for found in report.outcome.tasks], len(report.outcome.triggers)) == (["a"], 0)
    commit(suite)
    replaced(file, "ten", "twelve")
    report, _ = run(suite, changed_since="HEAD")
    assert (list(report.outcome.tasks), len(report.outcome.triggers)) == ([], 2)
    assert conclude(report.outcome).verdict == "passed"


def test_the_record_and_reports_say_that_it_was_a_part(suite: Path) -> None:
    replaced(suite.parent / "tasks/a.yaml", "Say hello", "Say hello again")
    head = git(suite.parent, "rev-parse", "HEAD")
    done = stdout_of("run", suite, "--changed-since", "HEAD", "-o", suite.parent / "out.json")
    words = "only what changed since HEAD was run: it affects 1 of 4 tasks"
    assert words in done
    (results,) = (suite.parent / ".waza/results").glob("*.json")
    settings = json.loads(results.read_text())["metadata"]["engine"]["settings"]
    assert settings["changed_since"] == "HEAD"
    assert settings["affected"] == {"commit": head, "tasks": 1, "of": 4}
    found = present(head_of(results))
    assert not found.is_whole
    for kind in ("text", "markdown", "junit"):
        assert words in engine("report", results, "--format", kind).stdout


def test_nothing_affected_is_said_and_leaves_no_results(suite: Path) -> None:
    done = engine("run", suite, "--changed-since", "HEAD", "-o", suite.parent / "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"Nothing to run: what changed since HEAD affects no task of {suite}."
    assert not (suite.parent / ".waza").exists()
    assert not (suite.parent / "out.json").exists()
    done = engine("run", suite, "--changed-since", "HEAD", "--format", "json")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Nothing to run" in done.stderr


def test_an_unknown_commit_is_one_clear_error(suite: Path) -> None:
    assert stderr_of("run", suite, "--changed-since", "nowhere").strip() == (
        f"`--changed-since`: git knows no commit `nowhere` in {suite.parent.parent}."
    )
    for odd in ("--all", "HEAD:eval.yaml"):
        with pytest.raises(SuiteError, match="git knows no commit"):
            ran(suite, odd)
    with pytest.raises(SuiteError, match="`--changed-since` is blank"):
        ran(suite, "")


def test_a_suite_in_no_repository_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    path = write_suite(tmp_path / "alone", {"a": task("a")})
    with pytest.raises(SuiteError, match="is in no git repository"):
        ran(path)


def test_what_lies_outside_of_the_repository_is_not_looked_at(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text("one")
    replaced(suite.parent / "tasks/a.yaml", "notes.txt", (tmp_path / "far.txt").as_posix())
    commit(suite)
    with pytest.raises(NothingAffectedError) as caught:
        run(suite, changed_since="HEAD")
    assert "far.txt" not in str(caught.value)


@pytest.mark.parametrize("name", ["SKILL.md", "new.txt"])
def test_a_change_in_a_submodule_counts_whatever_the_repository_ignores(
    suite: Path, tmp_path: Path, name: str
) -> None:
    source, top = tmp_path / "shared", suite.parents[1]
    write_skill(source, "speller")
    git(source, "init", "-q", "-b", "main")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "a skill")
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "shared")
    git(top, "config", "-f", ".gitmodules", "submodule.shared.ignore", "all")
    replaced(suite, "[../skills]", "[../skills, ../shared]")
    commit(suite)
    assert ran(suite) == []
    with (top / "shared" / "speller" / name).open("a") as file:
        file.write("more\n")
    assert ran(suite) == ALL


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_repository_that_is_reached_through_a_link_is_the_same(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(suite.parent.parent)
    replaced(suite.parent / "fixtures/notes.txt", "one", "two")
    assert ran(tmp_path / "link/evals/eval.yaml") == ["a"]


def test_an_editor_asks_for_the_same(suite: Path) -> None:
    methods = Methods(lambda _: None).table
    replaced(suite.parent / "fixtures/notes.txt", "one", "two")
    found = methods["run.estimate"]({"path": str(suite), "changed_since": "HEAD"})()
    assert list(found["tasks"]) == ["a"]
    commit(suite)
    with pytest.raises(RpcError, match="Nothing to run"):
        methods["eval.run"]({"path": str(suite), "changed_since": "HEAD"})()


@pytest.fixture
def ran_before(suite: Path) -> Path:
    run(suite)
    return suite


def affected(suite: Path, **options: Any) -> list[str]:
    answer = Methods(lambda _: None).table["run.affected"]({"path": str(suite), **options})()
    assert answer["of"] == len(list((suite.parent / "tasks").iterdir())) + 2
    return answer["tasks"]


OUTDATED = {
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


@pytest.mark.parametrize("what", OUTDATED)
def test_the_tasks_that_changed_since_their_results_are_told(ran_before: Path, what: str) -> None:
    file, old, new, expected = OUTDATED[what]
    replaced(ran_before.parent / file, old, new)
    assert affected(ran_before) == expected


def test_a_task_without_results_is_among_them(ran_before: Path) -> None:
    (ran_before.parent / "tasks/new.yaml").write_text(task("new"))
    assert affected(ran_before) == ["new"]


def test_files_that_came_and_went_count(ran_before: Path) -> None:
    (ran_before.parent.parent / "skills/writer/more.md").write_text("more")
    assert affected(ran_before) == ALL
    (ran_before.parent.parent / "skills/writer/more.md").unlink()
    (ran_before.parent / "words.py").unlink()
    assert affected(ran_before) == ["b"]


def test_each_task_is_compared_with_its_own_newest_run(ran_before: Path) -> None:
    replaced(ran_before.parent.parent / "skills/writer/SKILL.md", "Do it well", "Do it")
    run(ran_before, tasks=("b",))
    assert affected(ran_before) == ["a", "c", "d"]
    run(ran_before, tasks=("a", "c", "d"))
    assert affected(ran_before) == []
    replaced(ran_before.parent / "tasks/b.yaml", "Say hello", "Say more")
    assert affected(ran_before) == ["b"]


def test_one_grader_that_was_run_alone_is_no_result_of_a_task(ran_before: Path) -> None:
    replaced(ran_before, GREETS, GREETS + GREETS.replace("name: greets", "name: greets_again"))
    run(ran_before)
    assert affected(ran_before) == []
    replaced(ran_before.parent / "tasks/a.yaml", "Say hello", "Say hello now")
    run(ran_before, tasks=("a",), graders=("greets",))
    assert affected(ran_before) == ["a"]


def test_the_options_of_the_run_count(ran_before: Path) -> None:
    assert affected(ran_before, executor="mock") == []
    assert affected(ran_before, model="another") == [], "the executor asks no model"
    assert affected(ran_before, executor="openai", model="another") == ALL


def test_a_credential_in_a_suite_file_is_no_change(ran_before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value-123")
    replaced(
        ran_before, "Task c, inputs: {prompt: Say hello", "Task c, inputs: {prompt: 'very-secret-value-123'"
    )
    run(ran_before)
    replaced(ran_before, "name: suite", "name: suite\ndescription: new")
    assert affected(ran_before) == []
    replaced(ran_before, "very-secret-value-123", "another")
    assert affected(ran_before) == ["c"]


def test_a_suite_that_was_never_run_is_affected_as_a_whole(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")})
    answer = Methods(lambda _: None).table["run.affected"]({"path": str(path)})()
    assert answer == {"tasks": ["a", "b"], "of": 2}


WAITS = "graders:\n- {type: human, name: reads, config: {criteria: [Is it kind]}}\n"


def test_what_nothing_judges_and_what_waits_for_a_person_was_run_all_the_same(tmp_path: Path) -> None:
    path = write_suite(
        tmp_path,
        {"a": task("a"), "b": task("b", WAITS), "c": task("c", JUDGED.partition("- {type: json")[0])},
    )
    (tmp_path / "check.py").write_text("")
    run(path)
    ask = Methods(lambda _: None).table["run.affected"]
    assert ask({"path": str(path)})()["tasks"] == []
    for name in "ab":
        replaced(tmp_path / f"tasks/{name}.yaml", "Say hello", "Say hello now")
    assert ask({"path": str(path)})()["tasks"] == ["a", "b"]
