"""What a file of an agent holds is read again when the file has changed, and not before."""

import os
import time
from pathlib import Path

import pytest

from waza_engine.files import FileError
from waza_engine.spec.reading.file_cache import LONGEST_KEPT, KeptContents

LIMIT = 1_000_000
LONG_AGO_NS = time.time_ns() - 3_600_000_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "main.py"


def write(file: Path, content: bytes) -> None:
    """Write a file as one that nobody has touched for an hour, as far as its stamp can say that."""
    file.write_bytes(content)
    os.utime(file, ns=(LONG_AGO_NS, LONG_AGO_NS))


def test_a_change_is_read_with_the_next_look(file: Path) -> None:
    kept = KeptContents()
    for content in (b"one", b"other", b""):
        write(file, content)
        kept.look_again()
        assert kept.read(file, LIMIT) == content


def test_a_file_of_the_same_size_and_time_is_told_apart(file: Path) -> None:
    kept = KeptContents()
    write(file, b"one")
    kept.look_again()
    assert kept.read(file, LIMIT) == b"one"
    write(file, b"two")
    kept.look_again()
    assert kept.read(file, LIMIT) == b"two"


def test_a_file_that_is_gone_or_too_large_is_refused_as_if_nothing_were_kept(file: Path) -> None:
    kept = KeptContents()
    write(file, b"one")
    kept.look_again()
    kept.read(file, LIMIT)
    with pytest.raises(FileError):
        kept.read(file, 2)
    file.unlink()
    kept.look_again()
    with pytest.raises(FileError):
        kept.read(file, LIMIT)


def test_a_long_file_is_read_each_time(file: Path) -> None:
    kept = KeptContents()
    write(file, b"x" * (LONGEST_KEPT + 1))
    kept.look_again()
    assert len(kept.read(file, LIMIT)) == LONGEST_KEPT + 1
    assert kept.size == 0


def test_a_file_that_stays_is_read_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptContents()
    write(file, b"one")
    # Its owner and links were changed just now; later that is long ago.
    later = time.time_ns() + 3_600_000_000_000
    monkeypatch.setattr("waza_engine.spec.reading.file_cache.time.time_ns", lambda: later)
    kept.look_again()
    kept.read(file, LIMIT)
    assert kept.size == 3
    monkeypatch.setattr("waza_engine.spec.reading.file_cache.read_bytes", None)
    kept.look_again()
    assert kept.read(file, LIMIT) == b"one"
