"""What is asked of a folder: what is called like a name, at the same cost however much lies there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from waza_language_server.project.disk import Disk
from waza_language_server.project.index import Project
from waza_language_server.project.places import found_at


def test_names_are_found_in_other_capitals_too_and_as_the_folder_is_now(tmp_path: Path) -> None:
    disk = Disk()
    (tmp_path / "Notes.md").touch()
    (tmp_path / "ETAT").mkdir()
    assert disk.alike(tmp_path, "notes.md") == (("Notes.md", False),)
    assert disk.alike(tmp_path, "Notes.md") == (("Notes.md", False),)
    assert disk.alike(tmp_path, "etat") == (("ETAT", True),)
    assert disk.alike(tmp_path, "note.md") == ()
    (tmp_path / "note.md").touch()
    assert disk.alike(tmp_path, "note.md") == (("note.md", False),)
    assert disk.alike(tmp_path / "none", "note.md") == ()


@pytest.mark.parametrize("written", ["f3.txt", "F3.txt", "missing.txt"])
def test_to_find_a_file_takes_as_many_steps_among_a_thousand_as_among_ten(
    tmp_path: Path, written: str
) -> None:
    def steps_among(count: int) -> int:
        folder = tmp_path / str(count)
        folder.mkdir()
        for number in range(count):
            (folder / f"f{number}.txt").touch()
        project = Project([folder])
        return _calls(lambda: [*found_at(project, folder, [folder], written)])

    assert steps_among(1_000) == steps_among(10)


def _calls(work: Callable[[], object]) -> int:
    """Return how many functions are called when some work is done for the second time in one moment."""
    work()
    count = 0

    def counting(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
