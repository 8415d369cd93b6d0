"""Task globs pick up what a run picks up."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.spec.reading.task_globs import GlobError, expand, matches, name_matches, segment_matcher
from waza_language_server.project.boundaries import Boundaries
from waza_language_server.project.disk import Disk
from waza_language_server.project.suites import paths_of_pattern

TREE = {
    "": [("tasks", True), ("more", True), ("a.yaml", False), ("odd[1].yaml", False)],
    "tasks": [("b.yaml", False), ("a.yaml", False), (".c.yaml", False), ("d.yml", False), ("deep", True)],
    "tasks/deep": [("e.yaml", False)],
    "more": [("f.yaml", False)],
}
SUITE = Path("/repo/suite")


def listing(folder: Path) -> list[tuple[str, bool]] | None:
    return TREE.get("" if folder == SUITE else folder.relative_to(SUITE).as_posix())


def found(pattern: str) -> list[str]:
    return [path.relative_to(SUITE).as_posix() for path in expand(SUITE, pattern, listing)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("tasks/*.yaml", ["tasks/.c.yaml", "tasks/a.yaml", "tasks/b.yaml"]),
        ("./tasks/a.yaml", ["tasks/a.yaml"]),
        ("/tasks/a.yaml", ["tasks/a.yaml"]),
        ("tasks//a.yaml", ["tasks/a.yaml"]),
        ("more/../tasks/a.yaml", ["tasks/a.yaml"]),
        ("tasks/?.y*ml", ["tasks/a.yaml", "tasks/b.yaml", "tasks/d.yml"]),
        ("tasks/[ab].yaml", ["tasks/a.yaml", "tasks/b.yaml"]),
        ("tasks/[^a].yaml", ["tasks/b.yaml"]),
        ("tasks/[!a].yaml", ["tasks/a.yaml"]),
        ("*/*.yaml", ["more/f.yaml", "tasks/.c.yaml", "tasks/a.yaml", "tasks/b.yaml"]),
        ("tasks/*.json", []),
        ("nowhere/*.yaml", []),
        ("", []),
    ],
)
def test_glob(pattern: str, expected: list[str]) -> None:
    assert found(pattern) == expected


def test_two_stars_mean_one_folder_level() -> None:
    assert found("**/e.yaml") == []
    assert found("tasks/**/e.yaml") == ["tasks/deep/e.yaml"]
    assert found("**/f.yaml") == ["more/f.yaml"]


@pytest.mark.parametrize("pattern", ["ta\0sks/*.yaml", "tasks/*\0.yaml", "*/\0", "../\0/*/a.yaml"])
def test_what_no_file_can_be_called_finds_nothing_on_the_disk(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "a.yaml").touch()
    assert expand(tmp_path, pattern) == ()
    disk = Disk(Boundaries())
    assert paths_of_pattern(disk, tmp_path, pattern).absent
    assert disk.names(tmp_path / pattern).why == "no file can have this name"


@pytest.mark.skipif(os.sep != "/", reason="a backslash separates folders on Windows")
def test_a_backslash_takes_the_meaning_off_a_bracket() -> None:
    assert found(r"odd\[1].yaml") == ["odd[1].yaml"]


@pytest.mark.parametrize("pattern", ["[", "[a", "[]", "[z-a]", "[-a]"])
def test_a_pattern_that_cannot_be_read(pattern: str) -> None:
    with pytest.raises(GlobError):
        segment_matcher(pattern)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("tasks/*.yaml", "/repo/suite/tasks/new.yaml", True),
        ("tasks/*.yaml", "/repo/suite/tasks/deep/new.yaml", False),
        ("../tasks/*.yaml", "/repo/tasks/new.yaml", True),
        ("tasks/*.yaml", "/elsewhere/tasks/new.yaml", False),
    ],
)
def test_matching_a_path_needs_no_disk(pattern: str, path: str, expected: bool) -> None:
    assert matches(SUITE, pattern, Path(path)) is expected


def test_many_stars_take_no_time() -> None:
    assert not name_matches("*a" * 120 + "b", "a" * 250)
    assert name_matches("*a" * 120 + "*", "a" * 250)


def test_a_star_stays_within_its_level_of_a_name() -> None:
    assert not name_matches("a*c", "a/c")
    assert name_matches("a/*", "a/c")


@given(
    pattern=st.from_regex(r"[ab.]{0,3}\*[ab.]{0,3}", fullmatch=True),
    name=st.from_regex(r"[ab./]{0,6}", fullmatch=True),
)
def test_one_star_stands_for_what_is_between(pattern: str, name: str) -> None:
    start, _, end = pattern.partition("*")
    wanted = re.fullmatch(re.escape(start) + "[^/]*" + re.escape(end), name) is not None
    assert name_matches(pattern, name) == wanted
