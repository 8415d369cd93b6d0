"""Rename of a skill's folder, or agent file, with the skill.

Agents and upstream's check require the same name. A rename that would leave a suite without its skill, or a
skill in a folder of another name, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.project.claim import SKILL_NAME
from waza_language_server.project.rewriting import RenameError
from waza_language_server.project.skill_definitions import SkillDefinition, skills_called
from waza_language_server.project.skills_of_run import AGENT_SUFFIX
from waza_language_server.project.suite_files import files_of_workspace
from waza_language_server.project.uris import uri_of
from waza_language_server.text.workspace_edit import FileRename, is_file_name

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.references import Symbol
    from waza_language_server.project.workspace import Workspace


@frozen()
class SkillMoves:
    """The files that move with a skill: the new path of each file and folder, and the renames in order."""

    paths: Mapping[Path, Path]
    renames: tuple[FileRename, ...]


def skill_moves(workspace: Workspace, symbol: Symbol, name: str, *, renames_files: bool) -> SkillMoves:
    """Return what moves when a skill gets another name. Raises ``RenameError``."""
    project = workspace.project
    defined = skills_called(project, symbol.document, symbol.name)
    if not defined:
        defined = skills_called(project, symbol.document, symbol.name, anyhow=True)
        _refuse_other_capitals(project, symbol, defined)
    if defined:
        _refuse_taken(workspace, symbol, name, {each.file for each in defined})
    moved = [each for known in defined if (each := _moved(workspace, known, symbol.name, name)) is not None]
    if moved and not is_file_name(name):
        raise RenameError(f"`{name}` cannot be the name of a folder, which has to be called like its skill.")
    # The innermost first, so that the old paths of the others stay valid.
    moved.sort(key=lambda path: -len(path.parts))
    for old in moved:
        _refuse_move(project, old, _renamed(old, name), renames_files=renames_files)
    renames = tuple(FileRename(uri_of(old), uri_of(_renamed(old, name))) for old in moved)
    return SkillMoves({old: _after(old, moved, name) for old in moved}, renames)


def _moved(workspace: Workspace, known: SkillDefinition, old: str, name: str) -> Path | None:
    """Return the folder, or the agent's file, that has to be renamed as well, None if there is none."""
    if known.file.name != SKILL_NAME:
        if known.written == old:
            return None
        return known.file if known.name == old else known.folder
    shape = workspace.catalog.document("skill").properties["name"].shape
    if known.written == old and not shape.takes_text(name):
        if shape.takes_text(old):
            raise RenameError(f"The name of a skill {shape.message or 'has another form'}.")
        return None
    if known.folder.name != old:
        return None
    if known.folder in workspace.project.roots or ".git" in workspace.project.names(known.folder):
        if known.written:
            # Do not rename the root folder of a checkout: its name is up to the user.
            return None
        raise RenameError(f"The skill is called like its folder; write a `name` in its {SKILL_NAME} first.")
    return known.folder


def _refuse_other_capitals(project: Project, symbol: Symbol, defined: tuple[SkillDefinition, ...]) -> None:
    for each in defined:
        if symbol.name not in (each.name, each.folder.name):
            raise _other_name(project, each.file, each.name)


def _refuse_taken(workspace: Workspace, symbol: Symbol, name: str, defined: set[Path]) -> None:
    """Refuse the name of another skill, and a rename that misses suites with other capitals in the name."""
    project = workspace.project
    for other in skills_called(project, symbol.document, name):
        if other.file not in defined:
            raise RenameError(f"Another skill is called `{name}` already.")
    for file in files_of_workspace(project, symbol.document):
        checkpoint()
        if file.path is None or file.kind != "eval":
            continue
        tested = project.suite(file.path).outline.skill or ""
        if tested != symbol.name and tested.casefold() == symbol.name.casefold() != name.casefold():
            raise _other_name(project, file.path, tested)


def _refuse_move(project: Project, old: Path, new: Path, *, renames_files: bool) -> None:
    kind = "file" if old.name.endswith(AGENT_SUFFIX) else "folder"
    if not renames_files:
        raise RenameError(
            f"The {kind} {_shown(project, old)} has to be renamed with the skill, and this editor lets no "
            f"server rename files; rename the {kind} first, then the skill."
        )
    taken = {each.casefold() for each in project.names(old.parent)} - {old.name.casefold()}
    if new.name.casefold() in taken:
        raise RenameError(
            f"The {kind} {_shown(project, old)} has to be renamed with the skill, but {new.name} exists."
        )


def _other_name(project: Project, path: Path, name: str) -> RenameError:
    where = _shown(project, path)
    return RenameError(f"The skill is called `{name}` in {where}; write its name in one way first.")


def _renamed(path: Path, name: str) -> Path:
    return path.with_name(f"{name}{AGENT_SUFFIX}" if path.name.endswith(AGENT_SUFFIX) else name)


def _after(path: Path, moved: list[Path], name: str) -> Path:
    """Return the new path of a file after all moves of its folders."""
    for old in moved:
        if path.is_relative_to(old):
            path = _renamed(old, name) / path.relative_to(old)
    return path


def _shown(project: Project, path: Path) -> str:
    root = next((root for root in project.roots if path.is_relative_to(root)), None)
    return path.relative_to(root).as_posix() if root is not None and path != root else path.name
