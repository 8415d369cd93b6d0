"""Eval files with other names, such as `eval.semantic.yaml`, and files that are checked by themselves."""

from pathlib import Path

import pytest

from tests.server.project.files import EVAL, TASK, opened, put
from waza_language_server.check import Report, check_paths
from waza_language_server.project.index import Project
from waza_language_server.project.suite_files import files_of_workspace

SEMANTIC = EVAL.replace("tasks/*.yaml", "semantic/*.yaml")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "eval.semantic.yaml", SEMANTIC)
    put(tmp_path, "semantic/first.yaml", TASK)
    return tmp_path


def suites_of(project: Project, path: Path) -> list[str]:
    return [suite.path.name for suite in project.suites_of(path)]


def test_what_its_globs_pick_up_is_a_task(suite: Path) -> None:
    put(suite, "semantic/odd.yaml", "prompt: x\n")
    project = Project([suite])
    assert project.claim(suite / "semantic/odd.yaml") == "task"
    assert suites_of(project, suite / "semantic/odd.yaml") == ["eval.semantic.yaml"]
    assert suites_of(project, suite / "eval.semantic.yaml") == ["eval.semantic.yaml"]
    kinds = {file.path.name: file.kind for file in files_of_workspace(project) if file and file.path}
    assert kinds == {"eval.semantic.yaml": "eval", "first.yaml": "task", "odd.yaml": "task"}


def test_the_usual_names_come_first(suite: Path) -> None:
    put(suite, "eval.yaml", SEMANTIC)
    found = Project([suite]).suites_of(suite / "semantic/first.yaml")
    assert [each.path.name for each in found] == ["eval.yaml", "eval.semantic.yaml"]


def test_the_name_alone_makes_no_suite(suite: Path) -> None:
    put(suite, "evaluation.yaml", "prompts: [a]\nproviders: [b]\ntasks: [semantic/*.yaml]\n")
    put(suite, "semantic/my-eval-task.yaml", TASK)
    project = Project([suite])
    assert [each.path.name for each in project.suites_in(suite)] == ["eval.semantic.yaml"]
    assert project.claim(suite / "semantic/my-eval-task.yaml") == "task"


def test_a_suite_that_is_open_and_half_written_stays_one(suite: Path) -> None:
    document = opened(suite / "eval.semantic.yaml", "eval", SEMANTIC.replace("skill: my-skill", "ski"))
    project = Project([suite]).with_document(document)
    assert suites_of(project, suite / "semantic/first.yaml") == ["eval.semantic.yaml"]


def test_a_file_by_itself_has_the_problems_that_it_has_among_others(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "one/eval.yaml", EVAL.replace("tasks/*.yaml", "../shared/*.yaml"))
    file = put(tmp_path, "shared/first.yaml", f"{TASK}      files: [gone.txt]\n")

    def report_of(*paths: Path) -> Report:
        return next(report for report in check_paths(paths) if report.path.name == "first.yaml")

    assert [finding.code for finding in report_of(tmp_path).findings] == ["missing-file"]
    assert report_of(file).findings == report_of(tmp_path).findings
    assert report_of(tmp_path / "shared").findings == report_of(tmp_path).findings
