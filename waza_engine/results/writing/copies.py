"""A second copy of the results, where ``paths.results`` of ``.waza.yaml`` wants one."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.results.places import file_segment
from waza_engine.results.record import RunOutcome
from waza_engine.results.writing.attached import Attachments
from waza_engine.results.writing.store import encoded_run, write_atomically


def write_copy(directory: Path, outcome: RunOutcome, *, within: Boundary) -> Path:
    """Write the results as upstream's ``--output-dir`` does, ``<UTC time>/<model>.json``; return the path.

    Raises ``ResultsError``.
    """
    header = outcome.header
    started = header.started.astimezone(UTC)
    folder = directory / f"{started:%Y-%m-%dT%H%M%S}.{started.microsecond // 1000:03}"
    path = folder / f"{file_segment(header.model or header.executor)}.json"
    kept = Attachments(path, within=within).of_run(outcome)
    write_atomically(path, encoded_run(kept), within=within)
    return path
