"""Globs in the paths of `file`, an extension over upstream."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.graders.grading import folder, grade, result
from waza_engine.graders.base import GraderError
from waza_engine.graders.matching.workspace_globs import is_glob, matching_paths

FILES = {
    "a.md": "one",
    "docs/b.md": "two TODO",
    "docs/deep/c.txt": "",
    "docs/.hidden.md": "",
    "[id]/x.ts": "",
}


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "docs/.hidden.md", "docs/b.md"]),
        ("docs/*", ["docs/.hidden.md", "docs/b.md", "docs/deep"]),
        ("docs/**", ["docs/.hidden.md", "docs/b.md", "docs/deep", "docs/deep/c.txt"]),
        ("./docs/?.md", ["docs/b.md"]),
        ("{a,docs/b}.md", []),
        ("*.{md,txt}", ["a.md"]),
        ("**/*.{md,txt}", ["a.md", "docs/.hidden.md", "docs/b.md", "docs/deep/c.txt"]),
        ("[id]/*.ts", ["[id]/x.ts"]),
        ("d*/", ["docs"]),
        ("**/{*.ts", []),
    ],
)
def test_a_glob_matches(tmp_path: Path, glob: str, expected: list[str]) -> None:
    workspace = folder(tmp_path, FILES)
    assert [each.relative_to(workspace).as_posix() for each in matching_paths(workspace, glob)] == expected


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"must_exist": ["**/*.md"]}, (1.0, True)),
        ({"must_exist": ["*.py"]}, (0.0, False)),
        ({"must_not_exist": ["*.py", "docs/*.md"]}, (0.5, False)),
        ({"content_patterns": [{"path": "**/*.md", "must_match": ["TODO", "one"]}]}, (1.0, True)),
        ({"content_patterns": [{"path": "**/*.md", "must_match": ["absent"]}]}, (0.0, False)),
        ({"content_patterns": [{"path": "**/*.md", "must_not_match": ["TODO"]}]}, (0.0, False)),
        ({"content_patterns": [{"path": "*.md", "must_not_match": ["TODO"]}]}, (1.0, True)),
        ({"content_patterns": [{"path": "*.py", "must_not_match": ["TODO"]}]}, (1.0, True)),
        ({"content_patterns": [{"path": "*.py", "must_match": [""]}]}, (0.0, False)),
        ({"content_patterns": [{"path": "*.py"}, {"path": "*.md"}]}, (0.5, False)),
    ],
)
def test_a_grader_with_globs(tmp_path: Path, config: dict[str, object], expected: tuple[float, bool]) -> None:
    assert result(grade("file", {**config, "globs": True}, workspace=folder(tmp_path, FILES))) == expected


def test_a_file_with_the_very_name_is_no_glob(tmp_path: Path) -> None:
    workspace = folder(tmp_path, {"a*.md": "x", "ab.md": "y"})
    pattern = {"content_patterns": [{"path": "a*.md", "must_match": ["y"]}]}
    assert grade("file", pattern, workspace=workspace).passed is False


def test_a_link_out_of_the_workspace_matches_nothing(tmp_path: Path) -> None:
    workspace = folder(tmp_path / "workspace", {"a.txt": ""})
    (tmp_path / "secret.md").write_text("secret")
    (workspace / "link.md").symlink_to(tmp_path / "secret.md")
    (workspace / "folder").symlink_to(tmp_path)
    assert grade("file", {"must_exist": ["**/*.md"]}, workspace=workspace).passed is False


@pytest.mark.parametrize("path", ["../*.md", "/etc/*"])
def test_a_glob_stays_in_the_workspace(tmp_path: Path, path: str) -> None:
    with pytest.raises(GraderError):
        grade("file", {"must_exist": [path]}, workspace=tmp_path)


@given(st.text("ab*?{},./[]", max_size=12))
def test_any_text_is_a_pattern_that_can_be_searched(text: str) -> None:
    matching_paths(Path(__file__).parent / "nothing", text)
    assert is_glob(text) or not {"*", "?"} & set(text)
