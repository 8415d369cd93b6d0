"""Paths that open with a click: scripts, fixtures, schemas, rubrics, tasks, and the skill of a suite."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_language_server.project.mentions import files_named
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.skills_of_run import UnknownSkillsError, definition_in, skills_of_run
from waza_language_server.project.suite_files import SuiteSource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span

MOST_LOOKED_UP = 5_000
"""Paths of a document; later ones have no links, since looking up more takes over a second."""


@frozen()
class DocumentLink:
    """A name that leads to a file."""

    span: Span
    target: Path
    tooltip: str = ""


def document_links(document: Document, workspace: Workspace) -> tuple[DocumentLink, ...]:
    """Return the links of a document; paths without a file are left out."""
    # Thousands of paths may lie in one folder.
    with workspace.project.disk.held_still():
        return _links(document, workspace)


def _links(document: Document, workspace: Workspace) -> tuple[DocumentLink, ...]:
    file = SuiteSource.of(document)
    paths = PathsIn(workspace.project, file)
    skills: Mapping[str, Path] | None = None
    found: list[DocumentLink] = []
    for mention in islice(files_named(file, document.tree, workspace.catalog), MOST_LOOKED_UP):
        checkpoint()
        if mention.kind == "skill":
            skills = _skills(workspace.project, file) if skills is None else skills
            if mention.name in skills:
                found.append(DocumentLink(mention.span, skills[mention.name]))
        else:
            files = paths.files(mention)
            first = next(iter(files), None)
            if first is not None and _is_file(workspace.project, first):
                more = f"the first of {counted(len(files), 'file')}" if len(files) > 1 else ""
                found.append(DocumentLink(mention.span, first, more))
    return tuple(found)


def _skills(project: Project, file: SuiteSource) -> Mapping[str, Path]:
    """Return what defines the skills that a run of the nearest suite finds, by their names."""
    suite = next(iter(project.suites_of(file.path)), None) if file.path is not None else None
    if suite is None:
        return {}
    try:
        folders = skills_of_run(project, suite, suite.outline.skill_directories)
    except UnknownSkillsError:
        return {}
    known = ((name, definition_in(project, folder)) for folder, name in folders.items())
    return {name: definition for name, definition in known if definition is not None}


def _is_file(project: Project, path: Path) -> bool:
    return (path.name, False) in project.disk.alike(path.parent, path.name)
