"""What is asked of a folder: what is called like a name, at the same cost however much lies there."""

import time
from pathlib import Path

import pytest

from waza_language_server.project import disk as disk_module
from waza_language_server.project.disk import Disk, Stamp


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


def test_a_change_right_after_a_file_was_read_is_seen_though_its_stamp_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("one")
    now = time.time_ns()

    def same(_: Path) -> Stamp:
        return now, 3, 1, 1, now

    monkeypatch.setattr(disk_module, "stamp_of", same)
    disk = Disk()
    assert disk.derived(path, "text", lambda text: text.value) == "one"
    path.write_text("two")
    assert disk.derived(path, "text", lambda text: text.value) == "two"
