"""The result file that a command is given: itself, or the newest one of a suite."""

from __future__ import annotations

from pathlib import Path

from waza_engine.commands.command_words import command_line
from waza_engine.files import is_named
from waza_engine.results.reading.missing_results import describe_missing_results, why_newest_unread
from waza_engine.results.reading.newest_scores import newest_result_file
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.runs.loading.discovery import eval_files, only_suite, runs_as_suite
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.spec.reading.searched_folders import EVAL_NAMES

RUN_FIRST = "run it first"
"""The advice for a suite without results, outside a command line."""
_EVAL_SUFFIXES = (".yaml", ".yml")


def record_of(path: Path, *, of_prompts: bool = False, advice: str = "") -> Path:
    """Return a result file as it is; for a suite's directory or eval file that of its newest run.

    For a directory without an eval file, that is the newest run of the only suite below it or, without one,
    the newest result file in the directory. ``of_prompts`` is as for
    ``newest_result_file``; ``advice`` says what to do where there are none, else that of the command line.

    Raises ``RecordingError`` when the suite has no results.
    """
    if path.is_dir():
        found = newest_result_file(path, of_prompts=of_prompts)
        is_suite = any((path / name).is_file() for name in EVAL_NAMES)
        if not (found or is_suite):
            if below := eval_files(path):
                try:
                    path = only_suite(path, below)
                except SuiteError as error:
                    raise RecordingError(str(error)) from None
                found = newest_result_file(path.parent, eval_file=path.name, of_prompts=of_prompts)
            elif files := [file for file in path.glob("*.json") if file.is_file()]:
                return max(files, key=lambda file: (file.stat().st_mtime, file.name))
    elif path.suffix in _EVAL_SUFFIXES and not is_named(path):
        raise RecordingError(f"There is no eval file {path}.")
    elif (path.suffix in _EVAL_SUFFIXES and path.is_file()) or runs_as_suite(path):
        found = newest_result_file(path.parent, eval_file=path.name, of_prompts=of_prompts)
    else:
        return path
    directory = path if path.is_dir() else path.parent
    if found is not None and (why := why_newest_unread(found)):
        if newest_result_file(directory, of_prompts=of_prompts, readable=True) is None:
            raise RecordingError(describe_missing_results(path, directory, ""))
        # The results of an older run must not be shown as those of the newest.
        raise RecordingError(f"The newest results of {path} cannot be read, so name a result file. {why}")
    if found is None:
        advice = advice or f"run it with `{command_line('run', path)}`, or name a result file"
        raise RecordingError(describe_missing_results(path, directory, advice))
    return found
