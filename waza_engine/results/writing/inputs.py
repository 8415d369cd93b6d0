"""Write the inputs of a run: once for all runs of the same files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import names_in, opened_to_append, remove_file
from waza_engine.results.inputs import inputs_directory
from waza_engine.results.writing.store import write_new

MOST_KEPT = 100
"""Files of inputs; the oldest go first."""


def keep_inputs(results: Path, digest: str, content: bytes) -> None:
    """Keep the inputs of the run of a result file. Raises ``ResultsError``."""
    directory = inputs_directory(results)
    within = suite_boundary(results.parents[2])
    place = directory / f"{digest}.json"
    if not write_new(place, content, within=within):
        # It is the newest again.
        with contextlib.suppress(OSError), opened_to_append(place, within=within) as file:
            os.utime(file.fileno() if os.utime in os.supports_fd else place)
    with contextlib.suppress(OSError):
        kept = [directory / name for name in names_in(directory, within=within) if name.endswith(".json")]
        kept.sort(key=lambda file: file.lstat().st_mtime, reverse=True)
        for old in kept[MOST_KEPT:]:
            remove_file(old, within=within)
