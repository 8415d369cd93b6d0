"""Checks files on disk by the rules of the editor: for the command ``check``, and so for build servers."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from waza_engine.boundary import repository_around
from waza_engine.files import FileError
from waza_engine.frozen import frozen
from waza_engine.spec.foreign_evals import foreign_eval_in, is_named_as_evals, may_be_evals
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.reading.searched_folders import EVAL_NAMES, is_environment, is_searched
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.failures import RuleFailure, failures_noted
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.check_rows import checked_parts
from waza_language_server.project.boundaries import Boundaries
from waza_language_server.project.claim import JSON_SUFFIX, SKILL_NAME, SUITE_FILE_NAMES, is_blank_text
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.suite_files import read_suites
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import VALLY_KINDS, default_catalog
from waza_language_server.text.span import Span

SUFFIXES = frozenset({".yaml", ".yml"})

Json: TypeAlias = dict[str, Any]
Fixes: TypeAlias = "Mapping[tuple[str, Span], list[Json]]"

log = logging.getLogger(__name__)


@frozen()
class Finding:
    """A problem at its place in a file. Lines and columns are 0-based; columns count UTF-16 code units."""

    path: str
    start: tuple[int, int]
    end: tuple[int, int]
    severity: Severity
    code: str
    message: str
    source: str = ""
    """The line of the file in which the problem begins."""
    fixes: tuple[Json, ...] = ()
    """Each fix that works, as its title and its edits; only if requested."""

    def to_json(self) -> Json:
        """Return the finding as ``check --format json`` prints it."""
        return {
            "path": self.path,
            "range": _range(*self.start, *self.end),
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            **({"fixes": list(self.fixes)} if self.fixes else {}),
        }


@frozen()
class Report:
    """The findings of one file. ``note`` says why it was not checked, ``unread`` that it should have been.

    ``failures`` are errors of this program: because of them there may be more problems than ``findings``.
    """

    path: Path
    findings: tuple[Finding, ...] = ()
    note: str = ""
    unread: bool = False
    failures: tuple[RuleFailure, ...] = ()


def check_paths(paths: Sequence[Path], *, fixes: bool = False) -> Iterator[Report]:
    """Yield a report for every suite file among and below the paths, and for files that cannot be checked.

    ``fixes`` requests the fixes of the findings, which takes longer: each is tried.
    """
    workspace = workspace_of(paths)
    with workspace.project.disk.cached_lookups():
        read_suites(workspace.project)
        for file, named in _with_adapters(each_file(paths), workspace.project):
            report, workspace = _check_file(workspace, file, named=named, fixes=fixes)
            if report is not None:
                yield report


def _with_adapters(files: Iterator[tuple[Path, bool]], project: Project) -> Iterator[tuple[Path, bool]]:
    """Yield files, and after those found in a folder the adapters that suites among them name."""
    seen: set[Path] = set()
    adapters: dict[Path, None] = {}
    for file, named in files:
        seen.add(_resolved(file))
        yield file, named
        # One that cannot be checked has been reported.
        with suppress(Exception):
            if not named and project.claim(file.absolute()) == "eval":
                adapters |= dict.fromkeys(project.suite(file.absolute()).named("adapter"))
    for adapter in adapters:
        if _resolved(adapter) not in seen and project.claim(adapter) == "adapter":
            yield adapter, False


def diagnose_with_plug_ins(document: Document, workspace: Workspace) -> tuple[Sequence[Problem], Workspace]:
    """Return the problems of a document and the workspace by whose grader types they were found.

    Only where a type is unknown is the engine asked, once, which ones installed plug-ins add: that takes a
    second process.
    """
    problems = diagnose(document, workspace)
    if document.kind in VALLY_KINDS or not any(each.code == "unknown-grader-type" for each in problems):
        return problems, workspace
    from waza_language_server.engine.plugin_types import installed_types

    catalog = workspace.catalog.with_types(installed_types())
    if catalog is workspace.catalog:
        return problems, workspace
    workspace = workspace.with_catalog(catalog)
    return diagnose(document, workspace), workspace


def each_file(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield the files among and below the paths, each once, and whether it is one of the paths."""
    seen: set[Path] = set()
    for path in paths:
        named = not path.is_dir()
        for file in [path] if named else files_below(path):
            resolved = _resolved(file)
            if resolved not in seen:
                seen.add(resolved)
                yield file, named


def workspace_of(paths: Iterable[Path]) -> Workspace:
    """Return the workspace in which the given paths are open, wherever links lead them.

    Their repositories are open, too: a file has the same problems by itself as among all others.
    """
    roots: dict[Path, None] = {}
    for path in paths:
        place = _resolved(path)
        if path.is_dir():
            roots[path.absolute()] = None
        elif place != path.absolute():
            roots[place.parent] = None
        repository = repository_around(path.absolute() if path.is_dir() else path.absolute().parent)
        roots |= {repository: None} if repository is not None else {}
    return Workspace(Project(roots), default_catalog())


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that may belong to a suite, in a stable order.

    Hidden folders are left out, except those where agents have their skills, and what was installed. A folder
    that was seen under another name (a link into itself, say) is not entered again, and no link is followed
    out of the folder and its repository.
    """
    boundary = Boundaries([folder.absolute()]).around(folder.absolute())
    entered: set[Path] = set()
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        resolved = _resolved(place)
        if resolved in entered:
            continue
        entered.add(resolved)
        folders: list[Path] = []
        entries = _entries(place)
        inside = None if place is folder else place.name
        if inside is not None and is_environment([entry.name for entry in entries]):
            continue
        has_rows = any(entry.suffix.lower() in ROW_SUFFIXES for entry in entries)
        for entry in entries:
            if _is_dir(entry):
                if is_searched(entry.name, inside) and (not entry.is_symlink() or boundary.holds(entry)):
                    folders.append(entry)
            elif _may_be_ours(entry, has_rows=has_rows):
                yield entry
        waiting += reversed(folders)


def _may_be_ours(path: Path, *, has_rows: bool) -> bool:
    """Return whether the content of a file has to decide; ``has_rows``: JSON Lines are in its folder."""
    suffix = path.suffix.lower()
    if suffix == JSON_SUFFIX:
        is_named = may_be_evals(path.name) or "adapter" in path.name.lower()
        # A click on a lens of prompts uses the adapters next to them.
        return is_named or has_rows or path.parent.name in ("evals", "adapters")
    return suffix in (*SUFFIXES, *ROW_SUFFIXES) or path.name == SKILL_NAME


def open_document(project: Project, path: Path) -> Document | None:
    """Return the snapshot of a file on disk, None when it is none of ours or cannot be read."""
    absolute = path.absolute()
    text = project.text(absolute)
    kind = project.claim(absolute, text.value) if text.known else None
    return None if kind is None else Document(uri_of(absolute), 0, text.value, kind)


def _empty_eval(project: Project, file: Path) -> Document | None:
    """Return the snapshot of an empty eval file, which a run refuses; None for any other file."""
    text = project.text(file.absolute())
    is_empty = file.name in EVAL_NAMES and text.known and is_blank_text(text.value)
    return Document(uri_of(file.absolute()), 0, text.value, "eval") if is_empty else None


def _check_file(
    workspace: Workspace, file: Path, *, named: bool, fixes: bool
) -> tuple[Report | None, Workspace]:
    """Return the report of a file, and the workspace for the next one."""
    project = workspace.project
    with failures_noted() as failures:
        try:
            document = open_document(project, file) or _empty_eval(project, file)
            if document is None:
                kind = large_rows(project, file)
                if kind is None:
                    return _not_checked(project, file, named=named), workspace
                findings = tuple(_findings_of_parts(file, kind, workspace, fixes=fixes))
            else:
                problems, workspace = diagnose_with_plug_ins(document, workspace)
                found: Fixes = _fixes(document, workspace, problems) if fixes else {}
                findings = tuple(_finding(file, document, problem, found) for problem in problems)
        except FileError as error:
            return Report(file, note=error.why, unread=True), workspace
        except Exception as error:  # noqa: BLE001 - reported to the user
            findings = ()
            failures.append(RuleFailure("the check", error))
    return Report(file, findings, failures=tuple(failures)), workspace


def large_rows(project: Project, file: Path) -> DocumentKind | None:
    """Return what is in a file of JSON Lines that is read part by part; None for any other file."""
    is_rows = file.suffix.lower() in ROW_SUFFIXES and not project.text(file.absolute()).known
    return project.claim(file.absolute()) if is_rows else None


def _findings_of_parts(
    file: Path, kind: DocumentKind, workspace: Workspace, *, fixes: bool
) -> Iterator[Finding]:
    for document, before, problems in checked_parts(file.absolute(), kind, workspace):
        found: Fixes = _fixes(document, workspace, problems, before) if fixes else {}
        for problem in problems:
            finding = _finding(file, document, problem, found)
            (line, column), (end_line, end_column) = finding.start, finding.end
            yield replace(finding, start=(before + line, column), end=(before + end_line, end_column))


def _fixes(document: Document, workspace: Workspace, problems: Sequence[Problem], before: int = 0) -> Fixes:
    """Return the fixes that an editor would offer, by the code and the place of their problem.

    ``before`` is how many lines of the file are before the document, which is a part of it.
    """
    from waza_language_server.features.actions.code_actions import code_actions

    found: dict[tuple[str, Span], list[Json]] = defaultdict(list)
    around = workspace.with_document(document)
    actions = code_actions(document, around, Span(0, len(document.text)), problems)
    for action in actions:
        edits = [edit for file in action.change.files for edit in file.edits]
        shown: list[Json] = []
        for edit in edits:
            line, column, end_line, end_column = document.lines.positions(edit.span)
            place = _range(before + line, column, before + end_line, end_column)
            shown.append({"range": place, "newText": edit.text})
        for problem in action.problems:
            found[problem.code, problem.span].append({"title": action.title, "edits": shown})
    return found


def _finding(file: Path, document: Document, problem: Problem, fixes: Fixes) -> Finding:
    lines = document.lines
    start, end = lines.position(problem.span.start), lines.position(problem.span.end)
    line = lines.line_span(start[0])
    return Finding(
        str(file),
        start,
        end,
        problem.severity,
        problem.code,
        problem.message,
        document.text[line.start : line.end],
        tuple(fixes.get((problem.code, problem.span), ())),
    )


def _range(line: int, column: int, end_line: int, end_column: int) -> Json:
    return {
        "start": {"line": line, "character": column},
        "end": {"line": end_line, "character": end_column},
    }


def _not_checked(project: Project, file: Path, *, named: bool) -> Report | None:
    """Return why a file was not checked; None for one that was not named and belongs to no suite."""
    text = project.text(file.absolute())
    if text.known:
        if not named:
            return None
        found = foreign_eval_in(text.value, file)
        what = f"this is {found.refusal}" if found else "not a file of a suite"
        return Report(file, note=f"{what}, so nothing was checked", unread=file.name in SUITE_FILE_NAMES)
    if named or file.name in SUITE_FILE_NAMES or (text.unknown and _belongs_to_suite(project, file)):
        return Report(file, note=text.why or "it cannot be read", unread=True)
    return None


def _belongs_to_suite(project: Project, file: Path) -> bool:
    """Return whether a file belongs to a suite or a skill by its name or place, whatever is in it."""
    if file.name == SKILL_NAME or is_named_as_evals(file.name):
        return True
    return project.claim(file.absolute(), "") is not None


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        log.warning("%s cannot be read: %s", folder, error.strerror)
        return []


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
