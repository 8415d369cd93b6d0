"""Errors in a suite file: one sentence for its author, with the file and the line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from waza_engine.files import printable


class SuiteFileError(Exception):
    """A file that cannot be used. ``message`` is one sentence without path and line.

    ``line`` counts from 1; 0 means the file as a whole. ``location`` are the keys and positions that lead to
    the error, if known.
    """

    def __init__(self, path: Path, line: int, message: str, location: tuple[str | int, ...] = ()) -> None:
        super().__init__(f"{printable(path)}:{line}: {message}" if line else f"{printable(path)}: {message}")
        self.path = path
        self.line = line
        self.message = message
        self.location = location

    def beside(self, name: object) -> str:
        """Return the message with another name for the file."""
        return f"{name}, line {self.line}: {self.message}" if self.line else f"{name}: {self.message}"


@dataclass(frozen=True, slots=True)
class SuiteFileWarning:
    """Something in a suite file that has no effect. ``line`` counts from 1."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{printable(self.path)}:{self.line}: {self.message}"
