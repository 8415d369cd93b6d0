"""The skills that a run of a suite finds: where ``runs/agent/agent_skills.py`` looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.project.claim import CONFIG_NAMES, SKILL_NAME
from waza_language_server.project.facts import Fact
from waza_language_server.project.search_folders import bases_of_run, found_at
from waza_language_server.project.skills import skill_name
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.suites import folders_above

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite

AGENT_SUFFIX = ".agent.md"
_LEVELS_DOWN = 5
_MOST_FOLDERS = 2_000
_SKIPPED = frozenset({"node_modules", "vendor"})


class UnknownSkillsError(Exception):
    """It cannot be seen which skills there are."""


def skills_of_run(project: Project, suite: Suite, listed: Iterable[str]) -> dict[Path, str]:
    """Return the folders of the skills that a run of a suite finds, and their names.

    ``listed`` are its ``skill_directories``. Raises ``UnknownSkillsError``.
    """
    return _Skills(project, suite).found(list(listed))


def definition_in(project: Project, folder: Path) -> Path | None:
    """Return the file that makes a folder a skill, None if it is not a skill."""
    names = project.disk.names(folder).value
    if any(name == SKILL_NAME for name, _ in names):
        return folder / SKILL_NAME
    agents = (name for name, is_folder in names if name.endswith(AGENT_SUFFIX) and not is_folder)
    return next((folder / name for name in agents), None)


def name_in(project: Project, definition: Path) -> str:
    """Return the name of a skill that its definition says, as it is open or on the disk; "" for none."""
    document = project.documents.get(definition)
    if document is not None:
        return skill_name(Fact("known", document.text)) or ""
    return project.disk.derived(definition, "skill", skill_name) or ""


def default_skill_name(definition: Path) -> str:
    """Return the name of a skill whose definition has none."""
    is_agent = definition.name.endswith(AGENT_SUFFIX)
    return definition.name.removesuffix(AGENT_SUFFIX) if is_agent else definition.parent.name


class _Skills:
    """Where the skills of one suite lie."""

    def __init__(self, project: Project, suite: Suite) -> None:
        self._project = project
        self._folder = suite.folder
        self._boundary = project.disk.boundaries.around(suite.folder)
        self._looked_at = 0

    def found(self, listed: list[str]) -> dict[Path, str]:
        """Return the folders of the skills and their names. Raises ``UnknownSkillsError``."""
        found: dict[Path, str] = {}
        for folder in self._above():
            if (name := self._skill_in(folder)) is not None:
                # The skill that the suite lies in is tested even where it is not listed.
                found[folder] = name
                break
        places = self._listed(listed) if listed else self._usual()
        for place in places:
            for folder in (place, *self._folders_in(place)) if listed else self._below(place, _LEVELS_DOWN):
                if (name := self._skill_in(folder)) is not None:
                    found[folder] = name
        return found

    def _above(self) -> Iterator[Path]:
        for folder in (self._folder, *self._folder.parents):
            if not self._boundary.holds(folder):
                return
            yield folder

    def _listed(self, listed: list[str]) -> Iterator[Path]:
        if not self._project.roots:
            raise UnknownSkillsError
        for written in listed:
            bases = bases_of_run(self._project, self._folder)
            for place in found_at(self._project, self._folder, bases, written, "folder"):
                if place is None:
                    raise UnknownSkillsError
                yield place

    def _usual(self) -> Iterator[Path]:
        for folder in folders_above(self._folder / "eval.yaml"):
            if not self._boundary.holds(folder):
                return
            for name in CONFIG_NAMES:
                if name in self._project.names(folder):
                    tree = self._project.tree(folder / name)
                    yield folder / (
                        scalar_text(tree.root.get("paths", "skills")) or "skills" if tree.root else "skills"
                    )
            yield from (folder / "skills", folder / ".github" / "skills")

    def _below(self, folder: Path, levels: int) -> Iterator[Path]:
        yield folder
        if self._skill_in(folder) is None and levels > 0:
            for below in self._folders_in(folder):
                if below.name not in _SKIPPED and not below.name.startswith("."):
                    yield from self._below(below, levels - 1)

    def _skill_in(self, folder: Path) -> str | None:
        """Return the name of the skill in a folder, None if there is none."""
        self._names(folder)
        definition = definition_in(self._project, folder)
        if definition is None:
            return None
        return name_in(self._project, definition) or default_skill_name(definition)

    def _folders_in(self, folder: Path) -> list[Path]:
        return [folder / name for name, is_folder in self._names(folder) if is_folder]

    def _names(self, folder: Path) -> tuple[tuple[str, bool], ...]:
        self._looked_at += 1
        if self._looked_at > _MOST_FOLDERS or not self._boundary.holds(folder):
            raise UnknownSkillsError
        names = self._project.disk.names(folder)
        if names.unknown:
            raise UnknownSkillsError
        return names.value
