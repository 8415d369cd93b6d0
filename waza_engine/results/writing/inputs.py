"""Writing what decided a run: once for all runs of the same files."""

from __future__ import annotations

import contextlib
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import FileError
from waza_engine.results.inputs import inputs_directory
from waza_engine.results.writing.store import clear_errors, write_new

MOST_KEPT = 100
"""Files of inputs; the oldest go first."""


def keep_inputs(results: Path, digest: str, content: bytes) -> None:
    """Keep the inputs of the run of a result file. Raises ``ResultsError``."""
    directory = inputs_directory(results)
    with clear_errors(directory):
        # What links lead to outside of the suite is not ours to write to.
        suite_boundary(results.parents[2]).resolved(directory)
    place = directory / f"{digest}.json"
    if not write_new(place, content):
        with contextlib.suppress(OSError, FileError):
            place.touch()
    with contextlib.suppress(OSError):
        kept = sorted(directory.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in kept[MOST_KEPT:]:
            old.unlink(missing_ok=True)
