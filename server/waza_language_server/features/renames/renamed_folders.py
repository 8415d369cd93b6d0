"""The folder of a skill is renamed: the skill, which has to be called like it, gets its name everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.features.renames.refusal import RenameError
from waza_language_server.features.renames.skill_moves import skill_moves
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.references import Symbol, references
from waza_language_server.project.rewriting import rewritten
from waza_language_server.project.suite_files import SuiteSource, document_at

if TYPE_CHECKING:
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.workspace_edit import FilePlace


def renamed_skills(workspace: Workspace, moves: Mapping[Path, Path]) -> list[tuple[FilePlace, str]]:
    """Return what to write where skills are named whose folders get other names.

    A skill keeps its name where a rename of it would be refused, and where other folders would have to
    follow it.
    """
    found: list[tuple[FilePlace, str]] = []
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
    """Return the skill that a folder is called like, None without one."""
    project = workspace.project
    if SKILL_NAME not in project.names(folder):
        return None
    document = document_at(project, folder / SKILL_NAME, "skill")
    if document is None:
        return None
    named = mentions_in(workspace, SuiteSource.of(document))
    mention = next((each for each in named if each.name == folder.name), None)
    return Symbol("skill", folder.name, document, mention) if mention is not None else None
