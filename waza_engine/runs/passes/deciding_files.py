"""The files that decide verdicts besides the suite itself, for its cache and its record.

These are named files and folders, skills, fixtures, and sources of grader types that are not built in.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import waza_engine
from waza_engine.boundary import Boundary, is_foreign, suite_boundary
from waza_engine.files import from_home, is_named, read_bytes
from waza_engine.results.inputs import is_left_by_programs, is_unread
from waza_engine.runs.agent.workspace import fixture_directory
from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.trials.triggers import FILE_NAME as TRIGGER_TESTS
from waza_engine.spec.reading.task_globs import GlobError, matches
from waza_engine.spec.skill_file import SKILL_FILE

if TYPE_CHECKING:
    from waza_engine.runs.agent.setup import AgentSetup
    from waza_engine.runs.loading.suite import SuiteTask
    from waza_engine.runs.trials.trial import TrialTask

MOST_BYTES = 200 * 2**20
_LONGEST_REFERENCE = 400
_SOURCES = {".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".rb", ".ps1"}


class DecidingFiles:
    """The files that the tasks of one run read; each name is looked up once.

    ``is_there`` returns whether a path exists: a file that was deleted may still be named.
    """

    def __init__(
        self, suite: Suite, agent: AgentSetup, is_there: Callable[[Path], bool] = Path.exists
    ) -> None:
        self._suite = suite
        self._agent = agent
        self._is_there = is_there
        self.within = suite_boundary(suite.directory)
        self._references: dict[tuple[str, tuple[Path, ...]], tuple[Path, ...]] = {}
        self._of_suite: tuple[str, ...] | None = None
        self._of_entries: dict[int, tuple[object, tuple[str, ...]]] = {}

    def places(self, source: SuiteTask, task: TrialTask) -> set[Path]:
        """Return the files and folders that a task reads."""
        suite, spec = self._suite, task.spec
        fixtures = fixture_directory(spec, suite.directory)
        near = (suite.directory, fixtures, source.path.parent)
        far = tuple(filter(self.within.holds, (Path.cwd(), *suite.directory.parents)))
        if self._of_suite is None:
            self._of_suite = tuple(
                _texts(suite.spec.model_dump(mode="json", exclude={"tasks", "tasks_from"}))
            )
        written = [*self._of_suite, *_texts(spec.model_dump(mode="json"))]
        for built in task.graders:
            # Most graders are those of the suite, the same for each task.
            known = self._of_entries.get(id(built.entry))
            if known is None:
                known = built.entry, tuple(_texts([built.entry.model_dump(mode="json")]))
                self._of_entries[id(built.entry)] = known
            written += known[1]
        places = {place for text in dict.fromkeys(written) for place in self._referenced(text, near, far)}
        places |= set(self._agent.skills_of(spec).directories)
        places |= {source for built in task.all_graders for source in _foreign_source(built.grader)}
        if fixtures.is_dir() and any(
            built.grader and built.grader.reads_fixtures for built in task.all_graders
        ):
            places.add(fixtures)
        return places

    def places_of_suite(self) -> set[Path]:
        """Return the files and folders that the suite names, besides its tasks, graders and metrics."""
        directory = self._suite.directory
        near = directory, directory / "fixtures"
        far = tuple(filter(self.within.holds, (Path.cwd(), *directory.parents)))
        apart = {"tasks", "tasks_from", "graders", "metrics"}
        written = _texts(self._suite.spec.model_dump(mode="json", exclude=apart))
        return {place for text in dict.fromkeys(written) for place in self._referenced(text, near, far)}

    def _referenced(self, text: str, near: tuple[Path, ...], far: tuple[Path, ...]) -> tuple[Path, ...]:
        found = self._references.get((text, near))
        if found is None:
            # A person may have named the folder of fixtures.
            within = Boundary.around(*map(Path, self.within.folders), near[1], name=self.within.name)
            named = _referenced(text, near, far, self._is_there)
            found = self._references[text, near] = tuple(filter(within.holds, named))
        return found


def files_at(
    place: Path, suite_directory: Path, written: Collection[Path] = ()
) -> Iterator[tuple[Path, str]]:
    """Yield a file (of a program: with the sources next to it) or a folder's files, each with its name.

    Files in ``written`` are left out: folders that runs write to. So are links out of the path and of the
    boundary of the suite. Raises ``OSError``.
    """
    within = suite_boundary(suite_directory)
    within = Boundary.around(place, *map(Path, within.folders), name=within.name)
    unread = {suite_directory, *written}
    if place.is_dir():
        for folder, folders, names in os.walk(place):
            # A skill may contain its suite: a task's files in that are checked separately.
            in_skill = SKILL_FILE in names
            folders[:] = sorted(
                name
                for name in folders
                if not is_unread(name, in_skill=in_skill) and Path(folder, name) not in unread
            )
            for name in sorted(names):
                file = Path(folder, name)
                if within.holds(file) and file.is_file() and not is_left_by_programs(name):
                    yield file, file.relative_to(place).as_posix()
        return
    yield place, place.name
    if _has_siblings(place):
        for sibling in sorted(place.parent.iterdir()):
            if _is_beside(sibling, place) and within.holds(sibling) and sibling.is_file():
                yield sibling, sibling.name


def is_read(file: Path, place: Path, suite_directory: Path, written: Collection[Path] = ()) -> bool:
    """Return whether ``files_at`` yields a file at a path, or did before it was deleted.

    ``file`` has no links in it.
    """
    unread = {suite_directory, *written}
    real = Path(os.path.realpath(place))
    if file == real:
        return True
    if real not in file.parents:
        return _is_beside(file, real) and _has_siblings(place)
    below = file.parents[: file.parents.index(real)]
    kept_out = {Path(os.path.realpath(folder)) for folder in unread}
    return not is_left_by_programs(file.name) and not any(
        folder in kept_out or is_unread(folder.name, in_skill=is_named(folder.parent / SKILL_FILE))
        for folder in below
    )


def _is_beside(file: Path, place: Path) -> bool:
    """Return whether a file is another one of the same kind in the same folder."""
    return (
        file != place
        and file.parent == place.parent
        and file.suffix == place.suffix
        and not is_left_by_programs(file.name)
    )


def _has_siblings(place: Path) -> bool:
    """Return whether a file's neighbors belong to it: modules of a program, schemas of a schema."""
    if place.suffix in _SOURCES:
        return True
    try:
        return place.suffix == ".json" and b'"$ref"' in read_bytes(place, MOST_BYTES)
    except OSError:
        return False


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in cast("Mapping[object, object]", value).values():
                yield from _texts(item)
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                yield from _texts(item)
        case _:
            pass


def _referenced(
    text: str, near: Sequence[Path], far: Sequence[Path], is_there: Callable[[Path], bool]
) -> Iterator[Path]:
    """Yield the files and folders that a string of the suite names, alone or as one word of a command.

    A plain word is looked up in the near folders only: most words are not paths.
    """
    if not text or len(text) > _LONGEST_REFERENCE or "\n" in text or "\0" in text:
        return
    for written in sorted({text, *text.split()}):
        is_path = any(sign in written for sign in "/\\.")
        for root in () if is_foreign(written) else (*near, *far) if is_path else near:
            with contextlib.suppress(OSError, ValueError):
                place = root / from_home(written)
                if is_there(place):
                    yield place
                    break


def _foreign_source(grader: object) -> Iterator[Path]:
    """Yield the file of a grader type that is not built in: the engine's version does not cover it."""
    module = sys.modules.get(type(grader).__module__)
    file = getattr(module, "__file__", None)
    if file and not type(grader).__module__.startswith(f"{waza_engine.__name__}."):
        yield Path(file)


class OwnFiles:
    """The eval file, the trigger prompts, and the task files, including deleted ones.

    A skill may lie in the folder of its suite, so that all of these lie in the folder of the skill.
    """

    def __init__(self, suite: Suite) -> None:
        directory = Path(os.path.realpath(suite.directory))
        named = (suite.path, suite.directory / TRIGGER_TESTS, *(task.path for task in suite.tasks))
        self._known = {Path(os.path.realpath(path)) for path in named}
        self._directory = directory
        self._patterns = [element for element in suite.spec.tasks if isinstance(element, str)]

    def __contains__(self, path: Path) -> bool:
        """Return whether a file is one of them."""
        real = Path(os.path.realpath(path))
        return real in self._known or any(self._picks_up(pattern, real) for pattern in self._patterns)

    def _picks_up(self, pattern: str, path: Path) -> bool:
        try:
            return matches(self._directory, pattern, path)
        except GlobError:
            return False
