"""``waza-engine cache clear``: deleting the results that ``--cache`` kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from waza_engine.counting import counted
from waza_engine.runs.loading.discovery import eval_files
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.passes.caching import CacheError, clear_cache, configured_directory
from waza_engine.spec.loading import load_project_config
from waza_engine.spec.problems import SuiteFileError
from waza_engine.terminal import complain, say

CLEARED, NOT_CLEARED = 0, 2


def clear_command(directory: Path | None) -> int:
    """Clear a cache, by default that of the current directory; return the exit code."""
    try:
        if directory is None:
            here = Path.cwd()
            directory = _configured(here)
            if not directory.exists() and (others := list(dict.fromkeys(_below(here)))):
                raise CacheError(_elsewhere(directory, others))
        count = clear_cache(directory)
    except (CacheError, SuiteError, SuiteFileError) as error:
        complain(str(error))
        return NOT_CLEARED
    say(f"{counted(count, 'result')} deleted from {directory}")
    return CLEARED


def _below(here: Path) -> Iterator[Path]:
    """Yield the caches of the suites below a directory."""
    for file in eval_files(here):
        try:
            directory = _configured(file.parent)
        except (SuiteError, SuiteFileError):
            continue  # An error in another folder must not hide the message.
        if directory.is_dir():
            yield directory


def _configured(directory: Path) -> Path:
    return configured_directory(directory, load_project_config(directory)[0])


def _elsewhere(directory: Path, others: list[Path]) -> str:
    places = ", ".join(f"`{os.path.relpath(other)}`" for other in others)
    which = "that of the suites below is" if len(others) == 1 else "those of the suites below are"
    return (
        f"There is no cache at {directory}; {which} {places}: "
        f"write `waza-engine cache clear --cache-dir {os.path.relpath(others[0])}`."
    )
