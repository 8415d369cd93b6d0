"""``waza-engine new suite``: a suite from a skill that is valid, runs, and replaces nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.suites import run
from tests.shared_corpus import SUITES, needs_corpus
from waza_engine.scaffold.file_changes import ScaffoldError, write_files
from waza_engine.scaffold.suite_from_skill import new_suite, trigger_prompts
from waza_engine.spec.loading import load_eval_file, load_trigger_tests

pytestmark = pytest.mark.check

SKILL = """\
---
name: brew-tea
description: |
  Brews tea. USE FOR: make tea, "how hot is the water", boil water (for tea).
  DO NOT USE FOR: coffee, cocoa. INVOKES: kettle.
---
# Tea
"""
SMALLEST = {
    "named": "---\nname: a\ndescription: b\n---\n",
    "no description": "---\nname: a-b\n---\nText\n",
    "no name": "---\ndescription: Sorts lists. Use when the user wants to sort a list.\n---\n",
    "odd name": '---\nname: "Tea: \\"hot\\" #1 & more"\ndescription: "true"\n---\n',
    "not latin": "---\nname: 集約\ndescription: 集約を設計する。「集約を決める」「境界を定義する」\n---\n",
    "traps": (
        "---\nname: '- x'\ndescription: >-\n"
        '  Use when "{{.Vars.x}}: [a, b]" or "*bold* & #1" or \'50% of: it\' — don\'t use for "yes".\n---\n'
    ),
    "windows": "---\r\nname: a\r\ndescription: Use for x, y and z.\r\n---\r\n",
    "mark": "\ufeff---\nname: a\ndescription: b\n---\n",
    "long": f"---\nname: a\ndescription: {'word ' * 2000}\n---\n",
}


def skill(directory: Path, text: str = SKILL) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SKILL.md").write_bytes(text.encode())
    return directory / "SKILL.md"


def check(directory: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "waza_language_server", "check", str(directory), "--format", "json"]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def problems(directory: Path) -> list[str]:
    found = check(directory)
    assert found.returncode == 0, found.stdout + found.stderr
    return [line for line in found.stdout.splitlines() if '"code"' in line]


def test_a_suite_has_tasks_triggers_and_a_fixture_and_runs(tmp_path: Path) -> None:
    made = engine("new", "suite", skill(tmp_path / "skills" / "tea"), "--out", tmp_path / "evals" / "tea")
    assert (made.returncode, made.stderr) == (0, "")
    directory = tmp_path / "evals" / "tea"
    assert made.stdout.splitlines()[0] == str(directory / "eval.yaml")
    assert f"waza-engine run {directory}" in made.stdout
    spec, warnings = load_eval_file(directory / "eval.yaml")
    assert warnings == ()
    assert (spec.name, spec.skill, spec.description) == ("brew-tea-eval", "brew-tea", "Brews tea.")
    assert spec.config.skill_directories == ("../../skills/tea",)
    report, _ = run(directory / "eval.yaml")
    assert (report.outcome.status, report.outcome.message) == ("completed", "")
    assert len(report.outcome.tasks) == 3
    assert problems(directory) == []


def test_prompts_are_what_the_description_says(tmp_path: Path) -> None:
    write_files(tmp_path / "out", new_suite(skill(tmp_path), tmp_path / "out").files, force=False)
    tests, _ = load_trigger_tests(tmp_path / "out" / "trigger_tests.yaml")
    assert tests.skill == "brew-tea"
    assert [found.prompt for found in tests.should_trigger_prompts] == ["How hot is the water?"]
    assert [found.prompt for found in tests.should_not_trigger_prompts] == ["Coffee", "Cocoa"]


@pytest.mark.parametrize(
    ("description", "wanted", "unwanted"),
    [
        ("USE FOR: sort x, merge y (both). DO NOT USE FOR: find z.", ["Sort x", "Merge y"], ["Find z"]),
        ("Use when the user wants to sort lists or merge them. More.", ["Sort lists", "Merge them"], []),
        ('Use this skill whenever a user says "make tea", or “boil it”.', ["Make tea", "Boil it"], []),
        ("次のような依頼:「集約を設計する」。Triggers: 「境界を定義する」", ["境界を定義する"], []),
        ("Does X. Don't use for printing files.", [], ["Help me with printing files"]),
        ("Use when setting up a server.", ["Help me with setting up a server"], []),
        ("WHEN: how do I sort, why is it slow.", ["How do I sort?", "Why is it slow?"], []),
    ],
)
def test_labels_quotes_and_sentences_are_understood(
    description: str, wanted: list[str], unwanted: list[str]
) -> None:
    found = trigger_prompts("x", description)
    assert [prompt.text for prompt in found.wanted][: len(wanted)] == wanted
    assert [prompt.text for prompt in found.unwanted][: len(unwanted)] == unwanted
    assert len(found.wanted) >= 1
    assert len(found.unwanted) >= (2 if len(unwanted) < 2 else len(unwanted))


def test_a_guess_is_never_about_the_skill() -> None:
    found = trigger_prompts("poems", "Writes a poem, short or long, about autumn or an egg.")
    assert not any("poem" in prompt.text.lower() or "egg" in prompt.text for prompt in found.unwanted)
    assert not any(prompt.certain for prompt in (*found.wanted, *found.unwanted))


@pytest.mark.parametrize("text", SMALLEST.values(), ids=SMALLEST)
def test_every_skill_gives_a_valid_suite(tmp_path: Path, text: str) -> None:
    source = skill(tmp_path / "my skill", text)
    made = new_suite(source, tmp_path / "out")
    write_files(made.directory, made.files, force=False)
    report, events = run(tmp_path / "out" / "eval.yaml")
    assert [task.status for task in report.outcome.tasks] == ["passed"] * len(report.outcome.tasks), events
    assert (report.outcome.status, report.outcome.message) == ("completed", "")
    assert problems(tmp_path / "out") == []


@pytest.mark.parametrize("executor", ["mock", "copilot-sdk", "openai", "command", "replay"])
def test_a_suite_for_another_executor_is_valid_and_runs_with_mock(tmp_path: Path, executor: str) -> None:
    made = new_suite(skill(tmp_path), tmp_path / "out", executor=executor)
    write_files(made.directory, made.files, force=False)
    spec, warnings = load_eval_file(tmp_path / "out" / "eval.yaml")
    assert (spec.config.executor, warnings) == (executor, ())
    report, _ = run(tmp_path / "out" / "eval.yaml", executor="mock")
    assert not [task.error for task in report.outcome.tasks if task.error]


@needs_corpus
def test_every_skill_of_the_sample_suites_gives_a_valid_suite(tmp_path: Path) -> None:
    skills = sorted(
        path
        for path in SUITES.rglob("SKILL.md")
        if path.is_file() and path.read_text("utf-8").startswith("---")
    )
    assert len(skills) > 50
    skills = skills[::3]
    for number, path in enumerate(skills):
        # In the repository of its skill.
        copy = tmp_path / ".kept" / str(number) / path.parent.name / "SKILL.md"
        copy.parent.mkdir(parents=True)
        copy.write_bytes(path.read_bytes())
        made = new_suite(copy, tmp_path / f"suite{number}")
        write_files(made.directory, made.files, force=False)
    found = check(tmp_path)
    assert found.returncode == 0, found.stdout[:4000]
    assert '"code"' not in found.stdout, found.stdout[:4000]
    for number, path in list(enumerate(skills))[::4]:
        report, _ = run(tmp_path / f"suite{number}" / "eval.yaml")
        assert report.outcome.status == "completed", path


def test_nothing_is_overwritten_unless_asked(tmp_path: Path) -> None:
    source, out = skill(tmp_path), tmp_path / "out"
    (out / "tasks").mkdir(parents=True)
    (out / "eval.yaml").write_text("mine")
    found = engine("new", "suite", source, "--out", out)
    assert found.returncode == 2
    assert "--force" in found.stderr
    assert str(out / "eval.yaml") in found.stderr
    assert (out / "eval.yaml").read_text() == "mine"
    assert list(out.rglob("*.yaml")) == [out / "eval.yaml"]
    assert engine("new", "suite", source, "--out", out, "--force").returncode == 0
    assert (out / "eval.yaml").read_text() != "mine"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "There is no SKILL.md"),
        (b"", "empty"),
        (b"# Only text\n", "no frontmatter"),
        (b"---\nname: a\n", "no closing line"),
        (b"---\nname: [\n---\n", "YAML is broken"),
        (b"---\n- a\n---\n", "block of keys"),
        (b"---\nname: [a]\n---\n", "`name` must be text"),
        (b"---\nname: \xff\n---\n", "not UTF-8"),
        (b"---\nname: a\0\n---\n", "binary"),
        (b"---\nname: a\n---\n" + b"x" * (9 * 2**20), "larger than"),
    ],
    ids=lambda value: "" if isinstance(value, bytes | None) else value,
)
def test_a_skill_that_cannot_be_read_is_a_clear_error(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "SKILL.md").write_bytes(content)
    found = engine("new", "suite", tmp_path, "--out", tmp_path / "out")
    assert found.returncode == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "out").exists()


def test_an_executor_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="not an executor"):
        new_suite(skill(tmp_path), tmp_path / "out", executor="gpt")


def test_the_suite_goes_where_the_project_keeps_its_suites(tmp_path: Path) -> None:
    (tmp_path / ".waza.yaml").write_text("paths: {evals: checks/}\n")
    made = new_suite(skill(tmp_path / "skills" / "tea"))
    assert made.directory == tmp_path.resolve() / "checks" / "brew-tea"


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    made = new_suite(skill(tmp_path), tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tasks").write_text("in the way")
    with pytest.raises(ScaffoldError, match="could be written"):
        write_files(made.directory, made.files, force=False)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tasks"]


def test_the_written_files_are_listed_for_programs(tmp_path: Path) -> None:
    found = engine("new", "suite", skill(tmp_path), "--out", tmp_path / "out", "--json")
    files = [Path(path) for path in json.loads(found.stdout)["files"]]
    assert all(path.is_file() for path in files)
    assert tmp_path / "out" / "trigger_tests.yaml" in files
