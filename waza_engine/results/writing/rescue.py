"""Rescue the results of a run that cannot be written to their path: they were paid for."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from waza_engine.results.record import RunOutcome
from waza_engine.results.writing.attached import Attachments
from waza_engine.results.writing.store import ResultsError, encoded_run, write_atomically
from waza_engine.user_state import state_folder


def rescued_to(name: str, outcome: RunOutcome) -> str:
    """Write the results below the user's state, else in a new temporary folder; return where."""
    for folder in _folders():
        path = folder / name
        with contextlib.suppress(ResultsError):
            write_atomically(path, encoded_run(Attachments(path).of_run(outcome)))
            return f"The results are kept in {path}."
        with contextlib.suppress(OSError):
            folder.rmdir()
    return "The results are lost: nothing could be written elsewhere."


def _folders() -> Iterator[Path]:
    yield state_folder() / "results"
    with contextlib.suppress(OSError):
        yield Path(tempfile.mkdtemp(prefix="waza-results-"))
