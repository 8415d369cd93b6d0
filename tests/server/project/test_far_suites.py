"""Suites whose globs lead out of their folder are known to their tasks once the workspace was read."""

import os
from pathlib import Path

import pytest

from tests.server.project.files import EVAL, opened, put, workspace_with
from waza_language_server.check import check_paths
from waza_language_server.features.navigation import all_references
from waza_language_server.features.renames.rename import rename
from waza_language_server.project.index import MOST_OF_FILE, Project
from waza_language_server.project.suite_files import read_suites

TASK = "id: a\nname: A\ninputs:\n  prompt: Do it\nexpected:\n  graders: [mentions_deploy]\n"


def suite_with(folder: Path, *globs: str) -> Path:
    listed = "".join(f"\n      - {glob}" for glob in globs)
    return put(folder, "eval.yaml", EVAL.replace("\n      - tasks/*.yaml", listed))


def read(root: Path) -> Project:
    project = Project([root])
    read_suites(project)
    return project


def suites_of(project: Project, task: Path) -> list[Path]:
    return [suite.path for suite in project.suites_of(task)]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("../tasks/*.yaml", True),
        ("../tasks/a.yaml", True),
        ("./../tasks/?.yaml", True),
        ("../*/a.yaml", True),
        ("../*/*.yaml", True),
        ("more/../../tasks/a.*", True),
        ("../../{root}/tasks/*.yaml", True),
        ("../tasks/b.yaml", False),
        ("../tasks/*/*.yaml", False),
        ("../other/*.yaml", False),
        ("..", False),
        ("../*", False),
        ("../[/a", False),
    ],
)
def test_a_suite_beside_the_folder_of_its_tasks_is_found(tmp_path: Path, glob: str, found: bool) -> None:
    eval_file = suite_with(tmp_path / "one", "tasks/*.yaml", glob.replace("{root}", tmp_path.name))
    task = put(tmp_path, "tasks/a.yaml", TASK)
    assert suites_of(Project([tmp_path]), task) == []
    assert suites_of(read(tmp_path), task) == ([eval_file] if found else [])


def test_a_file_is_claimed_by_the_globs_of_a_suite_elsewhere(tmp_path: Path) -> None:
    suite_with(tmp_path / "one", "../cases/*.yaml")
    case = put(tmp_path, "cases/odd.yaml", "prompt: Do it\n")
    assert read(tmp_path).claim(case) == "task"


def test_a_note_is_not_believed_when_the_suite_says_something_else_now(tmp_path: Path) -> None:
    eval_file = suite_with(tmp_path / "one", "../tasks/*.yaml")
    task = put(tmp_path, "tasks/a.yaml", TASK)
    project = read(tmp_path)
    suite_with(tmp_path / "one", "../elsewhere/*.yaml")
    os.utime(eval_file, ns=(1, 1))
    assert suites_of(project, task) == []
    edited = project.with_document(opened(eval_file, "eval", EVAL.replace("tasks/*", "../tasks/*")))
    assert suites_of(edited, task) == [eval_file]
    eval_file.unlink()
    assert suites_of(project, task) == []


def test_what_changed_on_the_disk_is_noted_when_the_workspace_is_read_again(tmp_path: Path) -> None:
    eval_file = suite_with(tmp_path / "one", "../tasks/*.yaml")
    task, other = put(tmp_path, "tasks/a.yaml", TASK), put(tmp_path, "other/a.yaml", TASK)
    project = read(tmp_path)
    assert project.far.pop_new_globs([task])
    assert not project.far.pop_new_globs([task])
    suite_with(tmp_path / "one", "../other/*.yaml")
    os.utime(eval_file, ns=(1, 1))
    read_suites(project)
    assert suites_of(project, other) == []  # Nobody has told of it.
    project.far.note_change()
    read_suites(project)
    assert suites_of(project, other) == [eval_file]
    assert project.far.folders_of(eval_file) == (tmp_path / "other",)
    assert project.far.pop_new_globs([other])


def test_of_many_suites_that_share_a_folder_each_name_is_found_and_some_of_the_others(tmp_path: Path) -> None:
    for number in range(MOST_OF_FILE + 5):
        suite_with(tmp_path / f"s{number}", f"../tasks/t{number}.yaml", "../all/*.yaml")
    project = read(tmp_path)
    last = MOST_OF_FILE + 4
    assert suites_of(project, tmp_path / "tasks" / f"t{last}.yaml") == [tmp_path / f"s{last}" / "eval.yaml"]
    shared = tmp_path / "all" / "a.yaml"
    assert len(suites_of(project, shared)) == MOST_OF_FILE
    assert len(project.every_suite_of(shared)) == MOST_OF_FILE + 5


def test_nothing_is_called_missing_that_a_suite_may_have_that_is_not_asked(tmp_path: Path) -> None:
    for number in range(MOST_OF_FILE + 5):
        suite_with(tmp_path / f"s{number}", "../tasks/*.yaml")
        text = (tmp_path / f"s{number}" / "eval.yaml").read_text("utf-8")
        put(tmp_path, f"s{number}/eval.yaml", text.replace("mentions_deploy", f"grader{number}"))
        put(tmp_path, f"s{number}/fixtures/{number}.csv", "")
    name = "graders: [mentions_deploy]\n"
    files = [f"{{path: {number}.csv}}" for number in range(MOST_OF_FILE + 5)]
    task = TASK.replace("  prompt:", f"  files: [{', '.join(files)}]\n  prompt:")
    names = ", ".join(f"grader{number}" for number in range(MOST_OF_FILE + 5))
    path = put(tmp_path, "tasks/a.yaml", task.replace(name, f"graders: [{names}]\n"))
    (report,) = (each for each in check_paths([tmp_path]) if each.path == path)
    assert {finding.code for finding in report.findings}.isdisjoint({"unknown-grader-name", "missing-file"})


def test_rename_misses_none_of_many_suites_that_share_a_task(tmp_path: Path) -> None:
    for number in range(MOST_OF_FILE + 5):
        suite_with(tmp_path / f"s{number}", "../tasks/*.yaml")
    task = opened(put(tmp_path, "tasks/a.yaml", TASK), "task")
    workspace = workspace_with(task, roots=(tmp_path,))
    at = TASK.index("mentions_deploy")
    renaming = rename(task, workspace, at, "says_so", renames_files=False)
    assert renaming is not None
    assert len(renaming.change.files) == MOST_OF_FILE + 6


def test_references_and_rename_read_the_suites_that_nobody_has_read_yet(tmp_path: Path) -> None:
    eval_file = suite_with(tmp_path / "one", "../tasks/*.yaml")
    task = opened(put(tmp_path, "tasks/a.yaml", TASK), "task")
    at = TASK.index("mentions_deploy")
    for_references = workspace_with(task, roots=(tmp_path,))
    found = all_references(task, for_references, at, with_definition=True)
    assert {place.uri for place in found} == {task.uri, eval_file.as_uri()}
    for_rename = workspace_with(task, roots=(tmp_path,))
    renaming = rename(task, for_rename, at, "says_so", renames_files=False)
    assert renaming is not None
    assert {change.uri for change in renaming.change.files} == {task.uri, eval_file.as_uri()}


def test_the_command_knows_them_too(tmp_path: Path) -> None:
    suite_with(tmp_path / "one", "../tasks/*.yaml")
    put(tmp_path, "tasks/a.yaml", TASK)
    put(tmp_path, "tasks/b.yaml", TASK.replace("mentions_deploy", "mentions_deplyo"))
    codes = {
        finding.code
        for report in check_paths([tmp_path])
        for finding in report.findings
        if "tasks" in finding.path
    }
    assert {"unknown-grader-name", "duplicate-task-id"} <= codes


def test_suites_come_in_one_order_whenever_they_were_noted_or_opened(tmp_path: Path) -> None:
    first, second = (suite_with(tmp_path / name, "../tasks/*.yaml") for name in ("one", "two"))
    task = put(tmp_path, "tasks/a.yaml", TASK)
    project = Project([tmp_path])
    for eval_file in (second, first):
        project.far.note(project.suite(eval_file))
    assert suites_of(project, task) == [first, second]
    third, fourth = (put(tmp_path, f"{name}.suite.yaml", EVAL) for name in "ab")
    others = Project([tmp_path], {path: opened(path, "eval") for path in (fourth, third)})
    assert suites_of(others, task) == [third, fourth]
