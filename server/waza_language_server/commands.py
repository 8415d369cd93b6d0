"""The terminal commands: ``check`` prints diagnostics, ``show`` draws a file, ``explain`` a code."""

from __future__ import annotations

import difflib
import traceback
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waza_engine import files
from waza_engine.command_line import FAILED
from waza_engine.commands.printer import Printer
from waza_engine.counting import counted
from waza_engine.files import FileError
from waza_engine.frozen import frozen
from waza_engine.terminal import (
    complain,
    complain_lines,
    log_to_standard_error,
    say,
    say_document,
    say_json,
    say_lines,
)
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.failures import RuleFailure, failures_noted
from waza_language_server.analysis.problem import Severity
from waza_language_server.check import (
    Finding,
    check_paths,
    diagnose_with_plug_ins,
    each_file,
    large_rows,
    open_document,
    workspace_of,
)
from waza_language_server.features.actions.code_actions import fixed
from waza_language_server.features.annotated_source import Caret, Hint, Lens, annotate_source, carets_of
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.fixed_file import CHANGED, MARK, write_fixed
from waza_language_server.project.disk import MAX_BYTES, TOO_LARGE
from waza_language_server.project.suite_files import read_suites
from waza_language_server.project.workspace import Workspace
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_STYLES: Mapping[Severity, str] = {
    "error": "bold red",
    "warning": "bold yellow",
    "information": "bold blue",
    "hint": "dim",
}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}

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
    gitlab = "gitlab"
    junit = "junit"


@application.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="The files to check, or directories to search for suite files; by default this directory."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes first.")] = False,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="Print the changes of --fix, but do not apply them; exit with 1 if there are any.",
        ),
    ] = False,
    output: Annotated[Format, typer.Option("--format", help="The format of the findings.")] = Format.text,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = False,
    max_warnings: Annotated[
        int | None,
        typer.Option(
            "--max-warnings", min=0, metavar="NUMBER", help="Exit with 1 if there are more warnings."
        ),
    ] = None,
    fixes: Annotated[
        bool, typer.Option("--fixes", help="With --format json: add the fixes of each finding, as edits.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print the findings alone, without the summary.")
    ] = False,
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
    if diff:
        raise typer.Exit(FAILED if missing else _print_diff(paths, quiet=quiet))
    files: dict[Path, tuple[Finding, ...]] = {}
    incomplete = unread = 0
    repaired = _fix(paths) if fix else 0
    printer = Printer()
    for report in check_paths(paths, fixes=fixes and output is Format.json):
        if report.note:
            complain(f"{report.path}: {report.note}")
            unread += report.unread
            continue
        incomplete += bool(report.failures)
        files[report.path] = report.findings
        if output is Format.text:
            for finding in report.findings:
                _print_finding(printer, finding)
        _tell_failures(report.path, report.failures, verbose=verbose)
    findings = [finding for found in files.values() for finding in found]
    counts = Counter(finding.severity for finding in findings)
    allowed = 0 if strict else max_warnings
    too_many = allowed is not None and counts["warning"] > allowed
    if output is not Format.text:
        _print_for_programs(files, output, failing={"error", "warning"} if too_many else {"error"})
    elif not quiet:
        say(_summary(findings, len(files), incomplete, unread) + (f" ({repaired} fixed)" if repaired else ""))
    if not (files or missing or unread):
        complain(f"There is no suite file in {', '.join(map(str, paths))}, so nothing was checked.")
        raise typer.Exit(FAILED)
    if missing or incomplete or unread:
        raise typer.Exit(FAILED)
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

    drawn = show_file(file)
    if drawn is None:
        complain(why_not_shown(file))
        raise typer.Exit(FAILED)
    say_lines(drawn.text)
    if drawn.failures:
        _tell_failures(file, drawn.failures, verbose=verbose)
        raise typer.Exit(FAILED)


@application.command()
def explain(
    code: Annotated[str, typer.Argument(help="The code of a diagnostic, such as unknown-key.")],
) -> None:
    """Print what a diagnostic means, with an example and its fix."""
    from waza_engine.spelling import nearest
    from waza_language_server.analysis.codes import CODES
    from waza_language_server.diagnostics_page import section

    if code not in CODES:
        near = nearest(code, CODES)
        complain(f"There is no diagnostic {code!r}{f'; did you mean {near!r}?' if near else '.'}")
        raise typer.Exit(FAILED)
    say_lines(section(CODES[code]))


def _print_for_programs(
    files: Mapping[Path, Sequence[Finding]], output: Format, failing: Container[Severity]
) -> None:
    """Print the findings of each file in a format; findings of the ``failing`` severities fail the check."""
    from waza_language_server.check_reports import github_annotations, gitlab_report, junit_report, sarif_log

    findings = [finding for found in files.values() for finding in found]
    if output is Format.json:
        say_json([finding.to_json() for finding in findings])
    elif output is Format.sarif:
        say_json(sarif_log(findings))
    elif output is Format.gitlab:
        say_json(gitlab_report(findings))
    elif output is Format.junit:
        say_document(junit_report(files.items(), lambda finding: finding.severity in failing), "xml")
    else:
        say_document(github_annotations(findings).encode(), "commands")


def _print_diff(paths: list[Path], *, quiet: bool) -> int:
    """Print the changes of the safe fixes; return the exit code, 1 if there are any."""
    printer = Printer()
    fixed = [fixed for fixed in fix_paths(paths, write=False) if fixed.repaired]
    for file in fixed:
        for line in file.diff.splitlines():
            printer.line((line, _DIFF_STYLES.get(line[:1], "")))
    if not quiet:
        repaired = counted(sum(file.repaired for file in fixed), "problem")
        complain(f"{repaired} would be fixed in {counted(len(fixed), 'file')}.")
    return int(bool(fixed))


def _fix(paths: list[Path]) -> int:
    """Apply the safe fixes; return how many problems are gone."""
    from waza_language_server.features.actions.code_actions import not_tried

    repaired = 0
    for file in fix_paths(paths):
        repaired += file.repaired
        if file.why_not:
            complain(f"{file.path} was not fixed: {file.why_not}.")
        if file.untried:
            complain(f"{file.path}: {not_tried(file.untried)}")
    return repaired


def _start_log() -> None:
    log_to_standard_error("WARNING", "%(message)s")


def _print_finding(printer: Printer, finding: Finding) -> None:
    """Print a finding; on a terminal with colours and the line of the file in which it begins."""
    place = f"{finding.path}:{finding.start[0] + 1}:{finding.start[1] + 1}: "
    style = _STYLES[finding.severity]
    first, *others = finding.message.split("\n")
    printer.line((place, "bold"), (f"{finding.severity}[{finding.code}]", style), f" {first}")
    for line in others:
        printer.line(f"    {line}")
    if printer.is_terminal and finding.source.strip():
        _print_frame(printer, finding, style)


def _print_frame(printer: Printer, finding: Finding, style: str) -> None:
    """Print the line in which a finding begins, with carets below what it covers."""
    lines = LineIndex(finding.source)
    end = finding.end[1] if finding.end[0] == finding.start[0] else len(finding.source)
    span = Span(lines.offset(0, finding.start[1]), lines.offset(0, end))
    number = str(finding.start[0] + 1)
    source, *carets = annotate_source(finding.source, [Caret(span)]).splitlines()
    printer.line((f"{number} | ", "dim"), source)
    for row in carets:
        printer.line((f"{'':>{len(number)}} | ", "dim"), (row.rstrip(), style))


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


@frozen()
class Fixed:
    """The result for a file: how many problems were repaired, or why it was not changed.

    ``untried`` is how many fixes were not tried, ``diff`` the change as a unified diff.
    """

    path: Path
    repaired: int
    diff: str = ""
    why_not: str = ""
    untried: int = 0


def fix_paths(paths: Sequence[Path], *, write: bool = True) -> Iterator[Fixed]:
    """Apply the safe fixes to every suite file among and below the paths; yield the files that have some.

    With ``write`` false no file is changed.

    A file that cannot be read as text is skipped, and so is one that changes meanwhile. Large files of JSON
    Lines are read part by part.
    """
    workspace = workspace_of(paths)
    read_suites(workspace.project)
    for file in [file for file, _ in each_file(paths)]:
        document = open_document(workspace.project, file)
        if document is None:
            yield from _fixed_rows(file, workspace, write=write)
            continue
        _, workspace = diagnose_with_plug_ins(document, workspace)
        around = workspace.with_document(document)
        found = fixed(document, around, diagnose(document, around))
        if found.count or found.untried:
            old, new = document.text, found.document.text
            why = _replace(file, old, new) if found.count and write else ""
            yield Fixed(file, 0 if why else found.count, _diff(file, old, new), why, found.untried)


def _fixed_rows(file: Path, workspace: Workspace, *, write: bool) -> Iterator[Fixed]:
    kind = large_rows(workspace.project, file)
    if kind is None:
        return
    from waza_language_server.fix_rows import fixed_rows, write_rows

    try:
        found = fixed_rows(file.absolute(), kind, workspace)
    except FileError as error:
        yield Fixed(file, 0, why_not=error.why)
        return
    if found.count or found.untried:
        why = write_rows(file.absolute(), found.lines, workspace) if found.count and write else ""
        yield Fixed(file, 0 if why else found.count, found.diff(str(file)), why, found.untried)


def _diff(file: Path, old: str, new: str) -> str:
    before, after = ([f"{line}\n" for line in text.splitlines()] for text in (old, new))
    return "".join(difflib.unified_diff(before, after, str(file), str(file)))


def _replace(path: Path, old: str, new: str) -> str:
    """Replace the text of a file; return why that cannot be, "" when it is done."""

    def content_of(target: Path) -> list[bytes]:
        content = files.read_bytes(target, MAX_BYTES)
        mark = MARK if content.startswith(MARK.encode()) and not old.startswith(MARK) else ""
        if content != f"{mark}{old}".encode():
            raise FileError("unreadable", CHANGED)
        return [f"{mark}{new}".encode()]

    return write_fixed(path, content_of)


@frozen()
class Drawing:
    """The annotated source of a file, and the parts that are missing because of internal errors."""

    text: str
    failures: tuple[RuleFailure, ...]


def why_not_shown(path: Path) -> str:
    """Return why a file has no drawing, as a sentence."""
    project = workspace_of([path]).project
    text = project.text(path.absolute())
    if text.why == TOO_LARGE and large_rows(project, path) is not None:
        return (
            f"{path} is not shown: it has more than {MAX_BYTES:,} bytes; "
            "`waza-language-server check` reports its problems."
        )
    return f"{path} is not shown: {text.why}." if text.why else f"{path} is not a readable file of a suite."


def show_file(path: Path) -> Drawing | None:
    """Return the drawing of a file, None when it is none of ours or cannot be read."""
    workspace = workspace_of([path])
    document = open_document(workspace.project, path)
    if document is None:
        return None
    workspace = workspace.with_document(document)
    with failures_noted() as failures:
        problems, workspace = diagnose_with_plug_ins(document, workspace)
    marks = carets_of(problems)
    marks += [Lens(lens.span.start, lens.title) for lens in code_lenses(document, workspace)]
    marks += [Hint(hint.offset, hint.label) for hint in inlay_hints(document, workspace)]
    return Drawing(annotate_source(document.text, marks), tuple(failures))
