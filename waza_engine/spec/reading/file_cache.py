"""A cache of values built from a suite's files, valid while their text is the same.

An untouched file is not even opened: its fingerprint (identity, size, times) is enough. The times of a file
system are coarse, so the fingerprint of a file that was changed just now proves nothing: its text is
compared.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar, cast

from waza_engine.files import Boundary, FileError
from waza_engine.frozen import frozen
from waza_engine.spec.reading.suite_files import SuiteFiles, Version
from waza_engine.spec.reading.yaml_reader import MAX_BYTES

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
