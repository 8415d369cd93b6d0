"""One boundary: what it holds, which paths are refused as text, and that no tree of links leads out of it."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waza_engine.boundary import (
    Boundary,
    FileError,
    is_foreign,
    note_open_folders,
    path_in_repository,
    resolve_suite_path,
    suite_boundary,
)
from waza_engine.files import (
    create_file,
    make_folder,
    names_in,
    opened_to_append,
    read_bytes,
    remove_file,
    write_atomically,
    write_bytes,
)
from waza_engine.scaffold.workflow import new_workflow


@pytest.mark.parametrize(
    "written",
    [
        r"\\host\share\x",
        "//host/share/x",
        r"\\.\pipe\x",
        r"\\?\C:\x",
        r"\\?\UNC\host\share",
        r"\??\C:\x",
        r"/\host\share",
        "NUL",
        "con",
        "fixtures/COM1",
        "fixtures\\aux",
    ],
)
def test_shares_and_devices_are_known_by_their_text(tmp_path: Path, written: str) -> None:
    assert is_foreign(written)
    with pytest.raises(FileError, match="network share or a device"):
        resolve_suite_path(tmp_path, written, "context_dir", lambda _: pytest.fail("it was looked at"))


@pytest.mark.parametrize("written", ["a/b", "../a", "/a/b", "con/a", "null", "console.yaml", "a//b", "."])
def test_other_paths_are_not(written: str) -> None:
    assert not is_foreign(written)


def test_it_is_the_outermost_repository(tmp_path: Path) -> None:
    (tmp_path / "a" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b" / "evals").mkdir()
    assert suite_boundary(tmp_path / "a" / "b" / "evals").folders == (str(tmp_path / "a"),)


def test_build_services_get_the_innermost_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    project, suite = tmp_path / "project", tmp_path / "project" / "evals" / "eval.yaml"
    for folder in (tmp_path / ".git", project / ".git", suite.parent):
        folder.mkdir(parents=True)
    monkeypatch.chdir(suite.parent)
    assert path_in_repository(suite) == "evals/eval.yaml"
    assert new_workflow("gitlab", force=False) == [project / ".gitlab-ci.yml"]
    monkeypatch.chdir(tmp_path)
    # The build service has checked out the repository of the working directory, of which this is a submodule.
    assert path_in_repository(suite) == "project/evals/eval.yaml"


def test_without_a_repository_it_is_the_folder_and_that_of_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert suite_boundary(tmp_path / "a" / "b").folders == (str(tmp_path / "a" / "b"),)
    monkeypatch.chdir(tmp_path / "a")
    assert suite_boundary(tmp_path / "a" / "b").folders == (str(tmp_path / "a" / "b"), str(tmp_path / "a"))
    (tmp_path / "a" / "b" / ".git").mkdir()
    assert suite_boundary(tmp_path / "a" / "b").folders == (str(tmp_path / "a" / "b"),)


def test_in_an_editor_the_open_folders_count_in_place_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open" / "suite").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WAZA_OPEN_FOLDERS", "")
    assert suite_boundary(tmp_path / "open" / "suite").folders == (str(tmp_path / "open" / "suite"),)
    note_open_folders([tmp_path / "open"])
    assert suite_boundary(tmp_path / "open" / "suite").holds(tmp_path / "open" / "x")
    assert not suite_boundary(tmp_path / "open" / "suite").holds(tmp_path / "x")


def test_it_is_never_the_home_folder_or_one_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home" / "me"
    (home / ".git").mkdir(parents=True)
    (home / "suite").mkdir()
    (tmp_path / "home" / ".git").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(home)
    assert suite_boundary(home / "suite").folders == (str(home / "suite"),)
    assert suite_boundary(home / "suite", [home, Path(home.anchor)]).folders == (str(home / "suite"),)
    assert suite_boundary(home).folders == ()
    assert not suite_boundary(home).holds(home / ".ssh" / "id_rsa")


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("../skills/s", "; to use it, put both in one repository: run `git init` in {here}"),
        ("../../skills/s", "; to use it, put both in a folder of their own, with `git init`"),
        ("../../../../x", ""),
    ],
)
def test_a_path_near_a_suite_without_a_repository_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, advice: str
) -> None:
    suite = tmp_path / "home" / "project" / "evals"
    suite.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    with pytest.raises(FileError) as refused:
        resolve_suite_path(suite, written, "context_dir")
    assert refused.value.why.endswith(f"so it is not used{advice.format(here=suite.parent)}")
    (suite / ".git").mkdir()
    with pytest.raises(FileError, match=r"so it is not used$"):
        resolve_suite_path(suite, written, "context_dir")


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
@pytest.mark.parametrize("place", ["/", "~", "~/.."])
def test_a_folder_that_is_a_link_to_the_home_folder_or_above_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "disk" / "home").mkdir(parents=True)
    (tmp_path / "home").symlink_to(tmp_path / "disk" / "home", target_is_directory=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "suite").symlink_to(Path(place).expanduser(), target_is_directory=True)
    assert not suite_boundary(tmp_path / "suite").holds(tmp_path / "disk" / "home" / "secret")
    assert not suite_boundary(tmp_path / "a", opened=[tmp_path / "suite"]).holds(Path("/etc/passwd"))


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
def test_a_folder_that_becomes_a_link_after_the_boundary_was_asked_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "folder").mkdir(parents=True)
    outside.mkdir()
    within = Boundary.around(root, name="the root")
    resolved = Boundary.resolved

    def and_then_a_link(boundary: Boundary, path: Path) -> str:
        place = resolved(boundary, path)
        (root / "folder").rename(root / "moved")
        (root / "folder").symlink_to(outside)
        return place

    monkeypatch.setattr(Boundary, "resolved", and_then_a_link)
    with pytest.raises(OSError, match=r"directory|link"):
        write_atomically(root / "folder" / "new", [b"x"], within=within)
    assert list(outside.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
def test_a_file_that_becomes_a_link_while_it_is_opened_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "folder" / "file").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("secret")
    within = Boundary.around(root, name="the root")
    opened = os.open

    def behind_a_link(path: str, flags: int, *more: int, **named: int) -> int:
        (root / "folder").rename(root / "moved")
        (root / "folder").symlink_to(tmp_path / "outside")
        descriptor = opened(path, flags, *more, **named)
        (root / "folder").unlink()
        (root / "moved").rename(root / "folder")
        return descriptor

    monkeypatch.setattr(os, "open", behind_a_link)
    with pytest.raises(FileError, match="became another file"):
        read_bytes(root / "folder" / "file", 100, within=within)


WRITES: tuple[Callable[[Path, Boundary], object], ...] = (
    lambda path, within: write_bytes(path, b"x", within=within),
    lambda path, within: write_atomically(path, [b"y"], within=within),
    lambda path, within: opened_to_append(path, within=within).close(),
    lambda path, within: create_file(path / "new", within=within).close(),
    lambda path, within: make_folder(path / "made", within=within),
    lambda path, within: remove_file(path, within=within),
)
NAMES = st.sampled_from(["a", "b", "c", "..", "."])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
TARGETS = st.one_of(PATHS, PATHS.map(lambda path: f"../outside/{path}"), st.just("{outside}/a"))
STEPS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3)
ENTRIES = st.lists(st.tuples(STEPS, st.none() | TARGETS | st.just("file")), max_size=10)


@pytest.mark.skipif(sys.platform == "win32", reason="makes links")
@settings(max_examples=150, deadline=None)
@given(entries=ENTRIES, asked=st.lists(PATHS, min_size=1, max_size=6))
def test_no_tree_of_links_leads_out(entries: list[tuple[list[str], str | None]], asked: list[str]) -> None:
    """Folders (None), files and links at random; then every function is asked for random paths."""
    with TemporaryDirectory() as place:
        root, outside = Path(place, "root"), Path(place, "outside")
        root.mkdir()
        (outside / "a").mkdir(parents=True)
        for name in ("b", "a/b", "a/c"):
            (outside / name).write_text("secret")
        for steps, what in entries:
            made = root.joinpath(*steps)
            with suppress(OSError):
                made.parent.mkdir(parents=True, exist_ok=True)
                if what is None:
                    made.mkdir()
                elif what == "file":
                    made.write_text("mine") if not made.is_symlink() else None
                else:
                    made.symlink_to(what.replace("{outside}", str(outside)))
        # The tree itself may have been made through its own links.
        before = sorted((path.as_posix(), path.lstat().st_mtime_ns) for path in outside.rglob("*"))
        within = Boundary.around(root, name="the root")
        for path in asked:
            each = root / path
            with suppress(OSError):
                assert read_bytes(each, 100, within=within) != b"secret"
            with suppress(OSError):
                assert Path(os.path.realpath(each)).is_relative_to(root.resolve()) or not names_in(
                    each, within=within
                )
            for write in WRITES:
                with suppress(OSError):
                    write(each, within)
        after = sorted((path.as_posix(), path.lstat().st_mtime_ns) for path in outside.rglob("*"))
        assert after == before
