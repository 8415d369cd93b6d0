"""Values made of files, valid while the files are unchanged.

An untouched file is not even opened: its fingerprint (identity, size, times) is enough. The times of a file
system are coarse, so the fingerprint of a file that was changed just now proves nothing: its text is
compared.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from waza_engine import files
from waza_engine.files import Boundary, FileError
from waza_engine.frozen import frozen
from waza_engine.spec.reading.suite_reader import SuiteFiles, Version
from waza_engine.spec.reading.yaml_reader import MAX_BYTES


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


ValueT = TypeVar("ValueT")
# While the user types, a pattern may match no task file for a moment.
_KEPT_ROUNDS = 16


@frozen()
class _Kept:
    """``version`` is None when it cannot be trusted: then the text has to be compared."""

    version: Version | None
    text: str
    value: Any
    round: int


class FileCache:
    """Values by file. Thread-safe, though two threads may make one value twice.

    ``loads`` counts how often a value was made.
    """

    def __init__(self) -> None:
        self.loads = 0
        self._lock = threading.Lock()
        self._kept: dict[Hashable, _Kept] = {}
        self._round = 0

    def value_of(
        self,
        path: Path,
        files: SuiteFiles,
        load: Callable[[SuiteFiles], ValueT],
        *,
        key: Hashable,
        within: Boundary | None = None,
    ) -> ValueT:
        """Return the value that ``load`` built from a file's text and ``key``, its only inputs.

        ``load`` gets the files with this very text. Its errors are raised, and not cached. ``within`` is as
        for ``SuiteFiles.text_of``.
        """
        place = (path, key, within)
        version, now = files.version(path), time.time_ns()
        kept = self._kept.get(place)
        if kept is None or version is None or kept.version != version:
            try:
                text = files.text_of(path, MAX_BYTES, within=within)
            except FileError:
                # Loading reports its error.
                return load(files)
            trusted = version if version is not None and version.is_settled(now) else None
            if kept is None or kept.text != text:
                value = load(files.overlaid({path: text}))
                self.loads += 1
            else:
                value = kept.value
            kept = _Kept(trusted, text, value, self._round)
        elif kept.round == self._round:
            return cast("ValueT", kept.value)
        with self._lock:
            self._kept[place] = _Kept(kept.version, kept.text, kept.value, self._round)
        return cast("ValueT", kept.value)

    def forget_unused(self) -> None:
        """Call it after each use of the suite: values that many uses did not need are dropped."""
        with self._lock:
            oldest = self._round - _KEPT_ROUNDS
            self._kept = {place: kept for place, kept in self._kept.items() if kept.round > oldest}
            self._round += 1
