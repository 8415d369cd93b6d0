"""The project: suites, their tasks, what may be referred to; open documents win, unknown is not absent."""

import os
from pathlib import Path

import pytest

from tests.server.project.files import EVAL, opened, project_with, put, small_suite
from waza_language_server.project.index import Project
from waza_language_server.project.nearby import Nearby


def test_an_unreadable_or_binary_file_is_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_bytes(b"\x00\xff\xfeskill")
    assert Project().claim(tmp_path / "eval.yaml") is None
    assert Project().claim(tmp_path / "missing" / "eval.yaml") is None
    assert Project().claim(tmp_path) is None


def test_the_name_of_eval_files_comes_from_the_project_config(tmp_path: Path) -> None:
    put(tmp_path, ".waza.yaml", "files:\n  evalFile: suite.yaml\n")
    suite = put(tmp_path, "evals/x/suite.yaml", "skill: x\ntasks: [tasks/*.yaml]\n")
    assert Project().claim(suite) == "eval"
    assert [found.path for found in Project().suites_in(suite.parent)] == [suite]


def test_a_config_that_is_no_mapping_changes_nothing(tmp_path: Path) -> None:
    put(tmp_path, ".waza.yaml", "- files\n")
    assert Project().claim(small_suite(tmp_path)) == "eval"


def test_a_new_task_file_is_seen_without_being_told(tmp_path: Path) -> None:
    project = Project()
    suite = project.suite(small_suite(tmp_path))
    assert len(project.tasks_of(suite).value) == 1
    put(tmp_path, "tasks/second.yaml", "id: second\n")
    os.utime(tmp_path / "tasks", ns=(1, 1))
    assert [task.id for task in project.tasks_of(suite).value] == ["first", "second"]


def test_what_an_open_document_says_wins_over_the_disk(tmp_path: Path) -> None:
    eval_path = small_suite(tmp_path)
    task = tmp_path / "tasks" / "first.yaml"
    project = project_with(opened(task, "task", "id: renamed\nname: x\n"))
    assert project.task_ids(project.suite(eval_path)).value == ("renamed",)
    closed = project.without(opened(task, "task").uri)
    assert closed.task_ids(closed.suite(eval_path)).value == ("first",)


def test_the_tree_of_an_open_document_is_its_own(tmp_path: Path) -> None:
    document = opened(small_suite(tmp_path), "eval", "name: typed\n")
    assert project_with(document).tree(tmp_path / "eval.yaml") is document.tree


def test_a_file_that_cannot_be_read_has_an_empty_tree(tmp_path: Path) -> None:
    assert Project().tree(tmp_path / "missing.yaml").root is None
    assert Project().tree(tmp_path).root is None


def test_tasks_written_inline_and_as_task_files_are_read(tmp_path: Path) -> None:
    put(tmp_path, "cases/b.yaml", "id: b\n")
    path = put(tmp_path, "eval.yaml", "skill: x\ntasks:\n  - id: a\n  - task_files: [cases/*.yaml]\n")
    assert Project().task_ids(Project().suite(path)).value == ("b", "a")


def test_globs_that_match_nothing_are_absent_and_a_missing_folder_is_too(tmp_path: Path) -> None:
    document = opened(small_suite(tmp_path), "eval")
    project = project_with(document)
    assert project.matching_tasks(document, "tasks/*.yaml").known
    assert project.matching_tasks(document, "tasks/*.json").absent
    assert project.matching_tasks(document, "nowhere/*.yaml").absent


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that cannot be read")
def test_globs_in_a_folder_that_cannot_be_read_are_unknown(tmp_path: Path) -> None:
    document = opened(small_suite(tmp_path), "eval")
    (tmp_path / "tasks").chmod(0)
    try:
        assert project_with(document).matching_tasks(document, "tasks/*.yaml").unknown
    finally:
        (tmp_path / "tasks").chmod(0o700)


def test_a_document_that_is_on_no_disk_has_unknown_tasks() -> None:
    from waza_language_server.project.document import Document

    document = Document("untitled:eval.yaml", 1, "skill: x\ntasks: [a.yaml]\n", "eval")
    assert Project().matching_tasks(document, "a.yaml").unknown


def test_grader_names_of_a_task_include_those_of_its_suite(tmp_path: Path) -> None:
    small_suite(tmp_path)
    task = put(tmp_path, "tasks/b.yaml", "id: b\ngraders:\n  - type: text\n    name: own\n")
    document = opened(task, "task")
    names = Nearby(project_with(document), document).grader_names()
    assert names.known
    assert names.value == ("mentions_deploy", "own")
    assert Nearby(project_with(document), document).suite_grader_names().value == ("mentions_deploy",)


def test_grader_names_are_unknown_while_the_file_has_syntax_errors(tmp_path: Path) -> None:
    path = put(tmp_path, "eval.yaml", 'skill: x\ngraders:\n  - type: text\n    name: own\n  - name: "lost\n')
    document = opened(path, "eval")
    names = Nearby(project_with(document), document).grader_names()
    assert names.unknown
    assert "own" in names.value


def test_grader_names_of_a_task_without_a_suite_are_unknown(tmp_path: Path) -> None:
    document = opened(put(tmp_path, "task.yaml", "id: a\n"), "task")
    assert Nearby(project_with(document), document).grader_names().unknown


def test_a_context_dir_replaces_the_fixture_folder(tmp_path: Path) -> None:
    small_suite(tmp_path)
    put(tmp_path, "fixtures/a.py", "")
    put(tmp_path, "other/b.py", "")
    task = put(tmp_path, "tasks/b.yaml", "id: b\ncontext_dir: other\n")
    document = opened(task, "task")
    assert Nearby(project_with(document, roots=(tmp_path,)), document).fixtures().value == ("b.py",)


def test_models_and_tools_of_the_suite_are_offered_to_its_tasks(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", EVAL)
    text = "id: a\nexpected:\n  behavior:\n    required_tools: [bash, 'view|edit']\n"
    document = opened(put(tmp_path, "tasks/a.yaml", text), "task")
    project = project_with(document, roots=(tmp_path,))
    assert Nearby(project, document).models() == ("claude-sonnet-4.6",)
    assert Nearby(project, document).tools() == ("bash",)


def test_skills_are_named_by_their_front_matter_or_their_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    document = opened(small_suite(tmp_path), "eval")
    put(tmp_path, "skills/one/SKILL.md", "---\nname: first-skill\n---\nText\n")
    put(tmp_path, "skills/two/SKILL.md", "Text\n")
    assert Nearby(project_with(document), document).skills() == ("first-skill", "two", "my-skill")


def test_a_huge_file_is_unknown_not_absent(tmp_path: Path) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text("#" * 5_000_000)
    assert Project().text(path).unknown
    assert Project().claim(path) is None
