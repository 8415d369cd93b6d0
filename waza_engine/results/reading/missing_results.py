"""Why a suite, a task or a folder has no results that can be read."""

from __future__ import annotations

from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import FileError, read_beginning
from waza_engine.results.reading.formats import head_of
from waza_engine.results.reading.newest_scores import newest_result_file, result_files
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.result_file_names import record_boundary, results_directory, started_by_name
from waza_engine.spec.harness_files import describe_harness_file

_FIRST_ROW_BYTES = 4_000_000


def describe_missing_results(subject: Path | str, directory: Path, advice: str) -> str:
    """Return that a suite or a task has no results, with the ``advice`` what to do; else why they are no use.

    ``subject`` is the name used for it, ``directory`` that of the suite's eval file.
    """
    if words := _words_of_rows(subject):
        return f"{subject} {words}."
    subject = "This folder" if str(subject) == "." else subject
    why = _why_unreadable(directory)
    ran = [newest_result_file(directory, of_prompts=alone) is not None for alone in (False, True)]
    if why is None and ran == [False, True]:
        return f"{subject} has results of trigger prompts alone, and none of its tasks; {advice}."
    if why is None:
        return f"{subject} has no results yet; {advice}."
    return f"{subject} has no results that can be read. {why}"


def why_newest_unread(path: Path) -> str | None:
    """Return why nothing at all can be read of a result file of ours, None when something can."""
    if started_by_name(path) is None or head_of(path) is not None:
        return None
    try:
        read_recording(path)
    except RecordingError as error:
        return str(error)
    return None


def _words_of_rows(subject: Path | str) -> str:
    try:
        path = Path(subject)
        return describe_harness_file(
            read_beginning(path, _FIRST_ROW_BYTES, within=record_boundary(path)).decode("utf-8")
        )
    except (FileError, UnicodeDecodeError):
        return ""


def _why_unreadable(directory: Path) -> str | None:
    """Return the error of the newest result file or their folder, None without one."""
    results = results_directory(directory)
    try:
        suite_boundary(directory).resolved(results)
    except FileError as error:
        return f"The folder {results} is not looked into: {error.why}."
    except OSError:
        return None
    for place in (results.parent, results):
        if place.exists() and not place.is_dir():
            return f"{place} is a file, where a folder belongs."
    try:
        next(results.iterdir(), None)
    except PermissionError:
        return f"There is no permission to look into the folder {results}."
    except OSError:
        pass
    for file in result_files(directory):
        try:
            read_recording(file)
        except RecordingError as error:
            return str(error)
    return None
