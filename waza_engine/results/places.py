"""The names of result files. Light: readers and writers share it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

FOLDER = ".waza"
JOURNAL_SUFFIX = ".partial.jsonl"
NAME_FORMAT = "%Y%m%dT%H%M%SZ"
"""When a run began, in UTC: the beginning of the name of its result file."""
INDEX_NAME = "history.sqlite"
LONGEST_BYTES = 256 * 1024 * 1024
"""What is longer is no result file."""


def session_directory(suite_directory: Path) -> Path:
    """Return the directory of a suite's session logs, when no other is asked for."""
    return suite_directory / FOLDER / "sessions"


def results_directory(suite_directory: Path) -> Path:
    """Return the directory in which the results of a suite are kept."""
    return suite_directory / FOLDER / "results"


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


def file_segment(model: str) -> str:
    """Return the name of a model as upstream writes it into a file name."""
    return re.sub(r"[/\\: ]", "-", model)


KEPT_PREFIX = "waza-kept-"
"""How the names of workspaces begin that are to stay, in the temporary directory."""


def workspace_prefix(process: int) -> str:
    """Return how the names of the workspaces of a process begin, in the temporary directory."""
    return f"waza-{process}-"
