"""The project: suites, their tasks, what may be referred to; open documents win, unknown is not absent."""

from __future__ import annotations

import gc
import os
import weakref
from collections import Counter
from pathlib import Path

import pytest

from tests.server.project.files import EVAL, opened, project_with, put, small_suite
from waza_engine.steps import Steps, finished
from waza_language_server.project import disk
from waza_language_server.project.disk import stamp_of
from waza_language_server.project.index import Project
from waza_language_server.project.nearby import Nearby
from waza_language_server.syntax.tree import Tree, parse_in_steps


def test_a_file_is_claimed_by_the_globs_of_the_suite_above_it(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", EVAL.replace("tasks/*.yaml", "cases/*.yaml"))
    case = put(tmp_path, "cases/odd.yaml", "prompt: Do it\n")
    assert Project().claim(case) == "task"


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


def test_tasks_of_a_suite_are_known_with_their_ids(tmp_path: Path) -> None:
    project = Project()
    tasks = project.tasks_of(project.suite(small_suite(tmp_path)))
    assert tasks.known
    assert [(task.path.name, task.id) for task in tasks.value] == [("first.yaml", "first")]


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


def test_a_closed_file_is_parsed_once_for_each_version_of_it(tmp_path: Path) -> None:
    path = small_suite(tmp_path)
    project = Project()
    tree = project.tree(path)
    assert tree.root is not None
    assert tree.root.get("name") is not None
    assert project.with_document(opened(tmp_path / "tasks" / "first.yaml", "task")).tree(path) is tree
    put(tmp_path, "eval.yaml", EVAL.replace("my-eval", "renamed"))
    assert "renamed" in project.tree(path).text


def test_the_tree_of_an_open_document_is_its_own(tmp_path: Path) -> None:
    document = opened(small_suite(tmp_path), "eval", "name: typed\n")
    assert project_with(document).tree(tmp_path / "eval.yaml") is document.tree


def test_a_file_that_cannot_be_read_has_an_empty_tree(tmp_path: Path) -> None:
    assert Project().tree(tmp_path / "missing.yaml").root is None
    assert Project().tree(tmp_path).root is None


def test_of_many_closed_files_only_some_trees_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "MAX_TREES", 3)
    project = Project()
    paths = [put(tmp_path, f"{name}.yaml", f"id: {name}\n") for name in "abcdefgh"]
    roots = [weakref.ref(root.green) for path in paths if (root := project.tree(path).root) is not None]
    gc.collect()
    assert len(roots) == len(paths)
    assert 1 <= sum(root() is not None for root in roots) <= 3


def test_the_suite_of_a_task_is_found_above_it(tmp_path: Path) -> None:
    eval_path = small_suite(tmp_path)
    suites = Project().suites_of(tmp_path / "tasks" / "first.yaml")
    assert [suite.path for suite in suites] == [eval_path]


def test_a_task_may_belong_to_several_suites(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", EVAL)
    put(tmp_path, "wazaEval.yaml", EVAL)
    task = put(tmp_path, "tasks/a.yaml", "id: a\n")
    assert [suite.path.name for suite in Project().suites_of(task)] == ["eval.yaml", "wazaEval.yaml"]


def test_an_open_eval_elsewhere_is_known_as_the_suite_of_its_tasks(tmp_path: Path) -> None:
    eval_path = put(tmp_path, "evals/x/eval.yaml", EVAL.replace("tasks/*", "../../cases/*"))
    case = put(tmp_path, "cases/a.yaml", "id: a\n")
    assert Project().suites_of(case) == ()
    project = project_with(opened(eval_path, "eval"))
    assert [suite.path for suite in project.suites_of(case)] == [eval_path]


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


def test_fixtures_are_the_files_below_the_folder_beside_the_eval(tmp_path: Path) -> None:
    small_suite(tmp_path)
    put(tmp_path, "fixtures/a.py", "")
    put(tmp_path, "fixtures/deep/b.py", "")
    document = opened(tmp_path / "tasks" / "first.yaml", "task")
    assert Nearby(project_with(document), document).fixtures().value == ("a.py", "deep/b.py")


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


def test_the_id_of_another_task_is_found_without_parsing_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project()
    suite = small_suite(tmp_path)
    for number in range(5):
        put(tmp_path, f"tasks/other{number}.yaml", f"id: other{number} # plain\nname: x\n")
    quoted = put(tmp_path, "tasks/quoted.yaml", 'id: "sa\\x6De"\nname: x\n')
    parsed: list[str] = []

    def counting_parse(text: str) -> Steps[Tree]:
        parsed.append(text)
        return parse_in_steps(text)

    monkeypatch.setattr(disk, "parse_in_steps", counting_parse)
    named = project.suite(suite)
    parsed.clear()
    assert [path for path in project.tasks_with_id(named, "same") if path] == [quoted]
    assert len(parsed) == 1
    with project.disk.held_still():
        assert [path for path in project.tasks_with_id(named, "same") if path] == [quoted]
        assert [path for path in project.tasks_with_id(named, "other3") if path] == [
            tmp_path / "tasks" / "other3.yaml"
        ]


def test_the_tasks_of_a_suite_are_looked_at_with_a_pause_after_each(tmp_path: Path) -> None:
    project = Project()
    suite = project.suite(small_suite(tmp_path))
    for number in range(20):
        put(tmp_path, f"tasks/other{number}.yaml", f"id: other{number}\nname: x\n")
    with project.disk.held_still():
        assert len(list(project.tasks_with_id(suite, "none"))) >= 20
        assert list(project.tasks_with_id(suite, "none")) == []


def test_looking_at_many_files_lists_each_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [put(tmp_path, f"a/b/c/{number}.yaml", "kind: Service\n") for number in range(30)]
    looked_at: Counter[Path] = Counter()

    def counting_stamp(path: Path) -> object:
        looked_at[path] += 1
        return stamp_of(path)

    monkeypatch.setattr(disk, "stamp_of", counting_stamp)
    project = Project()
    with project.disk.held_still():
        assert all(project.claim(file) is None for file in files)
    assert max(looked_at.values()) == 1


def test_work_with_pauses_looks_at_a_folder_once_and_others_see_it_as_it_is(tmp_path: Path) -> None:
    project = Project()

    def looking() -> Steps[tuple[frozenset[str], frozenset[str]]]:
        before = project.names(tmp_path)
        yield
        return before, project.names(tmp_path)

    work = project.disk.held_still_in_steps(looking())
    next(work)
    put(tmp_path, "new.yaml", "")
    assert project.names(tmp_path) == {"new.yaml"}
    assert finished(work) == (frozenset(), frozenset())
    assert not project.disk.is_still


def test_a_long_suite_that_is_not_open_is_read_with_pauses_before_it_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = put(tmp_path, "eval.yaml", "skill: x\ntasks: [tasks/*.yaml]\n" + "tags: a\n" * 5_000)
    task = put(tmp_path, "tasks/one.yaml", "id: one\nname: One\n")
    project = Project((tmp_path,))
    assert sum(1 for _ in project.read_in_steps(task)) > 10

    def reading(_: str) -> Steps[Tree]:
        raise AssertionError("read again")

    monkeypatch.setattr(disk, "parse_in_steps", reading)
    assert [found.path for found in project.suites_of(task)] == [suite]
    assert project.outline(suite).skill == "x"
