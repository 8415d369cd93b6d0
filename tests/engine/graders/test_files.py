"""What the agent left on disk: `file`, `diff`.

The tables hold the worked examples of both.
"""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.graders.grading import failed_paths, folder, grade, refused, result
from waza_engine.graders.base import GraderError, Verdict
from waza_engine.graders.matching.workspace_globs import is_glob, matching_paths
from waza_engine.runs.grading.graders import expectations
from waza_engine.spec.expected import Expected

FILES = {
    "main.go": "package main\nfunc main() {}\n",
    "notes.txt": "one\ntwo\n",
    "src/app.py": "    return 42\n",
}
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return folder(tmp_path / "workspace", FILES)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return folder(tmp_path / "suite", {"snapshots/notes.txt": "one\n2\n"})


def grade_files(workspace: Path, config: dict[str, Any]) -> Verdict:
    return grade("file", config, workspace=workspace)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"content_patterns": [{"path": "notes.txt", "must_match": ["func main"]}]}, (0.5, False)),
        ({"content_patterns": [{"path": "main.go", "must_match": ["func main", "package"]}]}, (1.0, True)),
        ({"content_patterns": [{"path": "missing", "must_not_match": ["a", "b"]}]}, (0.0, False)),
        ({"must_exist": ["main.go", "missing"], "must_not_exist": ["notes.txt"]}, (0.3333, False)),
        ({"content_patterns": [{"path": "main.go", "must_match": ["[invalid"]}]}, (0.5, False)),
        ({"must_exist": ["src", "src/"]}, (1.0, True)),
        ({"must_exist": ["main.go/part"]}, (1.0, True)),
        ({"must_not_exist": ["main.go/part"]}, (1.0, True)),
        ({"content_patterns": [{"path": "main.go"}]}, (1.0, True)),
        ({"content_patterns": [{"path": "src", "must_not_match": ["x"]}]}, (0.0, False)),
    ],
)
def test_file(workspace: Path, config: dict[str, Any], expected: tuple[float, bool]) -> None:
    assert result(grade_files(workspace, config)) == expected


def test_file_counts_every_path_and_pattern(workspace: Path) -> None:
    patterns = [{"path": "main.go", "must_match": ["a", "b"], "must_not_match": ["c"]}]
    config = {"must_exist": ["a", "b"], "must_not_exist": ["c"], "content_patterns": patterns}
    verdict = grade_files(workspace, config)
    assert len(verdict.checks) == 7
    assert ("content_patterns", 0, "must_match", 1) in [check.path for check in verdict.checks]


def test_without_a_workspace_files_fail() -> None:
    assert result(grade("file", {"must_exist": ["a"]}, workspace=None)) == (0.0, False)


@pytest.mark.parametrize("path", ["../x", "../../etc/passwd", ".", "", "src/../..", "/etc/passwd", "a\0b"])
def test_a_path_out_of_the_workspace_is_an_error(workspace: Path, path: str) -> None:
    with refused():
        grade_files(workspace, {"must_not_exist": [path]})
    with refused():
        grade("diff", {"expected_files": [{"path": path, "contains": ["x"]}]}, workspace=workspace)


@needs_links
def test_a_link_out_of_the_workspace_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    secret = folder(tmp_path, {"secret.txt": "password"}) / "secret.txt"
    (workspace / "link.txt").symlink_to(secret)
    config = {
        "must_exist": ["link.txt"],
        "content_patterns": [{"path": "link.txt", "must_match": ["password"]}],
    }
    verdict = grade_files(workspace, config)
    assert result(verdict) == (0.0, False)
    assert "leads out of the workspace" in verdict.feedback


@needs_links
def test_a_link_inside_the_workspace_is_followed(workspace: Path) -> None:
    (workspace / "link.txt").symlink_to(workspace / "notes.txt")
    config = {"content_patterns": [{"path": "link.txt", "must_match": ["two"]}]}
    assert result(grade_files(workspace, config)) == (1.0, True)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a file that cannot be read")
def test_an_unreadable_file_fails_its_checks(workspace: Path) -> None:
    (workspace / "notes.txt").chmod(0)
    config = {"content_patterns": [{"path": "notes.txt", "must_match": ["one"]}]}
    assert result(grade_files(workspace, config)) == (0.0, False)


def test_a_huge_file_is_not_read(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waza_engine.graders.file.LARGEST_FILE_BYTES", 5)
    config = {"content_patterns": [{"path": "notes.txt", "must_match": ["one"]}]}
    assert "notes.txt cannot be read: the file is larger than" in grade_files(workspace, config).feedback


def test_a_name_that_no_file_can_have_does_not_exist(workspace: Path) -> None:
    assert result(grade_files(workspace, {"must_not_exist": ["x" * 5000]})) == (1.0, True)


def diff(workspace: Path, suite: Path, *files: dict[str, Any], **config: Any) -> Verdict:
    return grade(
        "diff", {"expected_files": list(files), **config}, workspace=workspace, suite_directory=suite
    )


def test_a_snapshot_is_compared_byte_for_byte(workspace: Path, suite: Path) -> None:
    file = {"path": "notes.txt", "snapshot": "snapshots/notes.txt"}
    verdict = diff(workspace, suite, file)
    assert result(verdict) == (0.5, False)
    assert failed_paths(verdict) == [("expected_files", 0, "snapshot")]
    for content, expected in ((b"one\ntwo\n", (1.0, True)), (b"one\r\ntwo\r\n", (0.5, False))):
        (suite / "snapshots" / "notes.txt").write_bytes(content)
        assert result(diff(workspace, suite, file)) == expected


def test_a_snapshot_in_the_fixtures_wins_over_one_beside_the_eval(workspace: Path, suite: Path) -> None:
    fixtures = folder(suite / "fixtures", {"snapshots/notes.txt": "one\ntwo\n"})
    config = {"expected_files": [{"path": "notes.txt", "snapshot": "snapshots/notes.txt"}]}
    verdict = grade("diff", config, workspace=workspace, suite_directory=suite, fixtures_directory=fixtures)
    assert result(verdict) == (1.0, True)


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        (["+one", "-three", "missing"], (0.75, False)),
        (["one", "+two"], (1.0, True)),
        (["-two"], (0.5, False)),
        (["+   one"], (1.0, True)),
        (["", "+", "-"], (1.0, True)),
        (["+-x"], (0.5, False)),
        (["ONE"], (0.5, False)),
    ],
)
def test_fragments(workspace: Path, suite: Path, fragments: list[str], expected: tuple[float, bool]) -> None:
    assert result(diff(workspace, suite, {"path": "notes.txt", "contains": fragments})) == expected


def test_a_missing_file_fails_all_its_checks(workspace: Path, suite: Path) -> None:
    verdict = diff(
        workspace, suite, {"path": "none", "snapshot": "snapshots/notes.txt", "contains": ["a", "b"]}
    )
    assert (len(verdict.checks), verdict.score) == (4, 0.0)


def test_the_folder_of_snapshots_may_be_written_from_a_folder_above(workspace: Path, suite: Path) -> None:
    (suite / "snapshots" / "notes.txt").write_bytes((workspace / "notes.txt").read_bytes())
    file, written = {"path": "notes.txt", "snapshot": "notes.txt"}, f"{suite.name}/snapshots"
    assert diff(workspace, suite, file, context_dir=written).passed
    assert not diff(workspace, suite, {**file, "snapshot": "../../x"}, context_dir=written).passed
    diff(workspace, suite, file, context_dir=written, update_snapshots=True)
    assert (suite / written / "notes.txt").is_file()


def test_update_writes_snapshots_and_counts_them(workspace: Path, suite: Path) -> None:
    files = (
        {"path": "notes.txt", "snapshot": "snapshots/notes.txt"},
        {"path": "main.go", "snapshot": "snapshots/new/main.go"},
    )
    first = diff(workspace, suite, *files, update_snapshots=True)
    assert (result(first), first.feedback) == ((1.0, True), "Snapshots: 1 updated, 1 created")
    assert (suite / "snapshots/new/main.go").read_text() == FILES["main.go"]
    assert diff(workspace, suite, *files, update_snapshots=True).feedback == "Snapshots: 2 unchanged"
    assert first.details["snapshot_updates"][0]["lines_changed"] == 1


@pytest.mark.parametrize(
    ("snapshot", "config"), [("../escaped.txt", {}), ("../../escaped.txt", {"context_dir": "snapshots"})]
)
def test_update_never_writes_outside_of_the_suite_or_context_dir(
    workspace: Path, suite: Path, snapshot: str, config: dict[str, str]
) -> None:
    file = {"path": "notes.txt", "snapshot": snapshot}
    assert result(diff(workspace, suite, file, update_snapshots=True, **config)) == (0.5, False)
    assert not (suite.parent / "escaped.txt").exists()


@pytest.mark.parametrize(
    ("type_name", "config", "words"),
    [
        ("file", None, ["nothing to check", "`must_exist`"]),
        ("file", {}, ["nothing to check", "`must_exist`"]),
        ("file", {"must_exist": []}, ["nothing to check", "`must_exist`"]),
        ("diff", {}, ["`config.expected_files` is missing"]),
        ("diff", {"expected_files": []}, ["must not be empty"]),
        ("diff", {"expected_files": [{"contains": ["a"]}]}, ["`config.expected_files[0].path` is missing"]),
        (
            "diff",
            {"expected_files": [{"path": "a"}]},
            ["`config.expected_files[0]`", "`snapshot` or `contains`"],
        ),
        ("diff", {"expected_files": [{"path": "a", "snapshot": ""}]}, ["`snapshot` or `contains`"]),
        ("diff", {"expected_files": ["a.txt"]}, ["`config.expected_files[0]` must be a block"]),
    ],
)
def test_rules_that_cannot_be_graded(type_name: str, config: dict[str, Any] | None, words: list[str]) -> None:
    with refused(*words):
        grade(type_name, config)


# --- globs in paths, an extension over upstream ---


GLOBBED = {
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
    workspace = folder(tmp_path, GLOBBED)
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
    assert result(grade("file", {**config, "globs": True}, workspace=folder(tmp_path, GLOBBED))) == expected


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


@pytest.mark.parametrize(
    "config",
    [
        {"must_not_exist": ["*.md"]},
        {"content_patterns": [{"path": "*.md", "must_match": ["fine"], "must_not_match": ["secret"]}]},
    ],
)
@needs_links
def test_nor_does_a_glob_pass_for_what_such_a_link_hides(tmp_path: Path, config: dict[str, Any]) -> None:
    workspace = folder(tmp_path / "workspace", {"a.md" if "content_patterns" in config else "a.txt": "fine"})
    (tmp_path / "secret.md").write_text("secret")
    (workspace / "link.md").symlink_to(tmp_path / "secret.md")
    verdict = grade("file", config | {"globs": True}, workspace=workspace)
    assert (verdict.passed, "link.md" in verdict.feedback) == (False, True)


@pytest.mark.parametrize("path", ["../*.md", "/etc/*"])
def test_a_glob_stays_in_the_workspace(tmp_path: Path, path: str) -> None:
    with pytest.raises(GraderError):
        grade("file", {"must_exist": [path]}, workspace=tmp_path)


@given(st.text("ab*?{},./[]", max_size=12))
def test_any_text_is_a_pattern_that_can_be_searched(text: str) -> None:
    matching_paths(Path(__file__).parent / "nothing", text)
    assert is_glob(text) or not {"*", "?"} & set(text)


# --- bytes that are no UTF-8 ---


CUT = b"\xe2\x82"
"""The first two bytes of a character of three."""


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        ("file", {"content_patterns": [{"path": "a.txt", "must_match": ["^x\ufffd\ufffdy$"]}]}),
        ("diff", {"expected_files": [{"path": "a.txt", "contains": ["+x\ufffd\ufffdy"]}]}),
    ],
)
def test_every_byte_that_is_no_utf_8_is_one_character(
    tmp_path: Path, type_: str, config: dict[str, Any]
) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" + CUT + b"y")
    verdict = grade(type_, config, workspace=tmp_path)
    assert verdict.passed, verdict.feedback


# --- line ends of Windows ---


CRLF = "first\r\nsecond\r\n"


@pytest.mark.parametrize(
    ("type_name", "config"),
    [
        ("text", {"contains": ["First\nsecond"]}),
        ("text", {"contains_cs": ["first\nsecond"]}),
        ("text", {"regex_match": ["(?m)^first$"]}),
        ("keyword", {"keywords": ["first\nsecond"]}),
        ("regex", {"must_match": ["first\\nsecond"]}),
    ],
)
def test_an_answer_with_crlf_is_named(type_name: str, config: dict[str, Any]) -> None:
    assert "CRLF" in grade(type_name, config, output=CRLF).feedback
    assert grade(type_name, config, output=CRLF.replace("\r", "")).passed
    assert "CRLF" not in grade(type_name, config, output="third\r\n").feedback


def test_what_is_expected_of_an_answer_names_them_too() -> None:
    (verdict,) = expectations(Expected(output_contains=("first\nsecond",)), CRLF)
    assert "CRLF" in verdict.feedback


@pytest.mark.parametrize(
    ("snapshot", "written", "said"),
    [
        ("a\nb\n", "a\r\nb\r\n", "in its line ends only: CRLF instead of LF"),
        ("a\r\nb\r\n", "a\nb\n", "in its line ends only: LF instead of CRLF"),
        ("a\nb\n", "a\r\nc\r\n", "differs from the snapshot b.txt"),
    ],
)
def test_a_snapshot_that_differs_in_them_alone_says_so(
    tmp_path: Path, snapshot: str, written: str, said: str
) -> None:
    folder(tmp_path, {"w/a.txt": written, "b.txt": snapshot})
    config = {"expected_files": [{"path": "a.txt", "snapshot": "b.txt"}]}
    verdict = grade("diff", config, workspace=tmp_path / "w", suite_directory=tmp_path)
    assert verdict.feedback.endswith(said)


def test_a_fragment_of_two_lines_names_them(tmp_path: Path) -> None:
    folder(tmp_path, {"a.txt": CRLF})
    config = {"expected_files": [{"path": "a.txt", "contains": ["first\nsecond"]}]}
    assert "CRLF" in grade("diff", config, workspace=tmp_path, suite_directory=tmp_path).feedback
