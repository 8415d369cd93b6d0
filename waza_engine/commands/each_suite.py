"""A command for each of several suites: a heading and a row each, one JSON object, the worst exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.table import Table

from waza_engine.commands.conclusion_text import MARKS, describe_verdict
from waza_engine.commands.printer import Part, Printer
from waza_engine.counting import counted
from waza_engine.early_interruption import INTERRUPTED
from waza_engine.number_formats import format_score
from waza_engine.results.conclusion import EXIT_CODES, WORST_LAST, conclude
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.results.reports.descriptions import dollars
from waza_engine.results.result_file_names import file_segment
from waza_engine.results.writing.store import ResultsError
from waza_engine.runs.loading.discovery import eval_files_of, suites_in
from waza_engine.runs.loading.suite_on_disk import NothingAffectedError, SuiteError
from waza_engine.runs.run import RunReport
from waza_engine.spec.problems import SuiteFileError
from waza_engine.terminal import complain, json_text, say_document

UNUSABLE = (RecordingError, ResultsError, SuiteFileError, SuiteError)
"""Errors that say why a command cannot be executed for a suite or a record."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command for one suite: its exit code, and the cells of its row in the table."""

    code: int
    row: Sequence[Part] = ()


def for_each_suite(
    paths: Iterable[Path],
    command: Callable[[Path], Ended],
    columns: Sequence[str],
    *,
    as_json: bool,
    failed: int = 2,
    heading: Callable[[str], None] | None = None,
) -> int:
    """Execute ``command`` for the suite, or the record, of each path, and return the worst exit code.

    A directory with several suites below it means all of them, a name that is no path the suites that test
    this skill. ``columns`` are the headings of the rows. ``failed`` is the exit code when a suite or a record
    cannot be used: one among several does not keep the others from being shown.
    """
    try:
        selected = selected_paths(paths)
    except SuiteError as error:
        complain(str(error))
        return failed
    commands = {os.path.relpath(path): partial(command, path) for path in selected}
    return for_each(commands, columns, as_json=as_json, failed=failed, heading=heading)


def for_each(
    commands: Mapping[str, Callable[[], Ended]],
    columns: Sequence[str],
    *,
    as_json: bool,
    failed: int = 2,
    worst_last: Sequence[int] = WORST_LAST,
    heading: Callable[[str], None] | None = None,
) -> int:
    """Execute commands by the path of their suite; ``heading`` prints the heading of each of several.

    A command prints one JSON document, or none when it raises one of the ``UNUSABLE``. An interrupted one is
    the last.
    """
    several = len(commands) > 1
    ended: dict[str, Ended] = {}
    for number, (name, command) in enumerate(commands.items()):
        if several and as_json:
            say_document(b"," if number else b'{"suites": [\n')
        elif several:
            (heading or _print_heading)(name)
        try:
            ended[name] = command()
        except UNUSABLE as error:
            sentences = error.sentences if isinstance(error, SuiteError) else (str(error),)
            for sentence in sentences:
                complain(sentence)
            ended[name] = Ended(failed, [("– not possible", "dim")])
            if several and as_json:
                say_document(json_text({"path": name, "error": " ".join(sentences)}).encode())
        if ended[name].code == INTERRUPTED:
            if several and as_json:
                say_document(json_text({"path": name, "error": "interrupted"}).encode())
            break
    if several and as_json:
        say_document(b"]}\n")
    elif several and columns:
        _print_table(commands, ended, columns)
    return max((each.code for each in ended.values()), key=worst_last.index)


def try_writing(write: Callable[[], object]) -> bool:
    """Write something; return whether it is written, and print why it is not."""
    try:
        write()
    except ResultsError as error:
        complain(str(error))
        return False
    return True


def selected_paths(paths: Iterable[Path]) -> list[Path]:
    """Return the paths; directories with several suites and names of skills are replaced by eval files.

    Each file is returned once. Raises ``SuiteError`` for a name that is neither a path nor a skill.
    """
    found: dict[str, Path] = {}
    listed = list(paths)
    for path in listed:
        for each in _selected(path, is_alone=len(listed) == 1):
            found.setdefault(os.path.realpath(each), each)
    return list(found.values())


def are_several(paths: Iterable[Path]) -> bool:
    """Return whether the paths select several suites."""
    try:
        return len(selected_paths(paths)) > 1
    except SuiteError:
        return False


def first_set_option(options: Mapping[str, object]) -> str:
    """Return the first option that has a value, "" when there is none."""
    return next((option for option, value in options.items() if value is not None), "")


def file_for_suite(file: Path, suite: Path | None) -> Path:
    """Return the name of a file for one of several suites: ``out.json`` becomes ``out_evals_deploy.json``."""
    if suite is None:
        return file
    directory = "_".join(Path(os.path.relpath(suite.parent)).parts)
    return file.with_name(f"{file.stem}_{file_segment(directory)}{file.suffix}")


def _selected(path: Path, *, is_alone: bool) -> Sequence[Path]:
    if path.is_dir():
        found = suites_in(path)
        return found if len(found) > 1 or (found and not is_alone) else [path]
    is_name = len(path.parts) == 1 and not path.suffix and not path.exists()
    return eval_files_of([path]) if is_name else [path]


def _print_heading(name: str) -> None:
    Printer().line((f"── {name}", "bold"))


def _print_table(names: Iterable[str], ended: Mapping[str, Ended], columns: Sequence[str]) -> None:
    printer = Printer()
    table = Table(box=None, pad_edge=False)
    for column in ("suite", *columns):
        table.add_column(column)
    printer.line()
    rows = ((name, *(ended[name].row if name in ended else [("– not reached", "dim")])) for name in names)
    printer.table(table, ([*row, *[""] * (len(columns) + 1 - len(row))] for row in rows))


@dataclass(frozen=True, slots=True)
class RefusedSuite:
    """A suite that was not run, and why."""

    eval_file: Path
    error: Exception

    @property
    def exit_code(self) -> int:
        """The exit code of the suite."""
        return EXIT_CODES["broken" if self.is_broken else "passed"]

    @property
    def sentences(self) -> Sequence[str]:
        """The reasons, for a person."""
        return self.error.sentences if isinstance(self.error, SuiteError) else (str(self.error),)

    @property
    def is_broken(self) -> bool:
        """Return whether the suite is at fault: one without affected tasks is not."""
        return not isinstance(self.error, NothingAffectedError)


def summarize_suites(
    printer: Printer,
    found: Sequence[tuple[Path, RunReport]],
    refused: Collection[RefusedSuite],
    eval_files: Collection[Path],
) -> None:
    """Print a row for each of the suites, including rejected or unreached ones, and the totals."""
    table = Table(box=None, pad_edge=False)
    for heading in ("suite", "verdict", "passed"):
        table.add_column(heading)
    for heading in ("score", "cost", "time"):
        table.add_column(heading, justify="right")
    reasons = {each.eval_file: "could not run" if each.is_broken else "nothing to run" for each in refused}
    printer.line()
    printer.table(table, (row for file in eval_files for row in _rows(file, found, reasons)))
    printer.line()
    printer.line(", ".join(_totals(found, refused, len(eval_files))))


def _rows(
    eval_file: Path, found: Sequence[tuple[Path, RunReport]], reasons: Mapping[Path, str]
) -> Sequence[Sequence[Part]]:
    """Return a row for each model with which a suite was run, or one with the reason why it was not run."""
    name = os.path.relpath(eval_file)
    if rows := [_row(name, report) for file, report in found if file == eval_file]:
        return rows
    mark, _ = MARKS["not run"]
    return [(name, (f"{mark} {reasons.get(eval_file, 'not run')}", "dim"), "", "", "", "")]


def _row(name: str, report: RunReport) -> Sequence[Part]:
    outcome = report.outcome
    found, spent = conclude(outcome), outcome.spending
    cost = dollars(spent.cost.usd) if spent is not None and spent.cost.known else ""
    return (
        name,
        describe_verdict(found),
        f"{found.counts.passed} of {counted(found.counts.total, 'task')}",
        format_score(found.score) if found.scored else "",
        cost,
        f"{outcome.summary.duration_ms / 1000:.1f} s",
    )


def _totals(
    found: Sequence[tuple[Path, RunReport]], refused: Collection[RefusedSuite], count: int
) -> Iterator[str]:
    ended = {file for file, _ in found}
    passed = ended - {file for file, report in found if conclude(report.outcome).verdict != "passed"}
    yield f"{len(passed)} of {counted(count, 'suite')} passed"
    if broken := sum(each.is_broken for each in refused):
        yield f"{broken} could not run"
    if idle := sum(not each.is_broken for each in refused):
        yield f"{idle} with nothing to run"
    if missing := count - len(ended) - len(refused):
        yield f"{missing} not run"
