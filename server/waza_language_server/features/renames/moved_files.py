"""Edits for moved, renamed and deleted files: the paths in all suites that name them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import eq
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.reading.task_globs import GlobError, is_literal, literally, matches, split_pattern
from waza_language_server.features.actions.moving_items import append_item
from waza_language_server.features.renames.skill_moves import skill_moves
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.named_paths import PathsIn, moved_path
from waza_language_server.project.naming_places import location_of, mentions_in
from waza_language_server.project.references import Symbol, references
from waza_language_server.project.rewriting import RenameError, rewritten
from waza_language_server.project.search_folders import FIXTURES
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.suite_files import SuiteSource, document_at, files_of_workspace, read_suites
from waza_language_server.syntax.edits import delete_item, insert_entry, insert_item
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, FileLocation, WorkspaceEdit

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.document import Document
    from waza_language_server.project.mentions import Mention
    from waza_language_server.project.suite_files import SuiteSource
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Entry, Node
    from waza_language_server.text.edit import Edits


def moved_files(workspace: Workspace, moves: Mapping[Path, Path]) -> WorkspaceEdit:
    """Return the edits that rewrite the paths of moved files, to apply before the move.

    ``moves`` are the new paths of files, and of folders with all files in them. The paths in a moved file
    keep their targets, a suite keeps its tasks, and a skill gets the name of its folder.
    """
    paths = path_changes(workspace, moves)
    return WorkspaceEdit.of([*paths, *renamed_skills(workspace, moves)])


def path_changes(
    workspace: Workspace, moves: Mapping[Path, Path], near: Document | None = None
) -> list[tuple[FileLocation, str]]:
    """Return the locations of these paths and the new text of each, without those of renamed skills.

    ``near`` is the document around which suites are searched if no folder is open.
    """
    read_suites(workspace.project)
    found: list[tuple[FileLocation, Mention, str]] = []
    listed: list[tuple[FileLocation, str]] = []
    for file in files_of_workspace(workspace.project, near):
        checkpoint()
        if file.kind == "skill":
            continue
        paths = PathsIn(workspace.project, file)
        # Paths relative to a folder that moves change even if they do not name a moved file.
        is_moved = any(moved_path(path, moves) != path for path in paths.holders)
        words = ("",) if is_moved else tuple(old.name for old in moves)
        for each in mentions_in(workspace, file, *words):
            checkpoint()
            if not (each.kind == "file" or (each.kind == "skill" and "/" in each.name)):
                continue
            # A disabled skill may be named by its folder.
            new = paths.rewritten(each, moves)
            if new is not None:
                found.append((location_of(workspace, file, each), each, new))
        listed += fixture_edits(workspace, file, moves)
        if file.kind == "eval":
            listed += task_list_edits(workspace, file, moves)
    return [*rewritten(workspace, found), *listed]


MOST_TASKS = 100
"""Tasks that are listed by name at most; for more nothing is written."""
_KEY = "tasks"
_ENDINGS = frozenset({".yaml", ".yml"})


def task_list_edits(
    workspace: Workspace, file: SuiteSource, moves: Mapping[Path, Path]
) -> list[tuple[FileLocation, str]]:
    """Return the entries that keep moved tasks in a suite whose globs no longer match them.

    Other edits rewrite the paths that it names.
    """
    project = workspace.project
    if file.path is None:
        return []
    suite = project.suite(file.path)
    moved = [path for path in project.task_paths(suite).value if moved_path(path, moves) != path]
    if not moved:
        return []
    paths = PathsIn(project, file)
    globs: list[Mention] = []
    for each in mentions_in(workspace, file):
        checkpoint()
        globs += [each] if each.schema_kind == "task.glob" else []
    folder = moved_path(file.path, moves).parent
    after = [(paths.rewritten(each, moves) or each.name).removeprefix("include:").strip() for each in globs]
    missing: list[str] = []
    for task in moved:
        checkpoint()
        new = moved_path(task, moves)
        if any(_matches(folder, pattern, new) for pattern in after):
            continue
        stays = any(_stays_below(file.path.parent, each.name, task, new, moves) for each in globs)
        others = {other.path for other in project.suites_of(new)} - {file.path}
        if stays and not others and (written := _written(new, folder)) is not None:
            missing.append(written)
    document = document_at(project, file.path, "eval") if 0 < len(missing) <= MOST_TASKS else None
    return _listed(document, missing) if document is not None else []


def _matches(folder: Path, pattern: str, path: Path) -> bool:
    try:
        return matches(folder, pattern, path)
    except GlobError:
        return False


def _stays_below(folder: Path, pattern: str, old: Path, new: Path, moves: Mapping[Path, Path]) -> bool:
    """Return whether a glob matched a task, and the task stays below the folder where the glob begins."""
    pattern = pattern.removeprefix("include:").strip()
    if not _matches(folder, pattern, old):
        return False
    levels = split_pattern(pattern)
    literal = next((at for at, each in enumerate(levels) if not is_literal(each)), len(levels))
    start = moved_path(Path(os.path.normpath(folder.joinpath(*levels[:literal]))), moves)
    steps = new.relative_to(start).parts if new.is_relative_to(start) else ()
    return bool(steps) and new.suffix in _ENDINGS and not any(step[0] in "._" for step in steps)


def _written(path: Path, folder: Path) -> str | None:
    """Return the glob that matches only this path, None on another drive of Windows."""
    try:
        return literally(PurePosixPath(*Path(os.path.relpath(path, folder)).parts).as_posix())
    except ValueError:
        return None


def _listed(document: Document, written: list[str]) -> list[tuple[FileLocation, str]]:
    tree = document.tree
    tasks = tree.root.get(_KEY) if tree.root is not None else None
    if tree.root is None or tree.errors or tasks is None or tasks.kind != "sequence":
        return []
    items = [plain_or_quoted(each) for each in written]
    edits: Edits = ()
    if tasks.style == "flow":
        edits = insert_item(tree, tasks, ", ".join(items))
    elif (edit := append_item(document, tree.root, _KEY, tuple(f"- {each}" for each in items))) is not None:
        edits = (edit,)
    changed = parse(apply(document.text, edits), tree)
    after = changed.root.get(_KEY) if changed.root is not None else None
    if changed.errors or after is None or after.to_python() != [*_items(tasks.to_python()), *written]:
        return []
    place = FileLocation(document.uri, document.text, Span(0, 0))
    return [(replace(place, span=edit.span), edit.text) for edit in edits]


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def renamed_skills(workspace: Workspace, moves: Mapping[Path, Path]) -> list[tuple[FileLocation, str]]:
    """Return the new names of skills whose folders are renamed, at each place that names them.

    A skill keeps its name if renaming it is refused, or would rename other folders, too.
    """
    found: list[tuple[FileLocation, str]] = []
    for old, new in moves.items():
        symbol = _skill_in(workspace, old) if old.name != new.name else None
        if symbol is None:
            continue
        try:
            moved = skill_moves(workspace, symbol, new.name, renames_files=True)
        except RenameError:
            continue
        if set(moved.paths) == {old}:
            named = references(workspace, symbol)
            changes = [(each.place, each.mention, new.name) for each in named if each.written]
            found += rewritten(workspace, changes)
    return found


def _skill_in(workspace: Workspace, folder: Path) -> Symbol | None:
    """Return the skill in a folder of the same name, None without one."""
    project = workspace.project
    if SKILL_NAME not in project.names(folder):
        return None
    document = document_at(project, folder / SKILL_NAME, "skill")
    if document is None:
        return None
    named = mentions_in(workspace, SuiteSource.of(document))
    mention = next((each for each in named if each.name == folder.name), None)
    return Symbol("skill", folder.name, document, mention) if mention is not None else None


_CONTEXT_DIR = "context_dir"


def fixture_edits(
    workspace: Workspace, file: SuiteSource, moves: Mapping[Path, Path]
) -> list[tuple[FileLocation, str]]:
    """Return the ``context_dir`` to write into the tasks of a file, and where."""
    if file.path is None or file.kind not in {"eval", "task"}:
        return []
    suites = [suite.path for suite in workspace.project.every_suite_of(file.path)]
    moved = {_written_fixtures(suite, moves) for suite in suites}
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
    return _with_folder(document, files, folder) if document is not None else []


def _written_fixtures(holder: Path, moves: Mapping[Path, Path]) -> str | None:
    """Return the path of the moved fixtures of a suite, None where they stay or leave its folder."""
    folder, fixtures = moved_path(holder, moves).parent, moved_path(holder.parent / FIXTURES, moves)
    if fixtures == folder / FIXTURES or not fixtures.is_relative_to(folder) or fixtures == folder:
        return None
    return PurePosixPath(*Path(os.path.relpath(fixtures, folder)).parts).as_posix()


def _with_folder(document: Document, files: list[Span], folder: str) -> list[tuple[FileLocation, str]]:
    tree = document.tree
    if tree.root is None or tree.errors:
        return []
    tasks = [task.node for task in SuiteFile(tree).tasks()] if document.kind == "eval" else [tree.root]
    place = FileLocation(document.uri, document.text, Span(0, 0))
    found: list[tuple[FileLocation, str]] = []
    for task in tasks:
        checkpoint()
        if task.get(_CONTEXT_DIR) is not None or not any(task.span.contains(span.start) for span in files):
            continue
        edits = insert_entry(tree, task, _CONTEXT_DIR, plain_or_quoted(folder), _before_inputs(task))
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


MOST_ENTRIES = 100
"""The most entries of one file that are removed together; each needs another parse."""


def deleted_files(workspace: Workspace, gone: Sequence[Path]) -> WorkspaceEdit:
    """Return the edits that remove list entries of deleted files, to apply before the deletion.

    ``gone`` are files, and folders with all files in them. Entries are the paths in a list such as ``tasks``,
    also as ``- path: …`` without another key.
    """
    found: list[FileEdit] = []
    for file in files_of_workspace(workspace.project):
        checkpoint()
        if file.kind == "skill" or (file.path is not None and _is_gone(file.path, gone)):
            continue
        edit = _without_entries(workspace, file, gone)
        found += [edit] if edit is not None else []
    return WorkspaceEdit(tuple(found))


def _without_entries(workspace: Workspace, file: SuiteSource, gone: Sequence[Path]) -> FileEdit | None:
    paths = PathsIn(workspace.project, file)
    places: dict[int, str] = {}
    for each in mentions_in(workspace, file):
        checkpoint()
        if each.kind != "file" or each.schema_kind == "argument":
            # The position of an argument matters.
            continue
        named = paths.named(each)
        if named is not None and not named.rest and _is_gone(named.target, gone):
            places[each.whole.start] = location_of(workspace, file, each).text
    if not places or len(places) > MOST_ENTRIES:
        return None
    text = next(iter(places.values()))
    tree = parse(text)
    if tree.errors or tree.anchored:
        return None
    # From the last one up, so that the offsets of those above stay valid.
    for start in sorted(places, reverse=True):
        item = _entry(tree.root.at(start)) if tree.root is not None else None
        edits = delete_item(tree, item) if item is not None else ()
        tree = parse(apply(tree.text, edits), tree)
    return FileEdit(file.uri, text, (_difference(text, tree.text),)) if tree.text != text else None


def _entry(node: Node) -> Node | None:
    """Return the list item that consists of a path only, None if it has more."""
    above = node.parent
    if node.kind != "scalar" or above is None:
        return None
    if above.kind == "sequence":
        return node
    around = above.parent
    alone = above.kind == "mapping" and node.step == "path" and len(above.entries) == 1
    return above if alone and around is not None and around.kind == "sequence" else None


def _is_gone(path: Path, gone: Sequence[Path]) -> bool:
    return any(path.is_relative_to(each) for each in gone)


def _difference(before: str, after: str) -> Edit:
    """Return the single edit that turns one text into another."""
    start = sum(takewhile(bool, map(eq, before, after)))
    end = sum(takewhile(bool, map(eq, reversed(before[start:]), reversed(after[start:]))))
    return Edit(Span(start, len(before) - end), after[start : len(after) - end])
