"""Results of unchanged tasks: when they are taken from the cache, and when never."""

import json
import shlex
from pathlib import Path

import pytest

from tests.command_line import engine, stderr_of
from tests.conftest import StartModel
from tests.engine.executors.agents import adapter
from tests.engine.executors.talking import write_skill
from tests.engine.suites import CONFIG, config_with, openai_config, present, replaced, run, task, write_suite
from tests.scripted_model import Answer, Status, Tokens
from waza_engine.runs.passes.caching import CacheError, clear_cache

pytestmark = pytest.mark.check

SAYS = "- {type: text, name: says, config: {contains: [hello]}}\n"
READS = "inputs: {prompt: Say hello, files: [notes.txt]}\n"


def write(directory: Path, *, graders: str = SAYS, config: str = CONFIG, tasks: str = "") -> Path:
    (directory / "fixtures").mkdir(parents=True, exist_ok=True)
    (directory / "fixtures" / "notes.txt").write_text("one", "utf-8")
    first = f"id: a\nname: Task a\n{READS}{tasks}"
    return write_suite(directory, {"a": first, "b": task("b")}, graders=graders, config=config)


def cached(path: Path, **options: object) -> list[bool]:
    """Run with the cache and return which tasks were taken from it."""
    report, _ = run(path, cache=True, cache_directory=path.parent / "cache", **options)
    return [found.cached for found in report.outcome.tasks]


def test_an_unchanged_task_is_taken_from_the_cache_with_its_verdicts(tmp_path: Path) -> None:
    path = write(tmp_path)
    before, _ = run(path, cache=True, cache_directory=tmp_path / "cache")
    after, events = run(path, cache=True, cache_directory=tmp_path / "cache")
    for one, two in zip(before.outcome.tasks, after.outcome.tasks, strict=True):
        assert (one.cached, two.cached) == (False, True)
        assert one.status == two.status == "passed"
        assert [dict(trial.validations or {}) for trial in one.trials] == [
            dict(trial.validations or {}) for trial in two.trials
        ]
        assert one.statistics == two.statistics
        assert one.trials[0].output == two.trials[0].output
    assert [event.cached for event in events if event.kind == "passed"] == [True, True]
    assert events[-1].completed == events[-1].total == 2
    assert json.loads(present(after.results_file).read_text("utf-8"))["tasks"][0]["cached"] is True


def test_another_checkout_of_the_suite_has_the_same_results(tmp_path: Path) -> None:
    one, other = (write(tmp_path / name) for name in ("one", "other"))
    cache = tmp_path / "cache"
    run(one, cache=True, cache_directory=cache)
    report, _ = run(other, cache=True, cache_directory=cache)
    assert [found.cached for found in report.outcome.tasks] == [True, True]


def test_a_failed_task_is_taken_from_the_cache_too(tmp_path: Path) -> None:
    path = write(tmp_path, graders="- {type: text, name: says, config: {contains: [nope]}}\n")
    assert cached(path) == [False, False]
    assert cached(path) == [True, True]


HOOKED = "hooks: {before_task: [{command: git --version}]}\ntasks:"
CHANGES = {
    "a grader of the suite": ("eval.yaml", "[hello]", "[Say]", [False, False]),
    "a prompt": ("tasks/a.yaml", "Say hello", "Say hello now", [False, True]),
    "a fixture": ("fixtures/notes.txt", "one", "two", [False, True]),
    "a hook": ("eval.yaml", "tasks:", HOOKED, [False, False]),
    "the time limit": ("eval.yaml", "timeout_seconds: 20", "timeout_seconds: 21", [False, False]),
    "a program that grades": ("check.py", "pass", "pass  # new", [False, False]),
    "a module beside that program": ("words.py", "one", "two", [False, False]),
    "a skill": ("skills/writer/SKILL.md", "Do it well", "Do it", [False, False]),
    "what a task is called": ("tasks/b.yaml", "Task b", "Task B", [True, False]),
    "the description": ("eval.yaml", "name: suite", "name: suite\ndescription: new", [True, True]),
    "how many run at once": ("eval.yaml", "executor: mock", "executor: mock, parallel: true", [True, True]),
    "an unrelated file": ("README.md", "old", "new", [True, True]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_decides_an_answer_or_a_verdict_is_in_the_key(tmp_path: Path, what: str) -> None:
    write_skill(tmp_path / "skills", "writer")
    (tmp_path / "README.md").write_text("old", "utf-8")
    (tmp_path / "check.py").write_text("import words\npass\n", "utf-8")
    (tmp_path / "words.py").write_text("all = 'one'\n", "utf-8")
    program = (
        "- {type: program, name: checks, config: "
        f"{{command: python3, args: ['{(tmp_path / 'check.py').as_posix()}']}}}}\n"
    )
    config = config_with("skill_directories: [skills]")
    path = write(tmp_path, graders=SAYS + program, config=config)
    assert cached(path) == [False, False]
    assert cached(path) == [True, True]
    file, old, new, expected = CHANGES[what]
    replaced(tmp_path / file, old, new)
    assert cached(path) == expected


@pytest.mark.parametrize(
    ("part", "script"),
    [
        ("grader", "cat >/dev/null; sh checks/v.sh; exit $?"),
        ("grader", "# reads README.md\ncat >/dev/null\nsh 'checks/v.sh'\n"),
        ("grader", 'test -f "${PWD}/checks/v.sh" && true' + " # long" * 100),
        ("hook", "$(sh checks/v.sh)"),
        ("adapter", ""),
    ],
)
def test_a_script_that_a_program_starts_is_in_the_key(tmp_path: Path, part: str, script: str) -> None:
    words = ["sh", "-c", script]
    program = json.dumps({"command": words[0], "args": words[1:]})
    graders = SAYS + f"- {{type: program, name: runs, config: {program}}}\n" * (part == "grader")
    path = write(tmp_path, graders=graders)
    (tmp_path / "README.md").write_text("old", "utf-8")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "v.sh").write_text("echo hello", "utf-8")
    if part == "hook":
        replaced(
            path, "tasks:", f"hooks: {{before_task: [{{command: {json.dumps(shlex.join(words))}}}]}}\ntasks:"
        )
    elif part == "adapter":
        (tmp_path / "agents").mkdir()
        keys = {"command": ["sh", "../checks/v.sh"], "x-waza": {"output_mode": "text"}}
        (tmp_path / "agents" / "adapter.json").write_text(json.dumps(adapter(**keys)), "utf-8")
        replaced(path, "mock", "command, adapter: agents/adapter.json")
    assert [cached(path), cached(path)] == [[False, False], [True, True]]
    replaced(tmp_path / "README.md", "old", "new")
    assert cached(path) == [True, True]
    replaced(tmp_path / "checks" / "v.sh", "hello", "hello hello")
    assert cached(path) == [False, False]


def test_a_file_that_only_a_long_prompt_names_is_not_in_the_key(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "README.md").write_text("old", "utf-8")
    replaced(tmp_path / "tasks" / "b.yaml", "Say hello", '"Say hello; then\\nread README.md"')
    cached(path)
    replaced(tmp_path / "README.md", "old", "new")
    assert cached(path) == [True, True]


@pytest.mark.parametrize("options", [{"trials": 2}, {"model": "other"}, {"graders": ["says"]}])
def test_other_options_are_another_key(tmp_path: Path, options: dict[str, object]) -> None:
    path = write(tmp_path, graders=SAYS + "- {type: text, name: more, config: {contains: [hello]}}\n")
    cached(path)
    assert cached(path, **options) == [False, False]
    assert cached(path, **options) == [True, True]


def test_what_is_not_final_is_not_kept(tmp_path: Path) -> None:
    path = write(tmp_path, tasks="graders:\n- {type: human, name: review}\n")
    assert cached(path) == [False, False]
    assert cached(path) == [False, True]


def test_a_broken_trial_runs_again(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(Status(400), Answer("hello", usage=Tokens(90, 10)))
    config = openai_config(model.base_url, model="gpt-4o")
    path = write_suite(tmp_path, {"a": task("a")}, graders=SAYS, config=config)
    assert cached(path) == [False]
    assert cached(path) == [False]
    report, _ = run(path, cache=True, cache_directory=tmp_path / "cache")
    assert report.outcome.tasks[0].cached
    assert len(model.requests) == 2
    assert present(report.outcome.spending).tokens == 0
    assert "cost" not in json.loads(present(report.results_file).read_text("utf-8"))["tasks"][0]


def test_an_entry_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    path = write(tmp_path)
    cached(path)
    for entry in (tmp_path / "cache").glob("*.json"):
        entry.write_text("{torn", "utf-8")
    assert cached(path) == [False, False]
    assert cached(path) == [True, True]


def test_the_project_file_switches_the_cache_on_and_the_request_off(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("cache: {enabled: true, dir: kept}\n", "utf-8")
    path = write(tmp_path)
    run(path)
    report, _ = run(path)
    assert all(found.cached for found in report.outcome.tasks)
    assert len(list((tmp_path / "kept").glob("*.json"))) == 2
    report, _ = run(path, cache=False)
    assert not any(found.cached for found in report.outcome.tasks)


@pytest.mark.parametrize(
    "written",
    ["", "paths: {results: out}\n", "defaults: {sessionLog: true}\n", "cache: {enabled: true, dir: kept}\n"],
)
def test_what_a_run_writes_into_the_folder_of_its_skill_decides_nothing(tmp_path: Path, written: str) -> None:
    cache = "" if "cache" in written else "cache: {enabled: true}\n"
    (tmp_path / ".waza.yaml").write_text(written + cache, "utf-8")
    (tmp_path / "SKILL.md").write_text("---\nname: writer\ndescription: Writes.\n---\nWrite.\n", "utf-8")
    path = write(tmp_path)
    run(path, transcript_directory=tmp_path / "told")
    report, _ = run(path, transcript_directory=tmp_path / "told")
    assert all(found.cached for found in report.outcome.tasks)


def test_settings_of_the_editor_that_a_skill_is_written_in_decide_nothing(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: writer\ndescription: Writes.\n---\nWrite.\n", "utf-8")
    (tmp_path / ".waza.yaml").write_text("cache: {enabled: true}\n", "utf-8")
    path = write(tmp_path)
    run(path)
    (tmp_path / ".vscode").mkdir()
    for name in (".vscode/settings.json", ".SKILL.md.swp", ".DS_Store"):
        (tmp_path / name).write_text("{}", "utf-8")
    report, _ = run(path)
    assert all(found.cached for found in report.outcome.tasks)


def test_clearing_deletes_what_the_cache_kept(tmp_path: Path) -> None:
    cached(write(tmp_path))
    assert clear_cache(tmp_path / "cache") == 2
    assert not (tmp_path / "cache").exists()
    assert clear_cache(tmp_path / "cache") == 0


@pytest.mark.parametrize("foreign", ["notes.txt", "results.json", f"{'0' * 64}.json"])
def test_clearing_refuses_a_directory_that_holds_anything_else(tmp_path: Path, foreign: str) -> None:
    cached(write(tmp_path))
    (tmp_path / "cache" / foreign).write_text("{}", "utf-8")
    with pytest.raises(CacheError, match="nothing is deleted"):
        clear_cache(tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("*.json"))) >= 2


def test_clearing_above_the_suites_says_where_the_caches_are(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "evals" / "one", {"a": task("a")}, graders=SAYS)
    assert engine("run", suite, "--cache").returncode == 0
    found = stderr_of("cache", "clear", cwd=tmp_path)
    place = Path("evals", "one", ".waza-cache")
    assert found == (
        f"There is no cache at {tmp_path / '.waza-cache'}; that of the suites below is `{place}`: "
        f"write `waza-engine cache clear --cache-dir {place}`.\n"
    )
    assert engine("cache", "clear", "--cache-dir", place, cwd=tmp_path).stdout.startswith("1 result deleted")
    assert engine("cache", "clear", cwd=tmp_path).returncode == 0
