"""``waza-engine cache clear``: deleting the results that ``--cache`` kept."""

from __future__ import annotations

from pathlib import Path

from waza_engine.runs.passes.caching import CacheError, clear_cache, configured_directory
from waza_engine.spec.loading import load_project_config
from waza_engine.spec.problems import SuiteFileError
from waza_engine.terminal import complain, say

CLEARED, NOT_CLEARED = 0, 2


def clear_command(directory: Path | None) -> int:
    """Clear a cache, that of the current directory when none is named; return the exit code."""
    try:
        if directory is None:
            here = Path.cwd()
            directory = configured_directory(here, load_project_config(here)[0])
        count = clear_cache(directory)
    except (CacheError, SuiteFileError) as error:
        complain(str(error))
        return NOT_CLEARED
    say(f"{count} {'result' if count == 1 else 'results'} deleted from {directory}")
    return CLEARED
