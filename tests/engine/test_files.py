"""Reading a file ends, whatever lies at the path, and says in words why there is nothing to read."""

import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from waza_engine.files import (
    Boundary,
    FileError,
    copy_file,
    from_home,
    is_named,
    opened_to_append,
    printable,
    read_beginning,
    read_bytes,
    read_text,
    special_names,
    write_bytes,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes pipes and links")

MIB = 1024 * 1024


def pipe(place: Path) -> None:
    os.mkfifo(place)


def listening(place: Path) -> None:
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(place.parent)  # the path of a socket must be short
    try:
        server.bind(place.name)
    finally:
        os.chdir(here)
        server.close()


def link_to(target: str) -> Callable[[Path], None]:
    return lambda place: place.symlink_to(target)


THINGS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "nothing": (lambda place: None, "missing", "the file does not exist"),
    "a folder": (Path.mkdir, "directory", "this is a directory, not a file"),
    "a pipe": (pipe, "special", "this is a pipe, not a file"),
    "a socket": (listening, "special", "this is a socket, not a file"),
    "a link to a device": (link_to("/dev/zero"), "special", "this is a device, not a file"),
    "a link to nothing": (link_to("nowhere"), "missing", "this is a link to a file that does not exist"),
    "a link to itself": (link_to("file"), "unreadable", "this is a link that leads to itself"),
    "a file below a file": (lambda place: place.parent.rmdir(), "missing", "the file does not exist"),
    "too much": (lambda place: place.write_bytes(b"x" * (MIB + 1)), "too large", "is larger than 1 MiB"),
    "not UTF-8": (lambda place: place.write_bytes(b"a\n\xff"), "not UTF-8", "the file is not UTF-8 text"),
    "binary": (lambda place: place.write_bytes(b"a\n\0"), "binary", "the file is binary, not text"),
}


@pytest.mark.parametrize("what", THINGS)
def test_what_is_no_text_says_why(tmp_path: Path, what: str) -> None:
    make, kind, why = THINGS[what]
    place = tmp_path / "folder" / "file"
    place.parent.mkdir()
    make(place)
    with pytest.raises(FileError) as caught:
        read_text(place, MIB)
    assert caught.value.kind == kind
    assert why in str(caught.value)
    assert caught.value.line == (2 if what in {"not UTF-8", "binary"} else 0)


def test_a_link_to_a_pipe_of_this_very_process_is_not_waited_for(tmp_path: Path) -> None:
    read, write = os.pipe()
    try:
        (tmp_path / "link").symlink_to(f"/proc/self/fd/{read}")
        with pytest.raises(FileError, match=r"pipe|does not exist"):
            read_bytes(tmp_path / "link", MIB)
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_a_file_of_the_kernel_has_content_and_a_limit_though_its_size_is_0() -> None:
    assert read_bytes(Path("/proc/self/status"), MIB).startswith(b"Name:")
    with pytest.raises(FileError, match="is larger than"):
        read_bytes(Path("/proc/self/status"), 10)


def test_a_name_that_no_file_can_have_is_missing() -> None:
    for name in ("a\0b", "a" * 10_000, "\ud800"):
        with pytest.raises(FileError):
            read_bytes(Path(name), MIB)


def test_as_much_as_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(tmp_path / "file", 5) == b"12345"
    assert read_beginning(tmp_path / "file", 2) == b"12"
    assert read_beginning(tmp_path / "file", 9) == b"12345"


def test_links_end_at_the_boundary(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "shared").mkdir(parents=True)
    (root / "shared" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    (root / "in").symlink_to("shared")
    (root / "out").symlink_to("..")
    (tmp_path / "opened").symlink_to("root")
    within = Boundary.around(tmp_path / "opened", name="the workspace")
    assert read_text(root / "in" / "file", MIB, within=within) == "inside"
    assert read_text(tmp_path / "opened" / "in" / "file", MIB, within=within) == "inside"
    with pytest.raises(FileError, match="a link leads out of the workspace"):
        read_text(root / "out" / "secret", MIB, within=within)
    assert not within.holds(tmp_path / "root beside")


def test_nothing_but_a_file_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="pipe"):
        write_bytes(tmp_path / "pipe", b"x")
    with pytest.raises(FileError, match="pipe"):
        opened_to_append(tmp_path / "pipe")
    write_bytes(tmp_path / "new", b"long")
    write_bytes(tmp_path / "new", b"x")
    with opened_to_append(tmp_path / "new") as file:
        file.write(b"y")
    assert (tmp_path / "new").read_bytes() == b"xy"


def test_a_copied_folder_lacks_what_is_no_file(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    os.mkfifo(source / "pipe")
    (source / "program").write_text("#!/bin/sh\n")
    (source / "program").chmod(0o755)
    shutil.copytree(source, target, ignore=special_names, copy_function=copy_file)
    assert [place.name for place in target.iterdir()] == ["program"]
    assert os.access(target / "program", os.X_OK)


def test_a_name_counts_unless_it_is_a_folders(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "linked").symlink_to(".")
    named = [name for name in ("pipe", "dangling", "linked", "none", ".") if is_named(tmp_path / name)]
    assert named == ["pipe", "dangling"]


def test_a_name_that_is_no_utf_8_is_shown_as_text() -> None:
    assert printable(os.fsdecode(b"caf\xe9.yaml")) == "caf\ufffd.yaml"
    assert printable(Path("café.yaml")) == "café.yaml"


def test_a_path_starts_at_home_where_that_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert from_home("~/skills") == tmp_path / "skills"
    assert from_home("skills/~") == Path("skills/~")
    assert from_home("~nobody-of-this-name/skills") == Path("~nobody-of-this-name/skills")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "eval.yaml"
    path.write_bytes("name: demo\n".encode(encoding))
    with pytest.raises(FileError, match="the file is UTF-16 text; save it as UTF-8"):
        read_text(path, 1_000)
