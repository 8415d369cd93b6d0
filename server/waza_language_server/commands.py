"""The terminal commands: ``check`` prints what an editor would underline, ``show`` draws it."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waza_engine.command_line import FAILED
from waza_engine.counting import counted
from waza_engine.terminal import (
    complain,
    complain_lines,
    log_to_standard_error,
    say,
    say_document,
    say_json,
    say_lines,
    visible,
)
from waza_language_server.analysis.failures import RuleFailure
from waza_language_server.check import Finding, check_paths

application = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="The language server of waza evaluation suites. Without a command, it serves an editor "
    "over standard input and output, or on a port with --tcp PORT.",
)


Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Also print the traceback of an internal error.")
]


class Format(StrEnum):
    """The output format of findings."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


@application.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="The files to check, or directories to search for suite files; by default this directory."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes first.")] = False,
    output: Annotated[Format, typer.Option("--format", help="The format of the findings.")] = Format.text,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = False,
    max_warnings: Annotated[
        int | None,
        typer.Option(
            "--max-warnings", min=0, metavar="NUMBER", help="Exit with 1 if there are more warnings."
        ),
    ] = None,
    verbose: Verbose = False,
) -> None:
    """Check suite files and print their problems; with --fix, apply the safe fixes first.

    Exit code 0: no errors. 1: errors, or too many warnings. 2: some files could not be checked, or there was
    no file to check.
    """
    paths = paths or [Path()]
    _start_log()
    missing = [path for path in paths if not path.exists()]
    for path in missing:
        complain(f"{path} does not exist.")
    paths = [path for path in paths if path not in missing]
    findings: list[Finding] = []
    files = incomplete = unread = 0
    repaired = _fix(paths) if fix else 0
    for report in check_paths(paths):
        if report.note:
            complain(f"{report.path}: {report.note}")
            unread += report.unread
            continue
        files += 1
        incomplete += bool(report.failures)
        findings += report.findings
        if output is Format.text:
            for lines in map(_lines, report.findings):
                say_lines(lines)
        _tell_failures(report.path, report.failures, verbose=verbose)
    if output is Format.json:
        say_json([finding.to_json() for finding in findings])
    elif output is not Format.text:
        _say_for_build_server(findings, output)
    else:
        say(_summary(findings, files, incomplete, unread) + (f" ({repaired} fixed)" if repaired else ""))
    if not (files or missing or unread):
        complain(f"There is no suite file in {', '.join(map(str, paths))}, so nothing was checked.")
        raise typer.Exit(FAILED)
    if missing or incomplete or unread:
        raise typer.Exit(FAILED)
    counts = Counter(finding.severity for finding in findings)
    allowed = 0 if strict else max_warnings
    too_many = allowed is not None and counts["warning"] > allowed
    raise typer.Exit(bool(counts["error"]) or too_many)


@application.command()
def show(
    file: Annotated[Path, typer.Argument(help="A file of a suite.")],
    verbose: Verbose = False,
) -> None:
    """Print a file as an editor shows it: problems with carets, code lenses, scores at line ends.

    Exit code 0: shown. 2: the file could not be shown completely.
    """
    _start_log()
    from waza_language_server.show import show_file

    drawn = show_file(file)
    if drawn is None:
        complain(f"{file} is not a readable file of a suite.")
        raise typer.Exit(FAILED)
    say_lines(drawn.text)
    if drawn.failures:
        _tell_failures(file, drawn.failures, verbose=verbose)
        raise typer.Exit(FAILED)


def _say_for_build_server(findings: list[Finding], output: Format) -> None:
    from waza_language_server.check_reports import github_annotations, sarif_log

    if output is Format.sarif:
        say_json(sarif_log(findings))
    else:
        say_document(github_annotations(findings).encode(), "commands")


def _fix(paths: list[Path]) -> int:
    """Apply the safe fixes; return how many problems are gone."""
    from waza_language_server.features.actions.code_actions import not_tried
    from waza_language_server.fix import fix_paths

    repaired = 0
    for fixed in fix_paths(paths):
        repaired += fixed.repaired
        if fixed.why_not:
            complain(f"{fixed.path} was not fixed: {fixed.why_not}.")
        if fixed.untried:
            complain(f"{fixed.path}: {not_tried(fixed.untried)}")
    return repaired


def _start_log() -> None:
    log_to_standard_error("WARNING", "%(message)s")


def _lines(finding: Finding) -> str:
    place = visible(f"{finding.path}:{finding.start[0] + 1}:{finding.start[1] + 1}")
    message = finding.message.replace("\n", "\n    ")
    return f"{place}: {finding.severity}[{finding.code}] {message}\n"


def _tell_failures(file: Path, failures: Iterable[RuleFailure], *, verbose: bool) -> None:
    """Print one sentence about what is missing because of internal errors."""
    what = ", ".join(dict.fromkeys(map(str, failures)))
    if what:
        more = "" if verbose else "; --verbose says more"
        complain(f"{file}: not everything was checked, because {what}{more}.")
    for failure in failures if verbose else ():
        complain_lines("".join(traceback.format_exception(failure.error)))


def _summary(findings: list[Finding], files: int, incomplete: int, unread: int) -> str:
    counts = Counter(finding.severity for finding in findings)
    parts = [_counted(counts[severity], severity) for severity in ("error", "warning", "information", "hint")]
    parts.append(f"{incomplete} not checked completely" if incomplete else "")
    parts.append(f"{unread} not read" if unread else "")
    found = ", ".join(part for part in parts if part) or "no problems"
    return f"{counted(files, 'file')} checked: {found}"


def _counted(count: int, severity: str) -> str:
    if count == 0:
        return ""
    plural = "" if count == 1 or severity == "information" else "s"
    return f"{count} {severity}{plural}"
