"""The folder of fixtures is renamed or moved: write the new path into the tasks whose files are in it.

If a task has no ``context_dir``, its files are in ``fixtures`` next to the eval file. No path names that
folder, so there is none to update.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.project.named_paths import PathsIn, moved_path
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.places import FIXTURES
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.suite_files import document_at
from waza_language_server.syntax.edits import insert_entry
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FilePlace

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.suite_files import SuiteSource
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Entry, Node

_KEY = "context_dir"


def told_fixtures(
    workspace: Workspace, file: SuiteSource, moves: Mapping[Path, Path]
) -> list[tuple[FilePlace, str]]:
    """Return the ``context_dir`` to write into the tasks of a file, and where."""
    if file.path is None or file.kind not in {"eval", "task"}:
        return []
    suites = [suite.path for suite in workspace.project.every_suite_of(file.path)]
    moved = {_written(suite, moves) for suite in suites}
    folder = moved.pop() if len(moved) == 1 else None
    if folder is None:
        # One folder cannot be right for suites that keep their files in several.
        return []
    paths, files = PathsIn(workspace.project, file), list[Span]()
    for each in mentions_in(workspace, file):
        checkpoint()
        named = paths.named(each) if each.schema_kind == "path.fixture" else None
        if named is not None and named.base in [suite.parent / FIXTURES for suite in suites]:
            files.append(each.span)
    document = document_at(workspace.project, file.path, file.kind) if files else None
    return _told(document, files, folder) if document is not None else []


def _written(holder: Path, moves: Mapping[Path, Path]) -> str | None:
    """Return the path of the moved fixtures of a suite, None where they stay or leave its folder."""
    folder, fixtures = moved_path(holder, moves).parent, moved_path(holder.parent / FIXTURES, moves)
    if fixtures == folder / FIXTURES or not fixtures.is_relative_to(folder) or fixtures == folder:
        return None
    return PurePosixPath(*Path(os.path.relpath(fixtures, folder)).parts).as_posix()


def _told(document: Document, files: list[Span], folder: str) -> list[tuple[FilePlace, str]]:
    tree = document.tree
    if tree.root is None or tree.errors:
        return []
    tasks = [task.node for task in SuiteFile(tree).tasks()] if document.kind == "eval" else [tree.root]
    place = FilePlace(document.uri, document.text, Span(0, 0))
    found: list[tuple[FilePlace, str]] = []
    for task in tasks:
        checkpoint()
        if task.get(_KEY) is not None or not any(task.span.contains(span.start) for span in files):
            continue
        edits = insert_entry(tree, task, _KEY, plain_or_quoted(folder), _before_inputs(task))
        found += [(replace(place, span=edit.span), edit.text) for edit in edits]
    return found


def _before_inputs(task: Node) -> Entry | None:
    """Return the entry before the inputs: a task's fixtures and inputs belong next to each other."""
    before: Entry | None = None
    for entry in task.each_entry():
        if entry.key.value == "inputs":
            return before
        before = entry
    return None
