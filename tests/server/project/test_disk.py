"""What is asked of a folder: what is called like a name, at the same cost however much lies there."""

from pathlib import Path

from waza_language_server.project.disk import Disk


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
