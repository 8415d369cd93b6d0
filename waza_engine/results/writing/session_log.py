"""A log of an active run, one JSON object a line: the output of ``--session-log``.

Its lines are upstream's: ``timestamp``, ``type`` and ``data``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.files import create_file
from waza_engine.results.writing.store import clear_errors
from waza_engine.terminal import json_text


class SessionLog:
    """Opens the file with its first line, flushes every line, and replaces no other log.

    Every method that writes raises ``ResultsError``.
    """

    def __init__(self, directory: Path, started: datetime, *, within: Boundary | None = None) -> None:
        self._directory = directory
        self._within = within
        self._stem = f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-session"
        self._file: FileIO | None = None

    def write(self, kind: str, data: dict[str, object]) -> None:
        """Add a line; None values in the data are left out."""
        line = {
            "timestamp": datetime.now(UTC).isoformat(),
            "type": kind,
            "data": {key: value for key, value in data.items() if value is not None},
        }
        with clear_errors(self._directory):
            if self._file is None:
                self._file = self._opened()
            self._file.write(f"{json_text(line)}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with clear_errors(self._directory):
                self._file.close()
            self._file = None

    def _opened(self) -> FileIO:
        number = 1
        while True:
            name = f"{self._stem}.jsonl" if number == 1 else f"{self._stem}-{number}.jsonl"
            try:
                return create_file(self._directory / name, within=self._within)
            except FileExistsError:
                number += 1
