"""``waza-engine preflight``: check offline for problems that would prevent a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from waza_engine.commands.each_suite import Ended, for_each_suite
from waza_engine.commands.printer import Part, Printer
from waza_engine.counting import counted
from waza_engine.masking import read_environment
from waza_engine.runs.loading.discovery import eval_file_of, foreign_eval_files
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.preflight.report import Preflight, preflight
from waza_engine.runs.settings.table import RunSettings
from waza_engine.terminal import complain, say_json

READY, NOT_READY, NOT_LOOKED_AT = 0, 1, 2
_MARKS: dict[str, Part] = {"error": ("✗", "red"), "warning": ("⚠", "yellow"), "info": ("✓", "green")}


def preflight_command(
    paths: Sequence[Path], context_directory: Path | None, output_format: str, *, strict: bool
) -> int:
    """Print the findings and return the exit code; ``output_format`` is ``human`` or ``json``."""
    read_environment()
    if context_directory is not None and not context_directory.is_dir():
        complain(f"There is no context directory {context_directory}.")
        return NOT_LOOKED_AT

    for other in foreign_eval_files(paths):
        complain(str(other))

    def inspect(path: Path) -> Ended:
        eval_file = eval_file_of(path)
        if not eval_file.is_file():
            raise SuiteError(f"There is no eval file {path}.")
        found = preflight(RunSettings(eval_file, context_directory=context_directory))
        ready = not found.fails(strict=strict)
        totals = _totals(found)
        if output_format == "json":
            say_json(found.document())
        else:
            _print(found, totals)
        mark: Part = ("✓ ready", "green") if ready else ("✗ not ready", "red")
        return Ended(READY if ready else NOT_READY, (mark, totals))

    return for_each_suite(paths, inspect, ("result", "findings"), as_json=output_format == "json")


def _print(found: Preflight, totals: str) -> None:
    printer = Printer()
    for finding in found.findings:
        printer.line(_MARKS[finding.severity], " ", (finding.code, "bold"), f"  {finding.sentence}")
    if found.findings:
        printer.line()
    printer.line(totals)


def _totals(found: Preflight) -> str:
    errors = sum(finding.severity == "error" for finding in found.findings)
    warnings = sum(finding.severity == "warning" for finding in found.findings)
    enabled = sum(bool(task["enabled"]) for task in found.tasks)
    tasks = f"{counted(enabled, 'task')}, executor {found.executor or 'unknown'}"
    return f"{tasks}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"
