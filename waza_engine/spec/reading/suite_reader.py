"""The files of a suite: the content of an open editor wins over the disk.

Code that reads suite files (eval file, tasks, datasets, trigger tests, schemas, rubrics, snapshots) reads
them through the ``SuiteFiles`` that it is given. Agents' files, records and programs are not suite files:
they are read from the disk alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Self

from waza_engine import files
from waza_engine.frozen import frozen

_COARSEST_NS = 2_000_000_000
_NEVER = (-1, -1)


@frozen()
class Version:
    """Equal as long as a file is read as the same text: an open file's text, or a file's fingerprint.

    ``changed_ns`` is when the file was changed last, according to its file system, 0 for an open file.
    """

    text: str | None
    identity: tuple[int, int] = _NEVER
    size: int = 0
    modified_ns: int = 0
    changed_ns: int = 0

    def is_settled(self, now_ns: int) -> bool:
        """Return whether a later change is sure to change the fingerprint, if it was taken at that time.

        The times of some file systems are as coarse as two seconds, and those of others may be ahead.
        """
        return self.text is not None or max(self.modified_ns, self.changed_ns) < now_ns - _COARSEST_NS


@frozen(eq=False)
class SuiteFiles:
    """The disk, with open files on top (``overlaid``).

    A file is open whatever path leads to it. Open files have the same limits as files on disk: one that is
    too long, holds a NUL character, or is not Unicode cannot be read.
    """

    _texts: Mapping[str, str] = field(default_factory=dict[str, str])
    _identities: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def overlaid(self, texts: Mapping[Path, str]) -> Self:
        """Return these files with more open files, by absolute path, replacing earlier ones."""
        added = {_plain(path): text for path, text in texts.items()}
        identities = {
            identity: text for path, text in added.items() if (identity := _identity(path)) is not None
        }
        return type(self)({**self._texts, **added}, {**self._identities, **identities})

    def bytes_of(self, path: Path, limit: int, *, within: files.Boundary | None = None) -> bytes:
        """Return the content of a file as ``files.read_bytes`` does. Raises ``FileError``."""
        text = self._open_text(path)
        if text is None:
            return files.read_bytes(path, limit, within=within)
        if within is not None:
            within.resolved(path)
        return files.checked_size(text.encode("utf-8", "surrogatepass"), limit)

    def text_of(self, path: Path, limit: int, *, within: files.Boundary | None = None) -> str:
        """Return the text of a file as ``files.read_text`` does. Raises ``FileError``."""
        return files.text_of(self.bytes_of(path, limit, within=within)).removeprefix("\ufeff")

    def is_named(self, path: Path) -> bool:
        """Return whether anything but a directory has this name."""
        return self._open_text(path) is not None or files.is_named(path)

    def is_there(self, path: Path) -> bool:
        """Return whether something exists at a path, directories included."""
        try:
            return self._open_text(path) is not None or path.exists()
        except (OSError, ValueError):
            return False

    def has_entry(self, path: Path) -> bool:
        """Return whether a directory has this entry, broken links included."""
        return os.path.lexists(path) or any(_is_at_or_below(open_path, path) for open_path in self._texts)

    def listing(self, directory: Path) -> Iterable[tuple[str, bool]] | None:
        """Return a directory's names, each with whether it is a directory; None if it does not exist."""
        found = _on_disk(directory)
        for name, is_directory in self._open_names(directory):
            found = {} if found is None else found
            found.setdefault(name, is_directory)
        return None if found is None else found.items()

    def version(self, path: Path) -> Version | None:
        """Return a version that changes with the text of a file; None when there is no file."""
        text = self._texts.get(_plain(path)) if self._texts else None
        if text is not None:
            return Version(text)
        try:
            status = os.stat(path)  # noqa: PTH116 - asked for every file of a suite at each request
        except (OSError, ValueError):
            return None
        identity = (status.st_dev, status.st_ino)
        if identity in self._identities:
            return Version(self._identities[identity])
        return Version(None, identity, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def _open_text(self, path: Path) -> str | None:
        if not self._texts:
            return None
        text = self._texts.get(_plain(path))
        identity = _identity(path) if text is None else None
        return text if identity is None else self._identities.get(identity)

    def _open_names(self, directory: Path) -> Iterator[tuple[str, bool]]:
        if not self._texts:
            return
        place = _plain(directory)
        start = place if place.endswith(os.sep) else place + os.sep
        for path in self._texts:
            if path.startswith(start):
                name, below, _ = path.removeprefix(start).partition(os.sep)
                yield name, bool(below)


DISK = SuiteFiles()
"""The files as they are on the disk."""


def _plain(path: Path | str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - links stay


def _identity(path: Path | str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - of a text as well
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _is_at_or_below(open_path: str, path: Path) -> bool:
    place = _plain(path)
    return open_path == place or open_path.startswith(place + os.sep)


def _on_disk(directory: Path) -> dict[str, bool] | None:
    try:
        with os.scandir(directory) as entries:
            return {entry.name: entry.is_dir() for entry in entries}
    except OSError:
        return None
