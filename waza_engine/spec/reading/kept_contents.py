"""A cache of agents' files, valid while they are unchanged: editing a grader reads none again."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from pathlib import Path

from waza_engine.files import read_bytes
from waza_engine.spec.reading.suite_files import DISK, Version

LONGEST_KEPT = 100_000
"""Bytes of a file that is kept."""
MOST_KEPT = 20_000_000
"""Bytes of all of them together."""


class KeptContents:
    """Contents by the fingerprint of their file, checked once until ``look_again``. Thread-safe.

    ``size`` counts the cached bytes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[Version, bytes]] = {}
        self.size = 0
        self._stamps: dict[Path, Version | None] = {}
        self._looked_ns = 0

    def look_again(self) -> None:
        """Check the fingerprints of files again from now on: call it before each round of grading."""
        self._stamps, self._looked_ns = {}, time.time_ns()

    def version(self, place: Path) -> Version | None:
        """Return the fingerprint of a file, None without a file."""
        stamps = self._stamps
        if place not in stamps:
            stamps[place] = DISK.version(place)
        return stamps[place]

    def is_settled(self, version: Version | None) -> bool:
        """Return whether a later change of a file is sure to change its fingerprint."""
        return version is None or version.is_settled(self._looked_ns)

    def read(self, place: Path, limit: int) -> bytes:
        """Return the content of a file as ``read_bytes`` does. Raises ``FileError``."""
        # Take the fingerprint first: a write in the meantime changes it.
        version = self.version(place)
        known = self._kept.get(place)
        if known is not None and known[0] == version and len(known[1]) <= limit:
            return known[1]
        content = read_bytes(place, limit)
        if version is not None and self.is_settled(version) and len(content) <= LONGEST_KEPT:
            self._keep(place, version, content)
        return content

    def _keep(self, place: Path, version: Version, content: bytes) -> None:
        with self._lock:
            left = self._kept.pop(place, None)
            self.size += len(content) - (len(left[1]) if left is not None else 0)
            if self.size > MOST_KEPT:
                self._kept.clear()
                self.size = len(content)
            self._kept[place] = version, content


current_contents: ContextVar[KeptContents | None] = ContextVar("current_contents", default=None)
"""The contents of a session that grades repeatedly; None where a trial is graded once."""
