"""The terminal commands: ``check`` prints what an editor would underline, ``show`` draws it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waza_language_server.check import Finding, check_paths

application = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="The language server of waza evaluation suites. Without a command it serves an editor "
    "on standard input and output; --tcp PORT serves one on that port instead.",
)


class Format(StrEnum):
    """How findings are printed."""

    text = "text"
    json = "json"


@application.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders to search for suite files.")],
    output: Annotated[Format, typer.Option("--format", help="For people or for programs.")] = Format.text,
) -> None:
    """Print the problems of suite files; exit with 1 when there is an error, with 2 on bad use."""
    missing = [path for path in paths if not path.exists()]
    for path in missing:
        typer.echo(f"{path} does not exist.", err=True)
    findings: list[Finding] = []
    files = 0
    for report in check_paths([path for path in paths if path not in missing]):
        if report.note:
            typer.echo(f"{report.path}: {report.note}", err=True)
            continue
        files += 1
        findings += report.findings
        if output is Format.text:
            for line in _lines(report.findings):
                typer.echo(line)
    if output is Format.json:
        typer.echo(json.dumps([finding.to_json() for finding in findings], indent=2, ensure_ascii=False))
    else:
        typer.echo(_summary(findings, files))
    if missing:
        raise typer.Exit(2)
    raise typer.Exit(any(finding.severity == "error" for finding in findings))


@application.command()
def show(
    file: Annotated[Path, typer.Argument(help="A file of a suite.")],
) -> None:
    """Print a file as an editor would show it: problems with carets, lenses above, scores at line ends."""
    from waza_language_server.show import show_file

    drawn = show_file(file)
    if drawn is None:
        typer.echo(f"{file} is not a readable file of a suite.", err=True)
        raise typer.Exit(2)
    typer.echo(drawn, nl=False)


def _lines(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in findings:
        place = f"{finding.path}:{finding.start[0] + 1}:{finding.start[1] + 1}"
        message = finding.message.replace("\n", "\n    ")
        yield f"{place}: {finding.severity}[{finding.code}] {message}"


def _summary(findings: list[Finding], files: int) -> str:
    counts = Counter(finding.severity for finding in findings)
    parts = [_counted(counts[severity], severity) for severity in ("error", "warning", "information", "hint")]
    found = ", ".join(part for part in parts if part) or "no problems"
    return f"{files} {'file' if files == 1 else 'files'} checked: {found}"


def _counted(count: int, severity: str) -> str:
    if count == 0:
        return ""
    plural = "" if count == 1 or severity == "information" else "s"
    return f"{count} {severity}{plural}"


def _utf_8_output() -> None:
    """Let a terminal or pipe with a narrow encoding show what it can instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


_utf_8_output()
