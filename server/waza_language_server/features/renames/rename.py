"""Rename of a grader, a task, a skill or an anchor, with all references.

A task's file is renamed with the task if it is called like its id, a skill's folder with the skill; the
paths of both are rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.features.renames.moved_files import path_changes
from waza_language_server.features.renames.skill_moves import skill_moves
from waza_language_server.project.references import Symbol, is_taken, references, symbol_at
from waza_language_server.project.rewriting import RenameError, rewritten
from waza_language_server.project.suite_files import SuiteSource, read_suites
from waza_language_server.project.suites import picks_up
from waza_language_server.project.uris import is_tool_view, uri_of
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileRename, WorkspaceEdit, is_file_name

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

_ANCHOR = compiled_later(r"[0-9A-Za-z_-]+")
"""An anchor name that every YAML parser accepts."""


@frozen()
class Renaming:
    """The edits of a rename. ``kept_file`` is the task's file if it is called like the task and must stay."""

    change: WorkspaceEdit
    kept_file: Path | None = None


@frozen()
class Renamable:
    """The symbol that a rename would change: its characters, and its current name.

    The cursor is inside or at one of the ends, also when it is at a quote around the name.
    """

    span: Span
    name: str


def renamable(document: Document, workspace: Workspace, offset: int) -> Renamable | None:
    """Return what can be renamed at an offset, None when nothing can."""
    symbol = symbol_at(document, workspace, offset)
    if symbol is None or symbol.kind == "file":
        return None
    span = symbol.mention.span
    return Renamable(Span(min(span.start, offset), max(span.end, offset)), symbol.name)


def rename(
    document: Document, workspace: Workspace, offset: int, name: str, *, renames_files: bool
) -> Renaming | None:
    """Return the edit that renames the symbol at an offset, None if there is none.

    ``renames_files`` says whether the editor can rename a file in the same edit. Raises ``RenameError``.
    """
    symbol = symbol_at(document, workspace, offset)
    name = name.strip()
    if symbol is None or symbol.kind == "file":
        return None
    _refuse_impossible(symbol, name)
    read_suites(workspace.project)
    if name == symbol.name:
        return Renaming(WorkspaceEdit())
    if is_taken(workspace, symbol, name):
        raise RenameError(f"Another {symbol.kind} is called `{name}` already.")
    moves: Mapping[Path, Path] = {}
    renames: tuple[FileRename, ...] = ()
    if symbol.kind == "skill":
        moved = skill_moves(workspace, symbol, name, renames_files=renames_files)
        moves, renames = moved.paths, moved.renames
    found = references(workspace, symbol, with_overridden=True)
    changes = [(each.place, each.mention, name) for each in found if each.written]
    places = rewritten(workspace, changes)
    file = _file_of_task(workspace, symbol)
    new_file = _new_file(workspace, file, name) if file is not None and renames_files else None
    if file is not None and new_file is not None:
        moves, renames = {file: new_file}, (FileRename(document.uri, uri_of(new_file)),)
    if moves:
        places += path_changes(workspace, moves, symbol.document)
    kept = file if new_file is None else None
    return Renaming(replace(WorkspaceEdit.of(places), renames=renames), kept)


def _refuse_impossible(symbol: Symbol, name: str) -> None:
    if symbol.kind == "skill" and is_tool_view(symbol.document.uri):
        # Its name is that of files which this document is not: of an older commit, of another branch.
        raise RenameError(
            "A skill can only be renamed in its files, and this document only shows one of them."
        )
    if not name:
        raise RenameError(f"The {symbol.kind} needs a name that is not blank.")
    if symbol.kind == "anchor" and not _ANCHOR.fullmatch(name):
        raise RenameError(
            f"`{name}` cannot be the name of an anchor; write letters, digits, `-` and `_` alone."
        )


def _file_of_task(workspace: Workspace, symbol: Symbol) -> Path | None:
    """Return the file of a task if it is called like the task."""
    source = SuiteSource.of(symbol.document)
    is_own = symbol.kind == "task" and source.kind == "task" and source.path is not None
    if not is_own or source.path is None or source.path.stem != symbol.name:
        return None
    return source.path if source.path.name in workspace.project.names(source.path.parent) else None


def _new_file(workspace: Workspace, file: Path, name: str) -> Path | None:
    """Return the path of a task's file under its new name, None if it cannot be renamed.

    It cannot if the path exists, or if a suite would not pick the file up any more.
    """
    if not is_file_name(name):
        return None
    new = file.with_name(f"{name}{file.suffix}")
    project = workspace.project
    taken = {other.casefold() for other in project.names(file.parent)} - {file.name.casefold()}
    if new.name.casefold() in taken:
        return None
    suites = project.every_suite_of(file)
    return new if all(_stays_in(workspace, suite.path, file, new) for suite in suites) else None


def _stays_in(workspace: Workspace, eval_file: Path, file: Path, new: Path) -> bool:
    suite = workspace.project.suite(eval_file)
    return not picks_up(suite, file) or picks_up(suite, new) or file.name in _listed(suite.outline.patterns)


def _listed(patterns: tuple[str, ...]) -> set[str]:
    """Return the file names that patterns end with: paths of listed files are rewritten by the rename."""
    return {pattern.rpartition("/")[2] for pattern in patterns}
