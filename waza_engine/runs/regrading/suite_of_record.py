"""Find the suite of a record from the record's location."""

from __future__ import annotations

import os
from pathlib import Path

from waza_engine.results.places import results_directory
from waza_engine.results.reading.owners import name_now
from waza_engine.results.reading.recordings import Recording
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import EVAL_NAMES
from waza_engine.spec.reading.suite_files import SuiteFiles

_LEVELS = 6


def suite_of_record(recording: Recording, suites: ResidentSuites, files: SuiteFiles) -> Path:
    """Return the eval file that a record belongs to: next to its ``.waza``, or above it with its name.

    Raises ``SuiteError`` when there is none.
    """
    place = Path(os.path.abspath(recording.path))  # noqa: PTH100 - a linked record belongs where it lies
    names = (recording.eval_file,) if recording.eval_file else EVAL_NAMES
    eval_name = recording.header.eval_name
    for folder in place.parents[:_LEVELS]:
        # In an engine's results directory the suite may have been renamed since; elsewhere the name must
        # match.
        own = place.parent == results_directory(folder)
        for name in names:
            eval_file = folder / name
            if eval_file.is_file() and (own or _is_of_name(eval_file, eval_name, suites, files)):
                return eval_file
        renamed = _renamed(folder, recording) if own else None
        if renamed is not None:
            return renamed
    known = f" `{eval_name}`" if eval_name else ""
    raise SuiteError(f"The suite{known} of {recording.path} is not above it; name it with `--suite`.")


def _renamed(folder: Path, recording: Recording) -> Path | None:
    """Return the eval file under the name that it has now."""
    name = name_now(folder, recording.eval_file, recording.header.eval_name)
    return folder / name if name else None


def _is_of_name(eval_file: Path, name: str, suites: ResidentSuites, files: SuiteFiles) -> bool:
    try:
        return bool(name) and suites.name_of(eval_file, files) == name
    except SuiteFileError:
        return False
