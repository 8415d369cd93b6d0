"""Files are deleted: entries of lists that are nothing but their paths go with them.

A path that is the value of a key stays, and so does a glob: the author has to decide on a new value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import eq
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.naming_places import mentions_in, place_of
from waza_language_server.project.suite_files import files_of_workspace
from waza_language_server.syntax.edits import delete_item
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.suite_files import SuiteSource
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node

MOST_ENTRIES = 100
"""The most entries of one file that are removed together; each needs another parse."""


def deleted_files(workspace: Workspace, gone: Sequence[Path]) -> WorkspaceEdit:
    """Return the edits that remove the entries of lists that name deleted files, before the deletion.

    ``gone`` are files and folders, with all files in them. Entries are the paths in a list such as
    ``tasks``, also as ``- path: …`` without another key.
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
            # An argument has its place among the others.
            continue
        named = paths.named(each)
        if named is not None and not named.rest and _is_gone(named.target, gone):
            places[each.whole.start] = place_of(workspace, file, each).text
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
    """Return the item of a list that is nothing but a path, None when there is more to it."""
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
    """Return the one edit that makes a text of another."""
    start = sum(takewhile(bool, map(eq, before, after)))
    end = sum(takewhile(bool, map(eq, reversed(before[start:]), reversed(after[start:]))))
    return Edit(Span(start, len(before) - end), after[start : len(after) - end])
