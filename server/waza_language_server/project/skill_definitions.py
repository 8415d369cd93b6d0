"""Where a skill is defined that suites name: in the open folders, and where their runs find it."""

from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.spec.reading.searched_folders import is_searched
from waza_language_server.project.skills_of_run import (
    UnknownSkillsError,
    default_skill_name,
    definition_in,
    name_in,
    skills_of_run,
)
from waza_language_server.project.suite_files import files_of_workspace, folders_of_workspace
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite


@frozen()
class SkillDefinition:
    """The ``SKILL.md`` of a skill, or its ``.agent.md``; ``written`` is the name in it, "" for none."""

    file: Path
    written: str

    @property
    def folder(self) -> Path:
        """The folder of the skill."""
        return self.file.parent

    @property
    def name(self) -> str:
        """The name of the skill."""
        return self.written or default_skill_name(self.file)


def skills_called(
    project: Project, near: Document, name: str, *, anyhow: bool = False
) -> tuple[SkillDefinition, ...]:
    """Return the definitions of the skills of one name, in the open folders and where suites find them.

    ``anyhow`` takes the ones whose folder alone is called so, and those in other capitals, as a run does.
    """
    found: dict[Path, SkillDefinition] = {}
    suites: list[Suite] = []

    def take(file: Path) -> None:
        known = SkillDefinition(file, name_in(project, file))
        names = {known.name, known.folder.name} if anyhow else {known.name}
        if name in names or (anyhow and name.casefold() in {each.casefold() for each in names}):
            found[file] = known

    for source in files_of_workspace(project, near):
        checkpoint()
        if source.path is None:
            continue
        if source.kind == "skill":
            take(source.path)
        elif source.kind == "eval" and name in project.text(source.path).value:
            suites.append(project.suite(source.path))
    own = path_of(near.uri)
    mine = {suite.path for suite in project.suites_of(own)} if own is not None else set[Path]()
    is_known = bool(found)
    for suite in suites:
        if is_known and suite.path not in mine and not any(map(_is_hidden, suite.outline.skill_directories)):
            # The search of the open folders finds it already.
            continue
        with suppress(UnknownSkillsError):
            for folder in skills_of_run(project, suite, suite.outline.skill_directories):
                checkpoint()
                definition = definition_in(project, folder)
                if definition is not None and definition not in found:
                    take(definition)
    return tuple(found.values())


def skills_of_workspace(project: Project, near: Document) -> dict[Path, str]:
    """Return the files that define a skill in the open folders, and the names of their skills."""
    found: dict[Path, str] = {}
    for folder in folders_of_workspace(project, near):
        checkpoint()
        file = definition_in(project, folder)
        if file is not None:
            found[file] = SkillDefinition(file, name_in(project, file)).name
    return found


def _is_hidden(directory: str) -> bool:
    """Return whether a path leads into a folder that is not searched for suites."""
    parts = Path(directory).parts
    return not all(is_searched(part, inside) for inside, part in itertools.pairwise(("", *parts)))
