"""The files that decide verdicts besides the suite itself, for its cache and its record.

These are named files and folders, skills, fixtures, and sources of grader types that are not built in.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from waza_engine.boundary import Boundary, is_foreign, suite_boundary
from waza_engine.files import from_home, is_named, read_bytes, relative_name
from waza_engine.masking import masked
from waza_engine.results.inputs import (
    InputFile,
    InputFolder,
    RunInputs,
    inputs_document,
    is_left_by_programs,
    is_unread,
)
from waza_engine.runs.agent.agent_skills import suite_skills
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.agent.trial_workspace import fixture_directory
from waza_engine.runs.loading.suite_on_disk import Suite
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.triggers import FILE_NAME as TRIGGER_TESTS
from waza_engine.spec.loading import load_adapter_file, vally_project_of
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.task_globs import GlobError, matches
from waza_engine.spec.skill_file import SKILL_FILE
from waza_engine.terminal import json_text

if TYPE_CHECKING:
    from waza_engine.runs.loading.suite_on_disk import SuiteTask
    from waza_engine.runs.trials.trial import TrialTask

MOST_BYTES = 200 * 2**20
_LONGEST_REFERENCE = 400
_LONGEST_PROGRAM = 64 * 2**10
_PROGRAM_KEYS = ("command", "args")
_COMMENTS_AND_FOLDERS = re.compile(r"^[ \t]*#.*|\$(?:\w+|\{\w+\}|\(pwd\))/", re.MULTILINE)
_WORD_ENDS = re.compile(r"[\s;&|()<>`$\"'{}=,]+")
_QUOTED_ENDS = re.compile(r"[\"'\n]")
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
        self._of_vally: set[Path] = set()
        with contextlib.suppress(SuiteFileError):
            # Environments there are parts of an eval file of Vally.
            self._of_vally.update(filter(None, [vally_project_of(suite.path)]))
        self._references: dict[tuple[_Written, tuple[Path, ...]], tuple[Path, ...]] = {}
        self._of_suite = tuple(
            _written_in(suite.spec.model_dump(mode="json", exclude={"tasks", "tasks_from"}))
        )
        self._of_adapter = tuple(self._named_by_adapter())

    def places(self, source: SuiteTask, task: TrialTask) -> set[Path]:
        """Return the files and folders that a task reads."""
        suite, spec = self._suite, task.spec
        fixtures = fixture_directory(spec, suite.directory)
        near = (suite.directory, fixtures, source.path.parent)
        far = tuple(filter(self.within.holds, (Path.cwd(), *suite.directory.parents)))
        written = [*self._of_suite, *_written_in(spec.model_dump(mode="json"))]
        for built in task.graders:
            written += _written_in(built.entry.model_dump(mode="json"))
        places = {place for each in dict.fromkeys(written) for place in self._referenced(each, near, far)}
        places |= self._of_vally.union(self._of_adapter)
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
        written = _written_in(self._suite.spec.model_dump(mode="json", exclude=apart))
        named = {place for each in dict.fromkeys(written) for place in self._referenced(each, near, far)}
        return named.union(self._of_adapter)

    def _referenced(
        self, written: _Written, near: tuple[Path, ...], far: tuple[Path, ...]
    ) -> tuple[Path, ...]:
        found = self._references.get((written, near))
        if found is None:
            # A person may have named the folder of fixtures.
            within = Boundary.around(*map(Path, self.within.folders), near[1], name=self.within.name)
            named = _referenced(written, near, far, self._is_there)
            found = self._references[written, near] = tuple(filter(within.holds, named))
        return found

    def _named_by_adapter(self) -> Iterator[Path]:
        """Yield the files that the command of the agent's adapter names, such as its script."""
        directory, named = self._suite.directory, self._suite.spec.config.adapter
        if not named:
            return
        path = directory / from_home(named)
        # The executor reports an adapter that cannot be read.
        with contextlib.suppress(SuiteFileError):
            adapter, _ = load_adapter_file(path, within=self.within)
            for word in adapter.command:
                found = _referenced(_Written(word, True), (path.parent, directory), (), self._is_there)
                yield from filter(self.within.holds, found)


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


class _Written(NamedTuple):
    """A string of a suite, and whether it is a program, one of its arguments or a script in one."""

    text: str
    of_program: bool


def _written_in(value: object, *, of_program: bool = False) -> Iterator[_Written]:
    """Yield the strings in a part of a suite, at any depth; keys are left out."""
    if isinstance(value, str):
        yield _Written(value, of_program)
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            # A mapping is the arguments of a tool call.
            starts = key in _PROGRAM_KEYS and isinstance(item, str | list)
            yield from _written_in(cast("object", item), of_program=of_program or starts)
    elif isinstance(value, list | tuple):
        for item in cast("Iterable[object]", value):
            yield from _written_in(item, of_program=of_program)


def _referenced(
    written: _Written, near: Sequence[Path], far: Sequence[Path], is_there: Callable[[Path], bool]
) -> Iterator[Path]:
    """Yield the files and folders that a string of the suite names, alone or as one word of a command.

    A plain word is looked up in the near folders only: most words are not paths.
    """
    for word in sorted(_words_of(written)):
        is_path = any(sign in word for sign in "/\\.")
        for root in () if is_foreign(word) else (*near, *far) if is_path else near:
            with contextlib.suppress(OSError, ValueError):
                place = root / from_home(word)
                if is_there(place):
                    yield place
                    break


def _words_of(written: _Written) -> set[str]:
    """Return the parts of a string that may name a file. A long one is read only if it is of a program."""
    text = written.text
    is_short = 0 < len(text) <= _LONGEST_REFERENCE and "\n" not in text and "\0" not in text
    words = {text, *text.split()} if is_short else set[str]()
    if written.of_program:
        script = _COMMENTS_AND_FOLDERS.sub("", text[:_LONGEST_PROGRAM])
        parts = {*_WORD_ENDS.split(script), *_QUOTED_ENDS.split(script)}
        # `.` is a command of shells, and no folder.
        words |= {part for part in parts if len(part) <= _LONGEST_REFERENCE and part.strip("./~")}
    return words


def _foreign_source(grader: object) -> Iterator[Path]:
    """Yield the file of a grader type that is not built in: the engine's version does not cover it."""
    module = sys.modules.get(type(grader).__module__)
    file = getattr(module, "__file__", None)
    if file and not type(grader).__module__.startswith("waza_engine."):
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


MOST_FILES = 100_000
MOST_RECORDED_BYTES = 64 * 2**20
"""The most bytes of all files together; further files are skipped."""
LONGEST_TEXT = 256 * 2**10
MOST_TEXT = 2 * 2**20
"""The most bytes of text that are stored for one run."""


def stored_inputs(inputs: RunInputs) -> bytes:
    """Return the stored form of a run's inputs."""
    return json_text(inputs_document(inputs)).encode()


def current_inputs(suite: Suite, tasks: Sequence[SelectedTask]) -> RunInputs:
    """Return the current inputs of these tasks.

    Files that cannot be read, and those beyond the limits, are left out.
    """
    return _Reader(suite).read(tasks, AgentSetup(suite, "", suite_skills(suite)))


class _Reader:
    """Reads the files that the tasks of a run depend on, each once."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._within = suite_boundary(suite.directory)
        self._known: dict[Path, tuple[str, int] | None] = {}
        self._texts: dict[str, str] = {}
        self._left = MOST_RECORDED_BYTES
        self._text_left = MOST_TEXT

    def read(self, tasks: Sequence[SelectedTask], agent: AgentSetup) -> RunInputs:
        """Return the files, and the contents of those that are text and not too long.

        A folder is listed by its files: one that is added later counts as new.
        """
        reads = DecidingFiles(self._suite, agent)
        listed: dict[Path, list[Path]] = {}
        used: dict[Path, set[str]] = {self._suite.path: {task.source.id for task in tasks}}
        folders: dict[Path, set[str]] = {}
        for task in tasks:
            places = {task.source.path} - {self._suite.path}
            if task.trial is not None:
                places |= reads.places(task.source, task.trial)
            for place in sorted(places):
                if place not in listed:
                    listed[place] = self._files_at(place)
                if place.is_dir():
                    folders.setdefault(place, set()).add(task.source.id)
                for file in listed[place]:
                    used.setdefault(file, set()).add(task.source.id)
        every = len(tasks)
        files: list[InputFile] = []
        reported: set[Path] = set()
        # The suite, its skills and fixtures first: files that decide most tasks are stored first.
        for file in sorted(used, key=lambda file: (-len(used[file]), file)):
            if len(files) == MOST_FILES:
                break
            name = self._name(file)
            content = self._content(file, name)
            if content is not None:
                of = () if len(used[file]) == every else tuple(sorted(used[file]))
                files.append(InputFile(name, *content, of))
                reported.add(file)
        whole = (
            InputFolder(self._name(place), () if len(of) == every else tuple(sorted(of)))
            for place, of in sorted(folders.items())
            if len(listed[place]) < MOST_FILES and reported.issuperset(listed[place])
        )
        return RunInputs(tuple(files), tuple(whole), self._texts)

    def _files_at(self, place: Path) -> list[Path]:
        found: list[Path] = []
        try:
            for file, _ in files_at(place, self._suite.directory):
                found.append(file)
                if len(found) == MOST_FILES:
                    break
        except OSError:
            pass
        return found

    def _name(self, file: Path) -> str:
        return relative_name(file, self._suite.directory)

    def _content(self, file: Path, name: str) -> tuple[str, int] | None:
        try:
            content = read_bytes(file, self._left, within=self._within)
        except OSError:
            return None
        self._left -= len(content)
        if len(content) <= min(LONGEST_TEXT, self._text_left):
            try:
                self._texts[name] = masked(content.decode("utf-8"))
            except UnicodeDecodeError:
                pass
            else:
                self._text_left -= len(content)
        return hashlib.sha256(content).hexdigest(), len(content)
