"""What GitHub Actions shows of a run."""

import re
from pathlib import Path

import pytest

from tests.command_line import engine, stdout_of
from tests.engine.executors.agents import write_agent
from tests.engine.suites import COMMAND_CONFIG, CONFIG, GREETS, replaced, run, task, write_suite
from waza_engine.results.reports.github import SourceLocation, annotation

OWN = "graders:\n- {type: text, name: own, config: {contains: [nope]}}\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path


def test_an_annotation_stands_at_the_grader_that_failed(repository: Path) -> None:
    suite = write_suite(
        repository / "evals", {"a": task("a", OWN), "b": task("b", prompt="Bye")}, graders=GREETS
    )
    run(suite)
    found = stdout_of("report", suite, "--format", "github", code=1)
    own = (repository / "evals" / "tasks" / "a.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(own, 1) if "name: own" in text)
    shared = suite.read_text().splitlines()
    shared_line = next(number for number, text in enumerate(shared, 1) if "greets" in text)
    told = found.splitlines()
    assert any(
        text.startswith(f"::error file=evals/tasks/a.yaml,line={line},title=a%3A own::a: own")
        for text in told
    )
    assert any(text.startswith(f"::error file=evals/eval.yaml,line={shared_line},") for text in told)
    assert "0 of 2 tasks passed" in (repository / "summary.md").read_text("utf-8")


def test_what_a_grader_says_of_several_tasks_is_told_once(repository: Path) -> None:
    alike = "- {type: text, name: alike, config: {contains: [nope]}}\n"
    by_length = "- {type: code, name: length, config: {assertions: [len(output) > 1000]}}\n"
    tasks = {"a": task("a"), "b": task("b", prompt="Bye bye"), "c": task("c", OWN)}
    suite = write_suite(repository, tasks, graders=alike + by_length)
    run(suite)
    told = engine("report", suite, "--format", "github").stdout.splitlines()
    said = [re.sub(r"\d+\)", "N)", text.partition("::")[2].partition("::")[2]) for text in told]
    assert said == [
        'alike failed in 3 tasks (a, b, c): missing text: "nope"',
        "length failed in 3 tasks%0Aa: not true: len(output) > 1000 (len(output) is N)"
        "%0Ab: not true: len(output) > 1000 (len(output) is N)"
        "%0Ac: not true: len(output) > 1000 (len(output) is N)",
        'c: own failed: missing text: "nope"',
    ]


JUDGED_OTHERWISE = """\
id: a
name: A
inputs:
  prompt: Hi
  follow_up_prompts: [Bye]
expected:
  output_contains: [Hi]
  output_not_contains:
    - Bye
checkpoints:
  - after_turn: 1
    graders:
      - type: text
        name: early
        config: {contains: [late]}
graders:
  - type: text
    name: early
    config: {contains: [Bye]}
"""
TRIGGERS = """\
skill: tested
should_trigger_prompts:
  - prompt: Greet me
should_not_trigger_prompts:
  - prompt: Paint
  - reason: not that
    prompt: Greet me
"""


def test_what_else_judges_has_its_own_line_too(repository: Path) -> None:
    suite = write_suite(repository / "evals", {"a": JUDGED_OTHERWISE, "b": "id: b\nname: B\nid: c\n"})
    echoes = "say(type='result', content=' '.join(sys.argv[1:]))"
    write_agent(suite.parent, echoes, sessionMode="iterative", prompt={})
    replaced(suite, CONFIG, COMMAND_CONFIG)
    (suite.parent / "trigger_tests.yaml").write_text(TRIGGERS)
    ran = engine("run", suite)
    assert "early after turn 1" in ran.stdout
    assert 'missing text: "late"' in ran.stdout, "a checkpoint says why, too"
    told = engine("report", suite, "--format", "github").stdout
    for name, line in (
        ("expected.output_not_contains", 8),
        ("early after turn 1", 13),
    ):
        assert f"::error file=evals/tasks/a.yaml,line={line},title=a%3A {name}::" in told, told
    assert "::error file=evals/tasks/b.yaml,line=3,title=b::" in told, told
    assert "::error file=evals/trigger_tests.yaml,line=3,title=trigger prompt::Greet me" in told, told


def test_a_run_prints_them_below_its_text_and_adds_to_the_summary(repository: Path) -> None:
    suite = write_suite(repository / "evals", {"a": task("a", OWN)}, graders=GREETS)
    (repository / "summary.md").write_text("# before\n")
    found = stdout_of("run", suite, "--format", "github", code=1)
    assert "failed: 0 of 1 task passed, 1 failed" in found
    assert "::error file=evals/tasks/a.yaml,line=" in found
    assert (repository / "summary.md").read_text("utf-8").startswith("# before\n## ❌")


def test_a_good_run_has_no_annotation(repository: Path) -> None:
    suite = write_suite(repository / "evals", {"a": task("a")}, graders=GREETS)
    run(suite)
    found = engine("report", suite, "--format", "github")
    assert (found.returncode, found.stdout) == (0, "")


def test_no_text_of_a_suite_is_a_command() -> None:
    hostile = "a\n::set-output name=x::y\r%0A##[error]z"
    found = annotation("error", hostile, SourceLocation("a,b:c\n.yaml", 3), "t,itle:\n::x")
    assert found.count("\n") == 1
    assert found.startswith("::error file=a%2Cb%3Ac")
    assert "%0A::set-output" in found
    assert "##[" not in found
    assert "%250A" in found


def test_a_failed_task_of_a_run_whose_score_is_high_enough_fails_no_step(repository: Path) -> None:
    suite = write_suite(repository / "evals", {"a": task("a"), "b": task("b", prompt="Bye")}, graders=GREETS)
    replaced(suite, "config: {", "config: {pass_score: 0.5, ")
    assert engine("run", suite).returncode == 0
    assert "::error" not in (told := engine("report", suite, "--format", "github").stdout)
    assert "::warning" in told
    assert 'failures="0" skipped="1"' in engine("report", suite, "--format", "junit").stdout
    assert engine("run", suite, "--task", "a").returncode == 0
    assert engine("report", suite).returncode == 0


def test_a_stimulus_is_found_by_its_name(repository: Path) -> None:
    path = repository / "eval.yaml"
    grader = "{type: output-contains, config: {value: nowhere}}"
    path.write_text(
        f"# vally: 0.16\nname: v\nstimuli:\n- prompt: x\n  name: Says it\n  graders:\n  - {grader}\n"
    )
    engine("run", path, "--executor", "mock")
    assert "file=eval.yaml,line=7," in engine("report", path, "--format", "github").stdout
    assert 'line="4"' in engine("report", path, "--format", "junit").stdout
