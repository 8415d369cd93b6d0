"""The names of result files. Light: readers and writers share it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from waza_engine.boundary import Boundary, suite_boundary
from waza_engine.masking import masked

FOLDER = ".waza"
JOURNAL_SUFFIX = ".partial.jsonl"
NAME_FORMAT = "%Y%m%dT%H%M%SZ"
"""The start of a run, in UTC: the beginning of the name of its result file."""
INDEX_NAME = "history.index"
LONGEST_BYTES = 256 * 1024 * 1024
"""Longer files are not result files."""


def session_directory(suite_directory: Path) -> Path:
    """Return the default directory of a suite's session logs."""
    return suite_directory / FOLDER / "sessions"


def run_store_directory(suite_directory: Path, run_id: str) -> Path:
    """Return the folder that the workers of a run on a cluster share while it is active."""
    return suite_directory / FOLDER / "runs" / run_id


def results_directory(suite_directory: Path) -> Path:
    """Return the directory in which the results of a suite are kept."""
    return suite_directory / FOLDER / "results"


def record_boundary(results: Path) -> Boundary | None:
    """Return the boundary of a result file among the results of a suite, None for one that a person keeps."""
    suite = results.absolute().parent.parent.parent
    return suite_boundary(suite) if results.absolute().parent == results_directory(suite) else None


def boundary_beside(results: Path) -> Boundary:
    """Return the boundary of the files next to a result file, such as its long strings."""
    return record_boundary(results) or Boundary.around(results.parent, name="the folder of the results")


def started_by_name(path: Path) -> datetime | None:
    """Return when the run of a result file of ours began, by its name; None for files of other makes."""
    stamp = path.name.split("-")[0]
    folder = path.parent
    if path.suffix != ".json" or folder != results_directory(folder.parent.parent):
        return None
    try:
        return datetime.strptime(stamp, NAME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def file_segment(name: str) -> str:
    """Return the name of a model, a task or a directory as upstream writes a model's into a file name.

    Directories are listed and uploaded like what is in them, so credentials are masked here as well.
    """
    return re.sub(r"[/\\: *]", "-", masked(name))


KEPT_PREFIX = "waza-kept-"
"""The prefix of the names of workspaces that are kept, in the temporary directory."""


def workspace_prefix(process: int) -> str:
    """Return how the names of the workspaces of a process begin, in the temporary directory."""
    return f"waza-{process}-"
