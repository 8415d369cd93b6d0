"""``waza-engine bisect``: where two recorded runs of a task diverge, and what differed between them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from waza_engine.commands.printer import Printer
from waza_engine.commands.result_arguments import record_of
from waza_engine.results.codec.run_documents import commit_in
from waza_engine.results.json_values import plain
from waza_engine.results.reading.history import history_of
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.reports.bisect import bisection
from waza_engine.results.result_file_names import results_directory
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.terminal import complain, say_json
from waza_engine.vocabulary import grader_label

FOUND, NOT_COMPARED = 0, 2
_TEXT_CHARACTERS = 500


def bisect_command(eval_file: Path, task: str, results: Sequence[Path], output_format: str) -> int:
    """Print the differences of two runs of a task, by default of the last two; return the exit code."""
    try:
        old, new = _recordings(eval_file, task, results)
    except (RecordingError, SuiteError) as error:
        complain(str(error))
        return NOT_COMPARED
    found = bisection(old, new, task)
    if found is None:
        without = old if all(each.id != task for each in old.tasks) else new
        complain(f"{without.path} has no answer of a task `{task}`.")
        return NOT_COMPARED
    if output_format == "json":
        say_json(plain(found))
    else:
        _tell(found)
    return FOUND


def _recordings(eval_file: Path, task: str, results: Sequence[Path]) -> tuple[Recording, Recording]:
    if len(results) not in (0, 2):
        raise RecordingError("Name both result files, the older one first, or none: then it is the last two.")
    if not results:
        path = eval_file_of(eval_file)
        runs = [
            results_directory(path.parent) / run.file
            for run in history_of(path).runs
            if (found := run.task(task)) is not None and found.trials
        ]
        if not runs:
            _check_task(path, task)
        if len(runs) < 2:
            count = "only one run has" if runs else "no run has"
            raise RecordingError(f"{count} answers of the task `{task}`; two are compared.".capitalize())
        results = runs[-2:]
    old, new = (read_recording(record_of(path)) for path in results)
    return old, new


def _check_task(eval_file: Path, task: str) -> None:
    """Raise ``SuiteError`` if a suite has no such task; one that cannot be read may have it."""
    with suppress(SuiteFileError):
        known = [each.id for each in load_suite(eval_file, disabled=True).tasks]
        if task not in known:
            raise SuiteError(f"There is no task `{task}`; the suite has {', '.join(known) or 'none'}.")


def _tell(found: dict[str, Any]) -> None:
    printer = Printer()
    old, new = found["old"], found["new"]
    printer.line((found["task"], "bold"), f": trial {found['trial']} of both runs")
    for sign, side in (("-", old), ("+", new)):
        names = ", ".join(map(grader_label, side["not_passed"]))
        failed = f", not passed: {names}" if names else ""
        commit = commit_in(side)
        at = f"  at {commit.words}" if commit else ""
        printer.line(f"{sign} {Path(side['file']).name}{at}  {side['status']}{failed}")
    printer.line()
    parted = found["divergence"]
    if parted is None:
        printer.line("The agent said and did the same in both.")
    else:
        same = f"the first {parted['same_steps']} steps are the same; " if parted["same_steps"] else ""
        printer.line((f"{same}turn {parted['turn']} is the first that differs:".capitalize(), "bold"))
        for sign, colour, step in (("-", "red", parted["old"]), ("+", "green", parted["new"])):
            text = "nothing more" if step is None else f"{step['kind']}: {step['text'][:_TEXT_CHARACTERS]}"
            printer.lines(text, f"  {sign} ", colour)
    printer.line()
    _tell_differences(printer, found)


def _tell_differences(printer: Printer, found: dict[str, Any]) -> None:
    for each in found["differences"]:
        printer.line(f"{each['what']}: {_words(each['old'])} → {_words(each['new'])}")
    if found["files"] is None:
        printer.line(("The files cannot be compared: a run kept no record of them.", "dim"))
    for file in found["files"] or ():
        printer.line((file["path"], "bold"), f" {file['change']}")
        for line in file["lines"]:
            printer.line((f"  {line}", "green" if line.startswith("+") else "red"))
    if not found["differences"] and found["files"] == []:
        printer.line("Nothing that is recorded differs: the same files, model and executor; chance is left.")


def _words(value: object) -> str:
    """Return a setting for display: ``none`` where there is none."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, cast("Sequence[object]", value))) or "none"
    if value in (None, ""):
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
