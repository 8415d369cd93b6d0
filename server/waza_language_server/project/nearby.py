"""Reference candidates of a document: the graders, files, models, tools and skills around it."""

from __future__ import annotations

import itertools
import os
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeVar

from waza_language_server.project.claim import CONFIG_NAMES
from waza_language_server.project.facts import Fact
from waza_language_server.project.outline import GraderOutline, outline_of, tags_of
from waza_language_server.project.search_folders import FIXTURES, roots_around
from waza_language_server.project.skills import skill_name
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.suites import folders_above, folders_below
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite

MAX_FIXTURES = 2_000
MAX_NEIGHBOURS = 200
MAX_TASKS_READ = 50
"""Task files of a suite that are read for models, tools and tags."""
Value = TypeVar("Value")


class Nearby:
    """The things that one document can refer to; nothing here raises."""

    def __init__(self, project: Project, document: Document) -> None:
        self._project = project
        self._document = document
        self._path = path_of(document.uri)

    def graders(self) -> Fact[Sequence[GraderOutline]]:
        """Return the graders that run for the document: of a task its own after those of its suites."""
        own = outline_of(self._document)
        if self._document.kind == "eval":
            return _known(own.own_graders, complete=own.complete)
        if self._path is None:
            return Fact("unknown", tuple(own.graders), "the file is not saved yet")
        graders = [grader for suite in self._suites for grader in suite.outline.own_graders]
        return _known((*graders, *own.graders), complete=own.complete and self._are_suites_complete)

    def grader_names(self) -> Fact[tuple[str, ...]]:
        """Return the names of the graders that run for the document, each once."""
        graders = self.graders()
        names = tuple(dict.fromkeys(grader.name for grader in graders.value if grader.name))
        return Fact(graders.state, names, graders.why)

    def suite_grader_names(self) -> Fact[tuple[str, ...]]:
        """Return the names of the eval-level graders alone: what ``expected.graders`` may refer to."""
        if self._document.kind == "eval":
            return self.grader_names()
        graders = (grader for suite in self._suites for grader in suite.outline.own_graders)
        names = tuple(dict.fromkeys(grader.name for grader in graders if grader.name))
        return _known(names, complete=self._are_suites_complete)

    def fixtures(self) -> Fact[tuple[str, ...]]:
        """Return the files that ``inputs.files[].path`` may name, below the fixture folder, with slashes."""
        folders = self.fixture_folders()
        if not folders:
            return Fact("unknown", (), "no suite is known that runs the task")
        found: dict[str, None] = {}
        for folder in folders:
            if self.entries(folder).unknown:
                continue
            for path in self._files_below(folder):
                found[PurePosixPath(*path.relative_to(folder).parts).as_posix()] = None
        return Fact("known", tuple(found)) if found else Fact("absent", ())

    def fixture_folders(self) -> tuple[Path, ...]:
        """Return where fixtures of a task may be: its ``context_dir``, else ``fixtures`` at the eval file."""
        if self._path is None:
            return ()
        suites = [suite.folder for suite in self._suites]
        context_dir = outline_of(self._document).context_dir
        if not context_dir:
            return tuple(dict.fromkeys(folder / FIXTURES for folder in suites))
        # It is relative to the working directory of a run, most likely an open folder.
        roots = roots_around(self._project, self._path)
        bases = (*roots, *suites, self._path.parent, *self._project.roots)
        candidates = dict.fromkeys(base / context_dir for base in bases)
        return tuple(folder for folder in candidates if not self.entries(folder).absent)

    def suite_folders(self) -> tuple[Path, ...]:
        """Return the folders of the suites that the document belongs to."""
        return tuple(suite.folder for suite in self._suites)

    def models(self) -> tuple[str, ...]:
        """Return the models that the document, its suite and the suites around it name, nearest first."""
        return self._words("models")

    def tools(self) -> tuple[str, ...]:
        """Return the tools that the document, its suite and the suites around it name, nearest first."""
        return self._words("tools")

    def tags(self) -> tuple[str, ...]:
        """Return the tags of the tasks of the suites of the document, those of its own first."""
        project = self._project
        found = list(outline_of(self._document).tags)
        trees = [self._document.tree, *(project.tree(suite.path) for suite in self._suites)]
        for tree in trees:
            for task in itertools.islice(SuiteFile(tree).tasks(), MAX_TASKS_READ):
                found += tags_of(task.node)
        for suite in self._suites:
            for task in project.tasks_of(suite).value[:MAX_TASKS_READ]:
                found += task.outline.tags
        return tuple(dict.fromkeys(found))

    def tools_seen(self) -> tuple[str, ...]:
        """Return the tools that were called in the last run of the suites of the document."""
        scores = self._project.scores
        return tuple(dict.fromkeys(tool for suite in self._suites for tool in scores.tools(suite.path)))

    def models_seen(self) -> tuple[str, ...]:
        """Return the models that the newest runs of the suites of the document asked."""
        runs = (self._project.scores.results(suite.path) for suite in self._suites)
        return tuple(dict.fromkeys(run.model for run in runs if run is not None and run.model))

    def skills(self) -> tuple[str, ...]:
        """Return the names of skills near the document."""
        if self._path is None:
            return ()
        found = dict.fromkeys(self.skill_files().values())
        found |= {suite.outline.skill: None for suite in self._suites if suite.outline.skill}
        return tuple(found)

    def skill_files(self) -> dict[Path, str]:
        """Return the ``SKILL.md`` files near the document with the names of their skills, nearest first."""
        if self._path is None:
            return {}
        folders: dict[Path, None] = {}
        for suite in self._suites:
            for directory in suite.outline.skill_directories:
                place = Path(os.path.normpath(suite.folder / directory))
                if not self.entries(place).unknown:
                    folders[place] = None
        for folder in self._folders_of_repository(self._path):
            folders[folder] = None
            for place in ("skills", ".github/skills"):
                folders[folder / place] = None
        found: dict[Path, str] = {}
        for folder in folders:
            for candidate in (folder, *self._folders_in(folder)):
                name = self._project.disk.derived(candidate / "SKILL.md", "skill", skill_name)
                if name is not None:
                    found[candidate / "SKILL.md"] = name or candidate.name
        return found

    def entries(self, folder: Path) -> Fact[tuple[tuple[str, bool], ...]]:
        """Return the sorted names in a folder, each with whether it is a folder.

        Unknown if the folder is outside the workspace.
        """
        if self._path is None:
            return Fact("unknown", (), "the file is not saved yet")
        disk = self._project.disk
        place = Path(os.path.normpath(folder))
        near = dict.fromkeys((self._path.parent, *(suite.folder for suite in self._suites)))
        if not any(disk.boundaries.around(start).holds(place) for start in near):
            return Fact("unknown", (), f"it lies outside {disk.boundaries.around(self._path.parent).name}")
        return disk.names(place)

    @cached_property
    def _suites(self) -> tuple[Suite, ...]:
        return self._project.suites_of(self._path) if self._path is not None else ()

    @property
    def _are_suites_complete(self) -> bool:
        all_known = self._path is not None and self._project.knows_suites_of(self._path)
        return all_known and bool(self._suites) and all(suite.outline.complete for suite in self._suites)

    def _words(self, what: Literal["models", "tools"]) -> tuple[str, ...]:
        project = self._project
        outlines = [outline_of(self._document), *(suite.outline for suite in self._suites)]
        for suite in self._suites:
            outlines += [task.outline for task in project.tasks_of(suite).value[:MAX_TASKS_READ]]
        if self._path is not None:
            inside = set(self._folders_of_repository(self._path))
            for parent in {suite.folder.parent for suite in self._suites} & inside:
                for folder in self._folders_in(parent):
                    outlines += [neighbour.outline for neighbour in project.suites_in(folder)]
            for folder in folders_above(self._path):
                names = project.names(folder)
                outlines += [project.outline(folder / name) for name in CONFIG_NAMES if name in names]
        outlines += [outline_of(opened) for opened in project.documents.values()]
        return tuple(dict.fromkeys(word for one in outlines for word in getattr(one, what)))

    def _folders_in(self, folder: Path) -> list[Path]:
        names = self._project.disk.names(folder).value
        return [folder / name for name, is_folder in names if is_folder and name[0] != "."][:MAX_NEIGHBOURS]

    def _folders_of_repository(self, path: Path) -> list[Path]:
        """Return the folders around a file up to the open folder or the repository, nearest first.

        Without either, only three levels are searched: folders beyond are unrelated.
        """
        found: list[Path] = []
        for folder in folders_above(path):
            found.append(folder)
            if folder in self._project.roots or ".git" in self._project.names(folder):
                return found
        return found[:3]

    def _files_below(self, folder: Path) -> list[Path]:
        disk = self._project.disk
        found: list[Path] = []
        below = folders_below(disk, folder, lambda name, _: name not in {".git", "node_modules"})
        for place in itertools.islice(below, MAX_FIXTURES):
            found += [place / name for name, is_folder in disk.names(place).value if not is_folder]
            if len(found) >= MAX_FIXTURES:
                break
        return sorted(found[:MAX_FIXTURES])


def _known(values: tuple[Value, ...], *, complete: bool) -> Fact[tuple[Value, ...]]:
    return Fact("known", values) if complete else Fact("unknown", values, "not all files could be read")
