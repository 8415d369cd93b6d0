"""Convert journals of killed runs to result documents, so that every reader sees the finished tasks."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from waza_engine.boundary import suite_boundary
from waza_engine.files import remove_file
from waza_engine.results.json_values import Block, block_of
from waza_engine.results.places import JOURNAL_SUFFIX, results_directory, workspace_prefix
from waza_engine.results.reading.formats import read_document
from waza_engine.results.reading.journals import goes_on, unended_document
from waza_engine.results.record import RunOutcome
from waza_engine.results.writing.store import (
    Attachments,
    ResultsError,
    encoded,
    encoded_run,
    write_atomically,
)
from waza_engine.user_state import state_folder


def recover_journals(suite_directory: Path) -> list[Path]:
    """Write the documents of dead processes' journals, remove their workspaces, and return the paths.

    Raises ``ResultsError``.
    """
    directory = results_directory(suite_directory)
    recovered: list[Path] = []
    within = suite_boundary(suite_directory)
    if not within.holds(directory):
        # A link leads out of the suite: neither are these its journals, nor may they be removed.
        return recovered
    for journal in sorted(directory.glob(f"*{JOURNAL_SUFFIX}")):
        entry = read_document(journal)
        # Leave unreadable files alone: one may be a journal that another run is about to start.
        if entry is None or goes_on(entry):
            continue
        path = directory / f"{journal.name.removesuffix(JOURNAL_SUFFIX)}.json"
        document = unended_document(entry, "the run was interrupted")
        if (document["tasks"] or document.get("trigger_results")) and not path.exists():
            write_atomically(path, encoded(document), within=within)
            recovered.append(path)
        _remove_workspaces(entry)
        with contextlib.suppress(OSError):
            remove_file(journal, within=within)
    return recovered


def _remove_workspaces(entry: Block) -> None:
    """Remove the workspaces of a killed process, unless its number belongs to another one now."""
    process: object = block_of(entry, "process").get("pid")
    if not isinstance(process, int) or not _is_gone(process):
        return
    for place in Path(tempfile.gettempdir()).glob(f"{workspace_prefix(process)}*"):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)


def _is_gone(pid: int) -> bool:
    """Return whether there is no process of this number, or only a zombie."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


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
