"""Paths of graders that lead out of the workspace, which the engine refuses as well."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import TASK, fixed, graders, problems
from tests.server.project.files import put
from waza_engine.graders.base import GraderError
from waza_engine.graders.paths import workspace_path
from waza_engine.runs.agent.trial_workspace import WorkspaceError, fresh_workspace
from waza_engine.spec.reading.yaml_reader import read_yaml
from waza_engine.spec.task_file import TaskFile

PLACES = (
    "{type: file, name: c, config: {must_exist: ['%s']}}",
    "{type: file, name: c, config: {must_not_exist: ['%s']}}",
    "{type: file, name: c, config: {content_patterns: [{path: '%s', must_match: [a]}]}}",
    "{type: diff, name: c, config: {expected_files: [{path: '%s', contains: [a]}]}}",
)
OUTSIDE = ("/etc/passwd", "//x", "..", "../x", "a/../../x", "a/..", ".", "./")
INSIDE = ("a", "./a", "a/../b", "..a", "a/", "~/a", "$HOME/a", "a b/c*.py", "...")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("written", [*OUTSIDE, *INSIDE])
def test_what_the_engine_refuses_is_marked_and_nothing_else(place: str, written: str) -> None:
    text = graders(f"  - {place % written}\n")
    found = [each for each in problems(text) if each.code == "outside-workspace"]
    marked = [text[each.span.start : each.span.end] for each in found]
    assert marked == ([f"'{written}'"] if written in OUTSIDE else [])


@pytest.mark.parametrize("written", [*OUTSIDE, *INSIDE])
def test_the_engine_refuses_the_same(tmp_path: Path, written: str) -> None:
    try:
        workspace_path(tmp_path, written)
    except GraderError:
        assert written in OUTSIDE
    else:
        assert written in INSIDE


def test_a_path_from_the_root_can_be_made_one_from_the_workspace() -> None:
    text = graders("  - {type: file, name: c, config: {must_exist: [/src/app.py]}}\n")
    assert fixed(text, "outside-workspace") == text.replace("/src", "src")


@pytest.mark.parametrize(
    ("written", "right"), [("src\\a.py", "src/a.py"), ("C:/x/a.py", None), ("c:\\a.py", None), ("a:b", "")]
)
def test_paths_of_one_system_are_not_portable(written: str, right: str | None) -> None:
    text = graders(f"  - {{type: file, name: c, config: {{must_exist: ['{written}']}}}}\n")
    found = [(each.code, each.severity) for each in problems(text)]
    assert found == ([("path-not-portable", "warning")] if right != "" else [])
    assert not right or fixed(text, "path-not-portable") == text.replace(written, right)


@pytest.mark.parametrize("form", ["{path: '%s', content: x}", "{path: '%s'}", "'%s'"])
@pytest.mark.parametrize(
    ("written", "refused"),
    [
        ("/etc/x", True),
        ("../x", True),
        ("a/../b", True),
        ("C:\\x", True),
        ("c:x", True),
        ("..", True),
        ("a/b.py", False),
        ("..a", False),
        ("a..b/c..", False),
        ("~/a", False),
        ("./a", False),
    ],
)
def test_files_of_a_task_must_lie_in_its_workspace(
    tmp_path: Path, form: str, written: str, refused: bool
) -> None:
    text = f"{TASK}  files: [{form % written}]\n"
    found = [text[each.span.start : each.span.end] for each in problems(text)]
    assert found == ([f"'{written}'"] if refused else [])
    task = TaskFile.model_validate(read_yaml(put(tmp_path, "t.yaml", text)))
    put(tmp_path, f"fixtures/{written if not refused else 'x'}", "")
    try:
        with fresh_workspace(task, tmp_path):
            assert not refused
    except WorkspaceError:
        assert refused
