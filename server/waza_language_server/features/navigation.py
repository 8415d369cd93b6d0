"""Where a name is defined and used: go to definition, find references, highlight, workspace symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.features.document_structure import files_of_command
from waza_language_server.project.naming_places import location_of, mentions_in
from waza_language_server.project.references import (
    definitions,
    references,
    references_in_document,
    symbol_at,
)
from waza_language_server.project.suite_files import files_of_workspace
from waza_language_server.project.uris import uri_of
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileLocation

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

SymbolWord = Literal["grader", "task", "skill"]
MAX_SYMBOLS = 500
"""Symbols that are listed; a longer query finds the others."""


@frozen()
class Highlight:
    """A reference in the document to the symbol under the cursor; ``writes`` if it is the definition."""

    span: Span
    writes: bool


@frozen()
class WorkspaceSymbol:
    """A defined grader, task or skill; ``container`` is its file, relative to the open folder."""

    name: str
    kind: SymbolWord
    place: FileLocation
    container: str


def definition(document: Document, workspace: Workspace, offset: int) -> tuple[FileLocation, ...]:
    """Return the definition of the symbol at an offset; for a path or glob the files that it matches.

    For a part of the command of an adapter that is the file that it names.
    """
    if document.kind == "adapter":
        links = files_of_command(document, workspace.project)
        return tuple(
            FileLocation(uri_of(link.target), "", Span(0, 0)) for link in links if link.span.contains(offset)
        )
    symbol = symbol_at(document, workspace, offset)
    return () if symbol is None else definitions(workspace, symbol)


def all_references(
    document: Document, workspace: Workspace, offset: int, *, with_definition: bool = True
) -> tuple[FileLocation, ...]:
    """Return every reference in the workspace to the symbol at an offset."""
    symbol = symbol_at(document, workspace, offset)
    if symbol is None:
        return ()
    found = references(workspace, symbol)
    return tuple(each.place for each in found if with_definition or not each.defines)


def highlights(document: Document, workspace: Workspace, offset: int) -> tuple[Highlight, ...]:
    """Return the references in the document to the symbol at an offset."""
    symbol = symbol_at(document, workspace, offset)
    if symbol is None:
        return ()
    found = references_in_document(workspace, symbol)
    return tuple(Highlight(each.place.span, each.defines) for each in found)


def workspace_symbols(workspace: Workspace, query: str) -> tuple[WorkspaceSymbol, ...]:
    """Return the graders, tasks and skills whose names hold the letters of a query in order."""
    found: list[WorkspaceSymbol] = []
    for file in files_of_workspace(workspace.project):
        checkpoint()
        if file.kind in {"project_config", "trigger_tests"}:
            continue
        for each in mentions_in(workspace, file):
            checkpoint()
            if not each.defines or not _fits(query, each.name):
                continue
            if each.kind == "grader" or each.kind == "task" or each.kind == "skill":
                container = _shown(workspace, file.path.as_posix() if file.path is not None else file.uri)
                found.append(
                    WorkspaceSymbol(each.name, each.kind, location_of(workspace, file, each), container)
                )
        if len(found) >= MAX_SYMBOLS:
            break
    return tuple(found[:MAX_SYMBOLS])


def _fits(query: str, name: str) -> bool:
    letters = iter(name.casefold())
    return all(letter in letters for letter in query.casefold() if not letter.isspace())


def _shown(workspace: Workspace, path: str) -> str:
    for root in workspace.project.roots:
        if path.startswith(f"{root.as_posix()}/"):
            return path[len(root.as_posix()) + 1 :]
    return path
