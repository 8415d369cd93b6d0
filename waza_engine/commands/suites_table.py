"""The table with which a run of several suites ends: a row for each suite."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from waza_engine.commands.conclusion_text import MARKS, verdict_part
from waza_engine.commands.printer import Part, Printer
from waza_engine.counting import counted
from waza_engine.figures import shown_score
from waza_engine.results.conclusion import EXIT_CODES, conclude
from waza_engine.runs.limits.budget import dollars
from waza_engine.runs.loading.suite import NothingAffectedError, SuiteError
from waza_engine.runs.run import RunReport


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
        verdict_part(found),
        f"{found.counts.passed} of {counted(found.counts.total, 'task')}",
        shown_score(found.score) if found.scored else "",
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
