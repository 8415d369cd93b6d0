"""Files of a suite as an editor has them open: their text wins, and is as good or bad as that of a file."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from waza_engine.files import Boundary, FileError
from waza_engine.spec.loading import load_task_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.file_cache import FileCache
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles, Version
from waza_engine.spec.reading.task_globs import expand

LIMIT = 20
# The clock of a server may be ahead.
_STARTED = time.time_ns() + 3_600_000_000_000


def opened(path: Path, text: str) -> SuiteFiles:
    return DISK.overlaid({path: text})


def test_open_text_wins_over_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("saved")
    assert DISK.text_of(path, LIMIT) == "saved"
    assert opened(path, "typed").text_of(path, LIMIT) == "typed"
    assert opened(path, "typed").overlaid({path: "later"}).bytes_of(path, LIMIT) == b"later"
    assert opened(tmp_path / "b.md", "typed").text_of(path, LIMIT) == "saved"


def test_a_file_is_open_whatever_path_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("saved")
    (tmp_path / "link").symlink_to("real")
    files = opened(tmp_path / "link" / "a.md", "typed")
    assert files.text_of(tmp_path / "real" / "a.md", LIMIT) == "typed"
    assert files.text_of(tmp_path / "real" / ".." / "real" / "a.md", LIMIT) == "typed"


@pytest.mark.parametrize(
    "content",
    [b"x" * (LIMIT + 1), b"one\ntwo\0", b"one\n\xed\xa0\x80"],
    ids=["too long", "a NUL character", "half a pair"],
)
def test_what_cannot_be_read_in_a_file_cannot_be_read_in_open_text(tmp_path: Path, content: bytes) -> None:
    saved, path = tmp_path / "saved", tmp_path / "open"
    saved.write_bytes(content)
    with pytest.raises(FileError) as on_disk:
        DISK.text_of(saved, LIMIT)
    with pytest.raises(FileError) as in_editor:
        opened(path, content.decode("utf-8", "surrogatepass")).text_of(path, LIMIT)
    assert (in_editor.value.kind, in_editor.value.why) == (on_disk.value.kind, on_disk.value.why)
    assert in_editor.value.line == on_disk.value.line


def test_open_text_behind_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "suite", tmp_path / "secret.md"
    inside.mkdir()
    outside.write_text("saved")
    (inside / "a.md").symlink_to(outside)
    within = Boundary.around(inside, name="the suite")
    with pytest.raises(FileError, match="leads out of the suite"):
        opened(outside, "typed").text_of(inside / "a.md", LIMIT, within=within)


def test_a_file_that_was_never_saved_is_there(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "a.yaml").write_text("")
    files = opened(tmp_path / "tasks" / "b.yaml", "id: b").overlaid({tmp_path / "more" / "c.yaml": "id: c"})

    def found(pattern: str) -> list[str]:
        paths = expand(tmp_path, pattern, files.listing, has_entry=files.has_entry)
        return [path.relative_to(tmp_path).as_posix() for path in paths]

    assert found("tasks/*.yaml") == ["tasks/a.yaml", "tasks/b.yaml"]
    assert found("*/*.yaml") == ["more/c.yaml", "tasks/a.yaml", "tasks/b.yaml"]
    assert found("more/c.yaml") == ["more/c.yaml"]
    assert files.is_named(tmp_path / "more" / "c.yaml")
    assert files.is_there(tmp_path / "more" / "c.yaml")
    assert not files.is_there(tmp_path / "more" / "d.yaml")


def test_a_task_is_what_is_open_and_its_mistakes_have_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("id: a\ninputs: {prompt: Hi}\n")
    assert load_task_file(path, files=opened(path, "id: b\ninputs: {prompt: Ho}\n"))[0].id == "b"
    with pytest.raises(SuiteFileError) as error:
        load_task_file(path, files=opened(path, "id: b\ninputs: {prompt: Ho\n"))
    assert (error.value.path, error.value.line) == (path, 3)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be so late that what was written is no longer news."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3_600_000_000_000)


def loader(loads: list[str], path: Path) -> Callable[[SuiteFiles], str]:
    def load(files: SuiteFiles) -> str:
        loads.append(files.text_of(path, LIMIT))
        return loads[-1].upper()

    return load


def test_a_file_is_loaded_again_when_its_text_is_another(tmp_path: Path, later: None) -> None:
    path, cache, loads = tmp_path / "a", FileCache(), list[str]()
    path.write_text("one")

    def value(files: SuiteFiles = DISK) -> str:
        return cache.value_of(path, files, loader(loads, path), key="upper")

    assert [value(), value()] == ["ONE", "ONE"]
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    assert [value(), value(), value(opened(path, "two"))] == ["TWO", "TWO", "TWO"]
    assert [value(opened(path, "six")), value()] == ["SIX", "TWO"]
    assert loads == ["one", "two", "six", "two"]


class CoarseTimes(SuiteFiles):
    """A disk on which all that was written during a test was written at one moment."""

    def version(self, path: Path) -> Version | None:
        found = super().version(path)
        return found and replace(found, modified_ns=_STARTED, changed_ns=_STARTED)


def test_the_stamp_of_a_file_that_was_changed_just_now_is_not_trusted(tmp_path: Path) -> None:
    path, cache, loads, files = tmp_path / "a", FileCache(), list[str](), CoarseTimes()
    for text in ("one", "two", "six"):
        path.write_text(text)
        assert cache.value_of(path, files, loader(loads, path), key="upper") == text.upper()
        assert cache.value_of(path, files, loader(loads, path), key="upper") == text.upper()
    assert loads == ["one", "two", "six"]


def test_what_cannot_be_loaded_is_tried_again(tmp_path: Path) -> None:
    path, cache = tmp_path / "a", FileCache()
    for _ in range(2):
        with pytest.raises(FileError):
            cache.value_of(path, DISK, lambda files: files.text_of(path, LIMIT), key="text")
    path.write_text("there")
    assert cache.value_of(path, DISK, lambda files: files.text_of(path, LIMIT), key="text") == "there"


def test_what_is_not_asked_for_any_more_is_forgotten(tmp_path: Path) -> None:
    kept, gone, cache = tmp_path / "kept", tmp_path / "gone", FileCache()
    kept.write_text("kept")
    gone.write_text("gone")
    cache.value_of(gone, DISK, loader([], gone), key="upper")
    for _ in range(100):
        cache.value_of(kept, DISK, loader([], kept), key="upper")
        cache.forget_unused()
    assert cache.loads == 2
    cache.value_of(kept, DISK, loader([], kept), key="upper")
    assert cache.loads == 2
    cache.value_of(gone, DISK, loader([], gone), key="upper")
    assert cache.loads == 3
