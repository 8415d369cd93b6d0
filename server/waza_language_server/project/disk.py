"""The files of a project as they are on disk, read once a version.

Everything is checked against the time stamps of the file system before it is believed, so nobody has to say
that a file changed; nothing here raises on what a disk may hold (no permission, a broken link, a binary, a
huge file).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from waza_language_server.project.facts import Fact

MAX_BYTES = 4_000_000
"""Larger files are not read: what they hold stays unknown."""
MAX_NAMES = 50_000
"""More names in one folder are not listed."""
MAX_KEPT = 20_000
"""Files and folders that are remembered before the memory is emptied."""

Stamp = tuple[int, int, int]
Value = TypeVar("Value")
Kept = TypeVar("Kept", covariant=True)


@dataclass(frozen=True, slots=True)
class _Remembered(Generic[Kept]):
    stamp: Stamp
    value: Kept


class Disk:
    """A memory of files and folders, shared by every view of a project."""

    def __init__(self) -> None:
        self._folders: dict[Path, _Remembered[Fact[tuple[tuple[str, bool], ...]]]] = {}
        self._derived: dict[tuple[Path, str], _Remembered[object]] = {}
        self._moment: dict[Hashable, object] | None = None

    @contextmanager
    def held_still(self) -> Generator[None]:
        """Look at each folder once: for one question that asks about the same folders many times."""
        if self._moment is not None:
            yield
            return
        self._moment = {}
        try:
            yield
        finally:
            self._moment = None

    def once(self, question: Hashable, answer: Callable[[], Value]) -> Value:
        """Return ``answer()``, from memory when the same was asked since the disk is held still."""
        moment = self._moment
        if moment is None:
            return answer()
        if question not in moment:
            if len(moment) >= MAX_KEPT:
                moment.clear()
            moment[question] = answer()
        value: Value = moment[question]  # pyright: ignore[reportAssignmentType]
        return value

    def names(self, folder: Path) -> Fact[tuple[tuple[str, bool], ...]]:
        """Return the sorted names in a folder, each with whether it is a folder itself."""
        return self.once(("names", folder), lambda: self._names(folder))

    def _names(self, folder: Path) -> Fact[tuple[tuple[str, bool], ...]]:
        stamp = stamp_of(folder)
        if isinstance(stamp, str):
            return Fact("unknown", (), stamp)
        if stamp is None:
            return Fact("absent", ())
        known = self._folders.get(folder)
        if known is None or known.stamp != stamp:
            known = _Remembered(stamp, _list(folder))
            self._trim(self._folders)
            self._folders[folder] = known
        return known.value

    def text(self, path: Path) -> Fact[str]:
        """Return the text of a file; absent when there is none, unknown when it is no text that we read."""
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return Fact("absent", "")
        except (OSError, ValueError) as error:
            return Fact("unknown", "", _reason(error))
        if len(data) > MAX_BYTES:
            return Fact("unknown", "", "the file is too large")
        if b"\0" in data:
            return Fact("unknown", "", "the file is not text")
        try:
            return Fact("known", data.decode("utf-8"))
        except UnicodeDecodeError:
            return Fact("unknown", "", "the file is not UTF-8")

    def derived(self, path: Path, purpose: str, read: Callable[[Fact[str]], Value]) -> Value:
        """Return ``read(text of the file)``, computed once for each version of the file and purpose."""
        stamp = stamp_of(path)
        if stamp is None or isinstance(stamp, str):
            return read(Fact("unknown", "", stamp) if stamp else Fact("absent", ""))
        known = self._derived.get((path, purpose))
        if known is None or known.stamp != stamp:
            fresh: object = read(self.text(path))
            known = _Remembered(stamp, fresh)
            self._trim(self._derived)
            self._derived[path, purpose] = known
        value: Value = known.value  # pyright: ignore[reportAssignmentType]
        return value

    @staticmethod
    def _trim(memory: dict[Path, Value] | dict[tuple[Path, str], Value]) -> None:
        if len(memory) >= MAX_KEPT:
            memory.clear()


def stamp_of(path: Path) -> Stamp | str | None:
    """Return what changes when the file changes, None when there is no such file, or why we cannot tell."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return _reason(error)
    return status.st_mtime_ns, status.st_size, status.st_ino


def _list(folder: Path) -> Fact[tuple[tuple[str, bool], ...]]:
    names: list[tuple[str, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append((entry.name, _is_folder(entry)))
                if len(names) > MAX_NAMES:
                    return Fact("unknown", (), "the folder holds too many files")
    except (FileNotFoundError, NotADirectoryError):
        return Fact("absent", ())
    except OSError as error:
        return Fact("unknown", (), _reason(error))
    return Fact("known", tuple(sorted(names)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _reason(error: Exception) -> str:
    if isinstance(error, PermissionError):
        return "there is no permission to read it"
    return "it cannot be read"
