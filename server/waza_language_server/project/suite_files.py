"""The files of suites: eval files, tasks, trigger tests, settings, skills.

They are yielded one by one, since a workspace may have thousands; only eval files are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.frozen import frozen
from waza_engine.spec.foreign_evals import is_named_as_evals
from waza_engine.spec.reading.searched_folders import is_searched
from waza_language_server.project.claim import (
    CONFIG_NAMES,
    EVAL_NAMES,
    SKILL_NAME,
    TRIGGER_NAMES,
    VALLY_PROJECT_NAMES,
)
from waza_language_server.project.suites import folders_below
from waza_language_server.project.uris import path_of, uri_of

if TYPE_CHECKING:
    from waza_language_server.project.document import Document, DocumentKind
    from waza_language_server.project.index import Project
    from waza_language_server.project.skill_file import SkillFile
    from waza_language_server.project.suites import Suite

MAX_FOLDERS = 20_000
"""Folders of a workspace that are looked into."""
MOST_READ_AT_ONCE = 10
"""Changed folders that are read while the editor waits."""


@frozen()
class SuiteSource:
    """A file of a suite; ``path`` is None if it is not on disk, ``uri`` is the client's if it is open."""

    uri: str
    path: Path | None
    kind: DocumentKind
    document: Document | None = None
    """The open document of the file."""

    @staticmethod
    def of(document: Document) -> SuiteSource:
        """Return the file of an open document."""
        return SuiteSource(document.uri, path_of(document.uri), document.kind, document)

    @staticmethod
    def at(project: Project, path: Path, kind: DocumentKind) -> SuiteSource:
        """Return the file at a path."""
        opened = project.documents.get(path)
        return SuiteSource(opened.uri if opened else uri_of(path), path, kind, opened)


def suite_title(project: Project, path: Path) -> str:
    """Return the name of a suite, by default that of its folder; evals have the name of their skill."""
    outline = project.outline(path)
    if path.suffix == ".json":
        return outline.skill or path.stem
    if is_named_as_evals(path.name):
        return outline.name or path.name.partition(".")[0]
    return outline.name or path.parent.name


def document_at(project: Project, path: Path, kind: DocumentKind) -> Document | None:
    """Return the file at a path as it is open, or else as it is on the disk; None when it cannot be read."""
    from waza_language_server.project.document import Document

    opened = project.documents.get(path)
    if opened is not None:
        return opened
    text = project.text(path)
    return Document(uri_of(path), 0, text.value, kind) if text.known else None


def files_of_suite(project: Project, suite: Suite) -> Iterator[SuiteSource]:
    """Yield the eval file of a suite and its task files."""
    yield SuiteSource.at(project, suite.path, "eval")
    for path in project.task_paths(suite).value:
        yield SuiteSource.at(project, path, "task")


def files_named_by_suites(project: Project, folder: Path) -> Iterator[SuiteSource]:
    """Yield the prompts and the adapters that the suites in a folder name."""
    for suite in project.suites_in(folder):
        for path in suite.named("tasks_from", "adapter"):
            kind = project.claim(path)
            if kind is not None:
                yield SuiteSource.at(project, path, kind)


def read_suites(project: Project) -> None:
    """Read the eval files in the open folders, unless cached, to learn which tasks belong to which suite."""
    read_some_suites(project, inf)


def read_some_suites(project: Project, until: float) -> bool:
    """Read eval files in the open folders until a time of ``time.monotonic``; return whether all are read."""
    generation = project.far.generation
    if project.far.is_known:
        return True
    unread = project.far.unread(lambda: collect(folders_of_workspace(project, None)))
    while unread:
        folder = unread[-1]
        project.read_folder(folder)
        for suite in project.suites_in(folder):
            project.far.note(suite)
        # A request that was answered at a checkpoint may have read others.
        if unread and unread[-1] is folder:
            unread.pop()
        if unread and time.monotonic() >= until:
            return False
    project.far.mark_complete(generation)
    return True


def reread_suites(project: Project, changed: Iterable[Path] | None) -> None:
    """Process changes of files on the disk; ``changed`` is None if it is unknown which.

    For a few files, only the suites next to them are read again.
    """
    paths = None if changed is None else tuple(changed)
    folders = {path.parent for path in paths or ()}
    if paths is None or len(folders) > MOST_READ_AT_ONCE or any(path.name in CONFIG_NAMES for path in paths):
        project.far.note_change()
        return
    for folder in folders:
        for suite in project.suites_in(folder):
            project.far.note(suite)


def files_of_workspace(project: Project, near: Document | SkillFile | None = None) -> Iterator[SuiteSource]:
    """Yield all suite files in the open folders, each once.

    If ``near`` is outside of them, also those in its folder and of its suites.
    """
    seen: set[Path] = set()
    for folder in folders_of_workspace(project, near):
        project.read_folder(folder)
        for file in files_in_folder(project, folder):
            if file.path is not None and file.path not in seen:
                seen.add(file.path)
                yield file
        checkpoint()
    for document in tuple(project.documents.values()):
        file = SuiteSource.of(document)
        if file.path is not None and file.path not in seen:
            seen.add(file.path)
            yield file


def folders_of_workspace(project: Project, near: Document | SkillFile | None) -> Iterator[Path]:
    """Yield the folders that are searched for suites and skills."""
    roots = dict.fromkeys(project.roots)
    path = path_of(near.uri) if near is not None else None
    if path is not None and not any(path.is_relative_to(root) for root in roots):
        roots |= dict.fromkeys((*(suite.folder for suite in project.suites_of(path)), path.parent))
    looked_at = 0
    for root in roots:
        for folder in folders_below(project.disk, root, is_searched, environments=False):
            yield folder
            looked_at += 1
            if looked_at >= MAX_FOLDERS:
                return


def files_in_folder(project: Project, folder: Path) -> Iterator[SuiteSource]:
    """Yield the suite files in a folder, and the task files of its suites wherever they lie."""
    names = project.names(folder)
    suites = project.suites_in(folder)
    for suite in suites:
        yield from files_of_suite(project, suite)
    others: tuple[tuple[tuple[str, ...], DocumentKind], ...] = (
        (TRIGGER_NAMES if suites else (), "trigger_tests"),
        (CONFIG_NAMES, "project_config"),
        (VALLY_PROJECT_NAMES, "vally_project"),
        ((SKILL_NAME,), "skill"),
    )
    for wanted, kind in others:
        for name in wanted:
            if name in names:
                yield SuiteSource.at(project, folder / name, kind)
    remaining = names - {suite.path.name for suite in suites}
    for name in sorted(name for name in remaining if is_named_as_evals(name) or name in EVAL_NAMES):
        kind = project.claim(folder / name)
        if kind is not None:
            yield SuiteSource.at(project, folder / name, kind)
