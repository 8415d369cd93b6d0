"""Why a suite has no results: it was never run, or what is there cannot be read."""

from __future__ import annotations

from pathlib import Path

from waza_engine.files import FileError
from waza_engine.results.places import results_directory
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.spec.reading.boundary import suite_boundary


def no_results_words(subject: Path | str, directory: Path, advice: str) -> str:
    """Return that a suite or a task has no results, with the ``advice`` what to do; else why those are no use.

    ``subject`` is how it was named, ``directory`` where the eval file of the suite lies.
    """
    why = _why_unreadable(directory)
    if why is None:
        return f"{subject} has no results yet; {advice}."
    return f"{subject} has no results that can be read. {why}"


def _why_unreadable(directory: Path) -> str | None:
    """Return what is wrong with the newest result file or with their folder, None where nothing is."""
    results = results_directory(directory)
    try:
        suite_boundary(directory).resolved(results)
    except FileError as error:
        return f"The folder {results} is not looked into: {error.why}."
    except OSError:
        return None
    if results.exists() and not results.is_dir():
        return f"{results} is a file, where a folder belongs."
    for file in result_files(directory):
        try:
            read_recording(file)
        except RecordingError as error:
            return str(error)
    return None
