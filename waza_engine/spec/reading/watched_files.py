"""The files of a suite, recording what was read: results are valid while that is unchanged."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Self

from waza_engine import files
from waza_engine.frozen import frozen
from waza_engine.spec.reading.suite_files import SuiteFiles, Version


@frozen(eq=False)
class WatchedFiles(SuiteFiles):
    """Files that record which of them were read and in which version."""

    _seen: dict[Path, Version | None] = field(default_factory=dict[Path, Version | None])
    _unsure: set[Path] = field(default_factory=set[Path])
    _digests: dict[Path, str] = field(default_factory=dict[Path, str])

    @classmethod
    def over(cls, found: SuiteFiles) -> Self:
        """Return the same files, watched from now on."""
        return cls(found._texts, found._identities)

    @property
    def looked_at(self) -> Collection[Path]:
        """Return the files that were looked up, including missing ones."""
        return self._seen.keys()

    @property
    def read(self) -> Mapping[Path, str]:
        """Return the SHA-256 of the files as they were first read; "" for missing ones."""
        gone = {path: "" for path, version in self._seen.items() if version is None}
        return {**gone, **self._digests} if gone else self._digests

    def are_as_read(self, now: SuiteFiles) -> bool:
        """Return whether everything that was read is the same now; false if unsure."""
        if self._unsure:
            return False
        return all(now.version(path) == version for path, version in self._seen.items())

    def bytes_of(self, path: Path, limit: int, *, within: files.Boundary | None = None) -> bytes:
        """Return the content of a file as ``SuiteFiles`` does. Raises ``FileError``."""
        self._look_at(path)
        content = SuiteFiles.bytes_of(self, path, limit, within=within)
        if path not in self._digests:
            self._digests[path] = hashlib.sha256(content).hexdigest()
        return content

    def is_named(self, path: Path) -> bool:
        """Return whether anything but a directory has this name."""
        self._look_at(path)
        return SuiteFiles.is_named(self, path)

    def is_there(self, path: Path) -> bool:
        """Return whether something exists at a path, directories included."""
        self._look_at(path)
        return SuiteFiles.is_there(self, path)

    def has_entry(self, path: Path) -> bool:
        """Return whether a directory has this entry, broken links included."""
        self._look_at(path)
        return SuiteFiles.has_entry(self, path)

    def listing(self, directory: Path) -> Iterable[tuple[str, bool]] | None:
        """Return a directory's names, each with whether it is a directory; None if it does not exist."""
        self._unsure.add(directory)
        return SuiteFiles.listing(self, directory)

    def _look_at(self, path: Path) -> None:
        now, version = time.time_ns(), self.version(path)
        if path in self._seen and self._seen[path] != version:
            self._unsure.add(path)
        self._seen.setdefault(path, version)
        if version is not None and not version.is_settled(now):
            self._unsure.add(path)
