"""A path that leads out of the repository is reported at its place, before a run refuses it."""

import sys
from pathlib import Path

import pytest

from tests.engine.outside import touched_below
from tests.server.analysis.drawing import EVAL, TASK, graders, problems_in
from tests.server.project.files import put
from waza_language_server.project.document import DocumentKind


def reported(folder: Path, name: str, text: str) -> list[str]:
    """Return the underlined words of a file of the suite in this folder, which is open."""
    kind: DocumentKind = "eval" if name.endswith("eval.yaml") else "task"
    found = problems_in(folder, name, text, kind)
    return [text[each.span.start : each.span.end] for each in found if each.code == "outside-repository"]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "outside/id_rsa", "secret")
    put(tmp_path, "repository/evals/eval.yaml", EVAL)
    put(tmp_path, "repository/fixtures/a.txt", "")
    (tmp_path / "repository" / ".git").mkdir()
    return tmp_path / "repository" / "evals"


@pytest.mark.parametrize(
    "written", ["../../outside", "/", "/etc", "~/.ssh", "//host/share", r"\\host\share", r"\\.\pipe\x", "NUL"]
)
def test_a_folder_outside_is_reported(suite: Path, tmp_path: Path, written: str) -> None:
    with touched_below(tmp_path / "outside") as touched:
        assert reported(suite, "tasks/t.yaml", f"{TASK}context_dir: '{written}'\n") == [f"'{written}'"]
        assert reported(suite, "tasks/t.yaml", f"{TASK}skill_directories: ['{written}']\n") == [
            f"'{written}'"
        ]
        config = f"executor: mock\n  skill_directories: ['{written}']"
        assert reported(suite, "eval.yaml", EVAL.replace("executor: mock", config)) == [f"'{written}'"]
    assert touched == []


@pytest.mark.parametrize("written", ["../fixtures", "files", "../..", "../gone", "${HOME}/x"])
def test_a_folder_of_the_repository_is_not(suite: Path, written: str) -> None:
    expected = [written] if written == "../.." else []
    assert reported(suite, "tasks/t.yaml", f"{TASK}context_dir: {written}\n") == expected


@pytest.mark.parametrize(
    "grader",
    [
        "type: script\n    name: c\n    config: {script: ../../outside/x.py}",
        "type: json_schema\n    name: c\n    config: {schema_file: ../../outside/x.json}",
        "type: trigger\n    name: c\n    config: {skill_path: ../../outside, mode: positive}",
        "type: diff\n    name: c\n    config: {context_dir: ../../outside, expected_files: []}",
        "type: prompt\n    name: c\n    config: {rubric: ../../outside/rubric.yaml}",
    ],
)
def test_a_path_of_a_grader_is_reported(suite: Path, grader: str) -> None:
    (found,) = reported(suite, "tasks/t.yaml", graders(f"  - {grader}\n"))
    assert found.startswith("../../outside")


def test_a_repository_for_the_workspace_and_a_glob_are_reported(suite: Path) -> None:
    repositories = "  repos:\n  - {type: worktree, source: ../../outside, dest: a}\n"
    assert reported(suite, "tasks/t.yaml", f"{TASK}{repositories}") == ["../../outside"]
    globs = EVAL.replace("[tasks/*.yaml]", "[tasks/*.yaml, ../../outside/*.yaml]")
    assert reported(suite, "eval.yaml", globs) == ["../../outside/*.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
def test_a_link_that_leads_out_is_reported(suite: Path, tmp_path: Path) -> None:
    (suite / "link").symlink_to(tmp_path / "outside")
    with touched_below(tmp_path / "outside") as touched:
        assert reported(suite, "tasks/t.yaml", f"{TASK}context_dir: link\n") == ["link"]
    assert touched == []
