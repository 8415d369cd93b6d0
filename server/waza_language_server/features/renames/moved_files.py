"""Files get other names or folders: the paths of all suites that name them follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.renames.kept_tasks import kept_tasks
from waza_language_server.features.renames.moved_fixtures import told_fixtures
from waza_language_server.features.renames.renamed_folders import renamed_skills
from waza_language_server.project.named_paths import PathsIn, moved_path
from waza_language_server.project.naming_places import mentions_in, place_of
from waza_language_server.project.rewriting import rewritten
from waza_language_server.project.suite_files import files_of_workspace, read_suites
from waza_language_server.text.workspace_edit import FilePlace, WorkspaceEdit

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.mentions import Mention
    from waza_language_server.project.workspace import Workspace


def moved_files(workspace: Workspace, moves: Mapping[Path, Path]) -> WorkspaceEdit:
    """Return the edits of the paths that name moved files, before the move.

    ``moves`` are the new paths of files and folders, with all files in them. A moved file keeps the targets
    of its paths, a suite keeps its tasks, and a skill gets the name of its folder.
    """
    paths = path_changes(workspace, moves)
    return WorkspaceEdit.of([*paths, *renamed_skills(workspace, moves)])


def path_changes(
    workspace: Workspace, moves: Mapping[Path, Path], near: Document | None = None
) -> list[tuple[FilePlace, str]]:
    """Return the same as places and what to write there.

    ``near`` is the document around which suites are searched if no folder is open.
    """
    read_suites(workspace.project)
    found: list[tuple[FilePlace, Mention, str]] = []
    listed: list[tuple[FilePlace, str]] = []
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
            # Skills that are left out are named by their directories as well.
            new = paths.rewritten(each, moves)
            if new is not None:
                found.append((place_of(workspace, file, each), each, new))
        listed += told_fixtures(workspace, file, moves)
        if file.kind == "eval":
            listed += kept_tasks(workspace, file, moves)
    return [*rewritten(workspace, found), *listed]
