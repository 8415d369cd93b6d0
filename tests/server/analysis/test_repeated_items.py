"""Items that a list has twice are marked where they stand again, and deleted where they say nothing else."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, problems
from tests.server.project.files import put
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.check import open_document, workspace_of
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.suite_files import read_suites
from waza_language_server.syntax.tried_edits import apply

METRICS = EVAL + "metrics:\n  - {{name: a, weight: 0.5}}\n  - {{name: {}, weight: 0.5}}\n"
FILES = TASK.replace("inputs:\n", "inputs:\n  files:\n    - {{path: a}}\n    - {{path: {}}}\n")
PROMPTS = "skill: s\nshould_trigger_prompts:\n  - prompt: a\n  - prompt: {}\n"
TAGS = TASK + "tags:\n  - a\n  - {}\n"


@pytest.mark.parametrize(
    ("text", "kind", "severity"),
    [
        (METRICS, "eval", "warning"),
        (FILES, "task", "warning"),
        (PROMPTS, "trigger_tests", "information"),
        (TAGS, "task", "hint"),
    ],
)
def test_a_repeated_item_is_reported_and_deleted(text: str, kind: DocumentKind, severity: Severity) -> None:
    assert "repeated-item" not in [each.code for each in problems(text.format("b"), kind)]
    again = text.format("a")
    [problem] = [each for each in problems(again, kind) if each.code == "repeated-item"]
    assert (problem.severity, again[problem.span.start : problem.span.end]) == (severity, "a")
    [fix] = problem.fixes
    assert not fix.preferred
    line = again[again.rindex("\n", 0, problem.span.start) :].split("\n")[1]
    kept, _, behind = again.rpartition(f"{line}\n")
    assert apply(again, fix.edits) == kept + behind


def suite_in(folder: Path) -> tuple[Document, tuple[Problem, ...]]:
    """Return the eval file of a workspace that was read, and its problems."""
    workspace = workspace_of([folder])
    read_suites(workspace.project)
    document = open_document(workspace.project, folder / "eval.yaml")
    assert document is not None
    return document, diagnose(document, workspace)


def test_an_item_that_says_something_else_is_left_to_the_author() -> None:
    text = METRICS.format("a").replace("0.5", "0.4", 1).replace("0.5", "0.6")
    [problem] = [each for each in problems(text, "eval") if each.code != "unknown-metric"]
    assert (problem.code, problem.fixes) == ("repeated-item", ())


@pytest.mark.parametrize(
    ("tasks", "left"),
    [("[tasks/a.yaml, tasks/*.yaml]", "[tasks/*.yaml]"), ("[tasks/a.yaml, tasks/a.yaml]", "[tasks/a.yaml]")],
)
def test_a_task_that_is_picked_up_twice_runs_twice(tmp_path: Path, tasks: str, left: str) -> None:
    put(tmp_path, "eval.yaml", EVAL.replace("[tasks/*.yaml]", tasks))
    put(tmp_path, "tasks/a.yaml", TASK)
    document, found = suite_in(tmp_path)
    [problem] = [each for each in found if each.code == "duplicate-task-id"]
    assert document.text[problem.span.start : problem.span.end] == "tasks/a.yaml"
    [fix] = problem.fixes
    assert apply(document.text, fix.edits) == document.text.replace(tasks, left)


def test_no_fix_picks_up_a_task_twice(tmp_path: Path) -> None:
    text = EVAL.replace("[tasks/*.yaml]", "[task/a.yaml, tasks/b.yaml]")
    put(tmp_path, "eval.yaml", text)
    for name in "ab":
        put(tmp_path, f"tasks/{name}.yaml", TASK.replace("id: t", f"id: {name}"))
    _, found = suite_in(tmp_path)
    [problem] = [each for each in found if each.code == "no-matching-tasks"]
    assert [fix.title for fix in problem.fixes] == ['Change to "tasks/a.yaml"']


@pytest.mark.parametrize(
    ("written", "meant"), [("tasks", "tasks/*.yaml"), ("./cases/", "./cases/*.yml"), ("docs/", None)]
)
def test_a_folder_of_tasks_becomes_a_glob(tmp_path: Path, written: str, meant: str | None) -> None:
    put(tmp_path, "eval.yaml", EVAL.replace("tasks/*.yaml", written))
    for name in ("tasks/a.yaml", "cases/b.yml"):
        put(tmp_path, name, TASK)
    put(tmp_path, "docs/c.yaml", "key: x\n")
    _, found = suite_in(tmp_path)
    [problem] = found
    assert problem.code == "unreadable-task"
    assert [fix.title for fix in problem.fixes] == ([f'Change to "{meant}"'] if meant else [])
