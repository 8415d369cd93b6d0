"""What is asked of a folder; while the disk is held still each folder and link is looked at once."""

import os
import time
from pathlib import Path

import pytest

from tests.server.project.files import put
from waza_language_server.project import disk as disk_module
from waza_language_server.project.boundaries import Boundaries, Links
from waza_language_server.project.disk import Disk, Stamp


def test_links_lead_where_the_system_says(tmp_path: Path) -> None:
    put(tmp_path, "real/below/file.yaml", "")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "up").symlink_to("..")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nowhere")
    links = Links()
    links.known = {}
    for path in (
        "real/below/file.yaml",
        "link/below/file.yaml",
        "link/up/link/below",
        "link/../real",
        "link/./below",
        "link/below/",
        "loop/x/y",
        "gone/x",
        "missing/x",
        "",
    ):
        place = f"{tmp_path}/{path}"
        assert links.resolved(place) == os.path.realpath(place), path
    assert links.resolved("relative/x") == os.path.realpath("relative/x")
    with pytest.raises(ValueError, match="null"):
        links.resolved("/x\0y")


def test_a_link_that_is_changed_is_followed_anew_by_the_next_question(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    put(inside, "real/file.yaml", "")
    put(outside, "file.yaml", "")
    link = inside / "link"
    link.symlink_to(inside / "real")
    held = Disk(Boundaries([inside]))
    boundary = held.boundaries.around(inside)
    with held.cached_lookups():
        assert boundary.holds(link / "file.yaml")
    link.unlink()
    link.symlink_to(outside)
    assert not boundary.holds(link / "file.yaml")
    with held.cached_lookups():
        assert not boundary.holds(link / "file.yaml")
        # What is opened is looked at anew, whatever is remembered.
        link.unlink()
        link.symlink_to(inside / "real")
        assert held.text(link / "file.yaml").known


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


def test_a_change_with_the_same_stamp_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
