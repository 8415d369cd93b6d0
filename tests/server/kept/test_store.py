"""Where kept problems are: bounded, whole or not at all, and in the way of nobody."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from waza_language_server.kept import store

CONTENT = {"diagnostics": [{"message": "ü \udce4"}]}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    store.write(tmp_path / "a" / "b", "one", CONTENT)
    assert store.read(tmp_path / "a" / "b", "one") == CONTENT
    assert store.read(tmp_path / "a" / "b", "two") is None
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["one.problems"]


def test_what_has_not_been_used_for_a_month_goes(tmp_path: Path) -> None:
    store.write(tmp_path, "old", CONTENT)
    age(tmp_path / "old.problems", store.LONGEST_SECONDS + 60)
    store.write(tmp_path, "new", CONTENT)
    assert [path.name for path in tmp_path.iterdir()] == ["new.problems"]


def test_what_is_used_stays(tmp_path: Path) -> None:
    store.write(tmp_path, "old", CONTENT)
    age(tmp_path / "old.problems", store.LONGEST_SECONDS + 60)
    assert store.read(tmp_path, "old") == CONTENT
    store.write(tmp_path, "new", CONTENT)
    assert store.read(tmp_path, "old") == CONTENT


def test_of_too_many_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_FILES", 3)
    for number in range(5):
        store.write(tmp_path, str(number), CONTENT)
        age(tmp_path / f"{number}.problems", 100 - number)
    store.write(tmp_path, "last", CONTENT)
    assert {path.stem for path in tmp_path.iterdir()} == {"3", "4", "last"}


def test_of_too_much_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(tmp_path, "old", CONTENT)
    age(tmp_path / "old.problems", 100)
    monkeypatch.setattr(store, "MOST_BYTES", (tmp_path / "old.problems").stat().st_size + 1)
    store.write(tmp_path, "new", CONTENT)
    assert {path.stem for path in tmp_path.iterdir()} == {"new"}


def test_what_is_too_long_is_not_kept(tmp_path: Path) -> None:
    store.write(tmp_path / "cache", "long", "x" * store.LARGEST_BYTES)
    assert not (tmp_path / "cache").exists()


def test_what_a_server_left_unfinished_goes_when_it_is_old(tmp_path: Path) -> None:
    for name, seconds in (("fresh.1.new", 60), ("left.2.new", 7_200)):
        (tmp_path / name).write_text("half")
        age(tmp_path / name, seconds)
    store.write(tmp_path, "one", CONTENT)
    assert {path.name for path in tmp_path.iterdir()} == {"fresh.1.new", "one.problems"}


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    store.write(tmp_path, "one", CONTENT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="the folders of Linux")
@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({store.VARIABLE: "off"}, None),
        ({store.VARIABLE: "/somewhere/else"}, "/somewhere/else"),
        ({store.VARIABLE: "here"}, None),
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/waza-language-server/problems"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/waza-language-server/problems"),
        ({"XDG_CACHE_HOME": "", "HOME": "me"}, None),
    ],
)
def test_the_place_is_the_user_s_cache_unless_another_is_named(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str | None
) -> None:
    monkeypatch.setattr(store.sys, "platform", "linux")
    monkeypatch.delenv(store.VARIABLE)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert store.folder() == (None if expected is None else Path(expected))


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))
