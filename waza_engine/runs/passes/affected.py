"""Find the affected tasks: those whose answers or verdicts may have changed, since a commit or their results.

A task is affected when the suite defines it differently than before, or when a file that it reads
(``deciding_files.py``) was changed, added or deleted. All tasks are affected when the earlier suite cannot be
read. Changed files are those that git reports since the commit, or since the merge base if the current
commit does not descend from it.

Compared with its newest result (``outdated_tasks``), a task is also affected when the executor or model
differs, and without a result: the record of a run has the digests of the files that decided it, and the
contents of most.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from waza_engine.files import Boundary, FileError, checked_size
from waza_engine.graders.base import Grader
from waza_engine.masking import masked
from waza_engine.processes.git import PLAIN, GitError, commit_named, git
from waza_engine.results.freshness import agent_differs, deciding_values
from waza_engine.results.inputs import RunInputs, digest_of, inputs_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import RunOrigin, TaskResult
from waza_engine.runs.agent.agent_skills import SkillSet, suite_skills
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.loading.suite_on_disk import NothingAffectedError, Suite, SuiteError, load_suite
from waza_engine.runs.passes.deciding_files import (
    LONGEST_TEXT,
    MOST_RECORDED_BYTES,
    DecidingFiles,
    OwnFiles,
    current_inputs,
    is_read,
)
from waza_engine.runs.settings.options import explicit_settings, project_config, with_options, written_folders
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask, select
from waza_engine.runs.trials.triggers import trigger_file
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles, Version
from waza_engine.spec.skill_file import AGENT_SUFFIX, SKILL_FILE

if TYPE_CHECKING:
    from waza_engine.runs.loading.suite_on_disk import SuiteTask
    from waza_engine.runs.trials.trial import TrialTask


_FULL_HASH = 40
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Affected:
    """The affected tasks out of ``of`` selected ones, and whether the trigger prompts are affected.

    ``commit`` is the full hash of the base commit. ``warnings`` name paths that git does not cover.
    """

    commit: str
    tasks: tuple[SelectedTask, ...]
    of: int
    triggers: bool
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return its entry in the header of the results."""
        return {"commit": self.commit, "tasks": len(self.tasks), "of": self.of}


def affected_tasks(
    suite: Suite,
    tasks: Sequence[SelectedTask],
    settings: RunSettings,
    project: ProjectConfig,
    build: Build,
) -> Affected:
    """Return the tasks of a run that are affected by the changes since its commit.

    ``suite`` has the settings and ``project`` applied, ``build`` is as for ``select``.

    Raises ``NothingAffectedError``, and the errors of ``changed_since``.
    """
    commit = settings.changed_since or ""
    changes = changed_since(suite.path, commit)
    before = suite_before(settings, FilesBefore(changes), build)
    reading = _Reading(suite, changes, written_folders(settings, suite.directory, project))
    found = tuple(
        task for task in tasks if _is_redefined(task, before, suite, project) or reading.of_task(task)
    )
    tries = bool(settings.prompts) or not settings.limited
    triggers = tries and _triggers(suite, before, reading, changes)
    if not found and not triggers:
        which = "none of the tasks asked for in" if settings.limited else "no task of"
        nothing = f"Nothing to run: what changed since {commit} affects {which} {suite.path}."
        raise NothingAffectedError(nothing, *(f"Note: {warning}." for warning in reading.warnings()))
    return Affected(changes.commit, found, len(tasks), triggers, tuple(reading.warnings()))


def _is_redefined(
    task: SelectedTask, before: SuiteBefore | None, suite: Suite, project: ProjectConfig
) -> bool:
    then = None if before is None else before.of(task)
    return then is None or then != deciding_parts_of(task, suite, project)


def _triggers(suite: Suite, before: SuiteBefore | None, reading: _Reading, changes: ChangedFiles) -> bool:
    """Return whether trigger prompts are affected: by their file, skills, or the agent's settings."""
    file = trigger_file(suite)
    if not file.is_file():
        return False
    other = before is None or before.suite != suite_key(suite)
    return other or changes.place(file) is not None or reading.of_triggers()


class _Reading:
    """The changed files that the tasks read; files that many tasks read are looked up once."""

    def __init__(self, suite: Suite, changes: ChangedFiles, written: Sequence[Path]) -> None:
        self._suite = suite
        self._changes = changes
        self._written = written
        self._skills = suite_skills(suite)
        self._agent = AgentSetup(suite, "", self._skills)
        self._gone = frozenset(path for path in changes.paths if not path.exists())
        self._reads = DecidingFiles(suite, self._agent, self._existed)
        own = OwnFiles(suite)
        # The files of the suite are compared by their meaning.
        self._paths = [path for path in changes.paths if path not in own]
        self._own = own
        self._known: dict[Path, bool] = {}
        self._unseen: dict[Path, None] = {}

    def of_task(self, task: SelectedTask) -> bool:
        """Return whether a task reads a changed file, or one that git does not cover: a repository."""
        if task.trial is None:
            return False
        places = self._reads.places(task.source, task.trial)
        # Look at all of them: those that git does not cover are reported.
        changed = [self._has_changed(place) for place in sorted(places)]
        repositories = any(len(found.commit.strip()) != _FULL_HASH for found in task.trial.spec.inputs.repos)
        return any(changed) or repositories or self._lost_skill(self._agent.skills_of(task.trial.spec))

    def of_triggers(self) -> bool:
        """Return whether a trigger prompt reads a changed file: of skills, fixtures, instructions."""
        places = {
            *self._skills.directories,
            *self._reads.places_of_suite(),
            self._suite.directory / "fixtures",
        }
        changed = [self._has_changed(place) for place in sorted(places)]
        return any(changed) or self._lost_skill(self._skills)

    def warnings(self) -> list[str]:
        """Return warnings about paths that git does not cover."""
        if not self._unseen:
            return []
        names = [str(place) for place in self._unseen]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        listed = ", ".join(names[:_SHOWN]) + more
        return [
            f"whether {listed} changed is not known: it lies outside of the repository {self._changes.top}"
        ]

    def _has_changed(self, place: Path) -> bool:
        if place not in self._known:
            self._known[place] = self._check_changed(place)
        return self._known[place]

    def _check_changed(self, place: Path) -> bool:
        if not self._changes.covers(place):
            self._unseen[place] = None
        if self._changes.place(place) is not None:
            return place not in self._own
        return any(is_read(file, place, self._suite.directory, self._written) for file in self._paths)

    def _lost_skill(self, skills: SkillSet) -> bool:
        """Return whether a skill's definition is gone from a searched directory."""
        searched = {Path(place).resolve() for place in skills.searched}
        return any(
            path.parent in searched or path.parent.parent in searched
            for path in self._gone
            if path.name == SKILL_FILE or path.name.endswith(AGENT_SUFFIX)
        )

    def _existed(self, place: Path) -> bool:
        """Return whether a path exists, or was deleted since the commit."""
        if place.exists():
            return True
        found = Path(place).resolve()
        return any(found == path or found in path.parents for path in self._gone)


Build = Callable[[GraderEntry], Grader[Any]]


@dataclass(frozen=True, slots=True)
class SuiteBefore:
    """The earlier definition of a suite and of its tasks by file and id, as far as it decides verdicts."""

    suite: Mapping[str, Any]
    tasks: Mapping[tuple[Path, str], object]

    def of(self, task: SelectedTask) -> object:
        """Return the earlier definition of a task, None if it did not exist."""
        return self.tasks.get((task.source.path, task.source.id))


def suite_before(settings: RunSettings, files: SuiteFiles, build: Build) -> SuiteBefore | None:
    """Return the suite from ``files``, with the options of a run; None when it cannot be read.

    ``build`` is as for ``select``.
    """
    try:
        suite = load_suite(settings.path, explicit_settings(settings), files=files)
        project, _ = project_config(suite.directory, files)
        suite = with_options(suite, settings, project)
        tasks, _ = select(suite, (), settings.graders, build=build, files=files)
    except (SuiteFileError, SuiteError):
        return None
    known = {(task.source.path, task.source.id): deciding_parts_of(task, suite, project) for task in tasks}
    return SuiteBefore(suite_key(suite), known)


def deciding_parts_of(task: SelectedTask, suite: Suite, project: ProjectConfig) -> object:
    """Return the parts of a suite that decide a task's verdicts, or the error of a broken task."""
    if task.trial is None:
        return task.source.error
    return task_key(task.source, task.trial, suite, float(project.graders.program_timeout))


def task_key(
    source: SuiteTask, task: TrialTask, suite: Suite, program_timeout_seconds: float
) -> dict[str, Any]:
    """Return everything that decides the results of a task, as JSON: two suites are compared by it.

    ``suite`` has the options of the run applied, and ``task`` its selected graders.
    """
    return {
        "suite": suite_key(suite),
        "task": task.spec.model_dump(mode="json"),
        "task_id": source.id,
        "task_name": source.name,
        "graders": [[built.name, built.entry.model_dump(mode="json")] for built in task.graders],
        "expected": [task.grade_expected, list(task.expected_names)],
        "program_timeout": program_timeout_seconds,
    }


def suite_key(suite: Suite) -> dict[str, Any]:
    """Return the suite's definition, without its tasks and settings that decide no answer."""
    return deciding_values(suite.spec.model_dump(mode="json", exclude={"tasks", "graders", "metrics"}))


def outdated_tasks(
    suite: Suite, tasks: Sequence[SelectedTask], settings: RunSettings, build: Build
) -> list[SelectedTask]:
    """Return the tasks that are outdated, in their order. ``build`` is as for ``select``."""
    recorded = latest_results(suite.directory, eval_file=suite.path.name)
    results: Mapping[str, TaskResult] = {} if recorded is None else recorded.tasks
    origins = {task.id: task.origin for task in results.values() if task.was_run}
    config = suite.spec.config
    found: set[str] = set()
    groups: dict[RunOrigin, list[SelectedTask]] = {}
    for task in tasks:
        origin = origins.get(task.source.id)
        if (
            origin is None
            or not origin.inputs
            or any(agent_differs(origin.executor, origin.model, config.executor, config.model))
        ):
            found.add(task.source.id)
        else:
            groups.setdefault(origin, []).append(task)
    for origin, recorded_then in groups.items():
        found |= _Since(origin, suite, settings, build).outdated(recorded_then)
    return [task for task in tasks if task.source.id in found]


class _Since:
    """The changes since a recorded run."""

    def __init__(self, origin: RunOrigin, suite: Suite, settings: RunSettings, build: Build) -> None:
        self._suite = suite
        self._settings = settings
        self._build = build
        self._recorded = inputs_of(origin.results, origin.inputs)
        self._own_files = OwnFiles(suite)
        self._own: dict[str, bool] = {}

    def outdated(self, tasks: Sequence[SelectedTask]) -> set[str]:
        """Return the ids of the tasks that have changed."""
        if not self._recorded.files:
            return {task.source.id for task in tasks}
        # The suite is compared by its meaning, not by its digests.
        then = self._by_task(self._recorded, tasks)
        now = self._by_task(current_inputs(self._suite, tasks), tasks)
        before, today = self._definitions()
        found: set[str] = set()
        for task in tasks:
            name = task.source.id
            earlier = None if before is None else before.of(task)
            same = earlier is not None and today is not None and earlier == today.of(task)
            if not same or not self._same_files(then[name], now[name]):
                found.add(name)
        return found

    def _same_files(self, then: Mapping[str, str], now: Mapping[str, str]) -> bool:
        """Return whether no file was added and all that decided the task are unchanged.

        A path relative to the folder that a run started in is resolved from there alone.
        """
        return not now.keys() - then.keys() and all(
            now.get(name) == digest or (name not in now and self._digest(name) == digest)
            for name, digest in then.items()
        )

    def _definitions(self) -> tuple[SuiteBefore | None, SuiteBefore | None]:
        """Return the suite's old and new definitions, from masked texts where they differ."""
        old: dict[Path, str] = {}
        new: dict[Path, str] = {}
        for file in self._recorded.files:
            if self._is_own(file.path) and self._digest(file.path) != file.sha256:
                path, text = self._suite.directory / file.path, self._recorded.texts.get(file.path)
                if text is None:
                    return None, None
                old[path] = text
                # One that is gone is in no suite of today.
                with contextlib.suppress(FileError):
                    new[path] = masked(DISK.text_of(path, LONGEST_TEXT))
        if not old:
            return (same := self._read(DISK)), same
        return self._read(DISK.overlaid(old)), self._read(DISK.overlaid(new))

    def _read(self, files: SuiteFiles) -> SuiteBefore | None:
        return suite_before(self._settings, files, self._build)

    def _digest(self, name: str) -> str:
        try:
            return digest_of(DISK.bytes_of(self._suite.directory / name, MOST_RECORDED_BYTES))
        except FileError:
            return ""

    def _is_own(self, name: str) -> bool:
        if name not in self._own:
            self._own[name] = self._suite.directory / name in self._own_files
        return self._own[name]

    def _by_task(self, inputs: RunInputs, tasks: Sequence[SelectedTask]) -> dict[str, dict[str, str]]:
        """Return the digests of the files that each task reads, by the path in the record."""
        found: dict[str, dict[str, str]] = {task.source.id: {} for task in tasks}
        for file in inputs.files:
            if not self._is_own(file.path):
                for name in file.tasks or found:
                    if name in found:
                        found[name][file.path] = file.sha256
        return found


_MOST_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of a repository that changed since ``commit``, its full hash. ``top`` is the working tree.

    ``paths`` have no links in their directories. A submodule, or a repository inside this one, is one path:
    all below it has changed.
    """

    top: Path
    commit: str
    paths: frozenset[Path]
    _before: dict[Path, str | None] = field(default_factory=dict[Path, str | None])
    _known: dict[Path, Path | None] = field(default_factory=dict[Path, Path | None])

    def place(self, path: Path) -> Path | None:
        """Return the changed path that equals or contains a file or folder, None if it is unchanged."""
        # Many tasks name the same files.
        if path not in self._known:
            self._known[path] = next(self._places(path), None)
        return self._known[path]

    def covers(self, path: Path) -> bool:
        """Return whether git knows this path; one outside the working tree may have changed unseen."""
        found = Path(os.path.realpath(path))
        return found == self.top or self.top in found.parents

    def _places(self, path: Path) -> Iterator[Path]:
        for found in paths_through_links(path):
            yield from (place for place in (found, *found.parents) if place in self.paths)

    def text_before(self, place: Path) -> str | None:
        """Return the content of a changed path at the commit, None if it was not a file then."""
        if place not in self._before:
            name = place.relative_to(self.top).as_posix()
            try:
                blob = f"{self.commit}:{name}"
                text = git("cat-file", "blob", blob, at=self.top, limit_bytes=_MOST_BYTES)
            except GitError:
                text = None
            self._before[place] = text
        return self._before[place]


def changed_since(eval_file: Path, commit: str) -> ChangedFiles:
    """Return what has changed in the repository of a suite since a commit, named as in git.

    Raises ``SuiteError`` when there is no repository, no such commit, or git fails.
    """
    directory = eval_file.parent
    try:
        top = Path(git("rev-parse", "--show-toplevel", at=directory).rstrip("\n"))
    except GitError as error:
        why = (
            "is in no git repository" if "not a git repository" in str(error) else f"cannot be asked: {error}"
        )
        raise SuiteError(f"`--changed-since` asks git what has changed, and {directory} {why}.") from None
    found = commit_named(commit, top) if commit else None
    if found is None:
        raise SuiteError(f"`--changed-since`: git knows no commit `{commit}` in {top}.{_fetching(top)}")
    try:
        shared = _shared(found, top)
        # `.gitmodules` may hide changes of submodules.
        whole = ("--no-renames", "--no-ext-diff", "--ignore-submodules=none")
        listed = ("diff", "--name-only", *whole, "-z", shared, "--")
        changed = git(*PLAIN, *listed, at=top, limit_bytes=_MOST_BYTES)
        untracked = ("ls-files", "--others", "--exclude-standard", "-z")
        new = git(*PLAIN, *untracked, at=top, limit_bytes=_MOST_BYTES)
        # Generated suites are often ignored, so no commit has their earlier text.
        own = ("ls-files", "--others", "--full-name", "-z", "--", f":(literal){eval_file.name}")
        new += git(*PLAIN, *own, at=directory)
    except GitError as error:
        raise SuiteError(f"`--changed-since {commit}`: {error}.") from None
    top = Path(os.path.realpath(top))
    return ChangedFiles(top, shared, frozenset(_paths(top, (changed + new).split("\0"))))


class FilesBefore(SuiteFiles):
    """The files of a suite at a commit: a changed file has its old text, a new one cannot be read.

    Folders are listed as they are now. ``opened`` are open files, by absolute path.
    """

    __slots__ = ("_changes", "_opened")

    def __init__(self, changes: ChangedFiles, opened: Mapping[Path, str] | None = None) -> None:
        laid = DISK.overlaid(opened or {})
        super().__init__(laid._texts, laid._identities)
        self._changes = changes
        self._opened = opened or {}

    def overlaid(self, texts: Mapping[Path, str]) -> Self:
        """Return these files with open files on top."""
        return type(self)(self._changes, {**self._opened, **texts})

    def bytes_of(self, path: Path, limit: int, *, within: Boundary | None = None) -> bytes:
        """Return the content that a file had. Raises ``FileError``."""
        place = None if self._is_open(path) else self._changed(path)
        if place is None:
            return SuiteFiles.bytes_of(self, path, limit, within=within)
        text = self._before(place, path)
        if text is None:
            raise FileError("missing", "the file did not exist", errno.ENOENT)
        if within is not None:
            within.resolved(path)
        return checked_size(text.encode("utf-8", "surrogatepass"), limit)

    def is_named(self, path: Path) -> bool:
        """Return whether a file existed."""
        place = self._changed(path)
        return SuiteFiles.is_named(self, path) if place is None else self._before(place, path) is not None

    def is_there(self, path: Path) -> bool:
        """Return whether something existed at a path."""
        place = self._changed(path)
        return SuiteFiles.is_there(self, path) if place is None else self._before(place, path) is not None

    def version(self, path: Path) -> Version | None:
        """Return a version that differs when the old text differs."""
        place = None if self._is_open(path) else self._changed(path)
        if place is None:
            return SuiteFiles.version(self, path)
        text = self._before(place, path)
        return None if text is None else Version(text)

    def _is_open(self, path: Path) -> bool:
        return bool(self._texts) and SuiteFiles._open_text(self, path) is not None

    def _changed(self, path: Path) -> Path | None:
        return self._changes.place(path)

    def _before(self, place: Path, path: Path) -> str | None:
        # Files below a submodule are not in this repository.
        below = place not in paths_through_links(path)
        return None if below else self._changes.text_before(place)


def paths_through_links(path: Path) -> tuple[Path, Path]:
    """Return where a path is, the links of its folders followed, and where it leads when it is one."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - links stay
    return Path(os.path.realpath(folder), name), Path(os.path.realpath(path))


def _shared(commit: str, top: Path) -> str:
    """Return the merge base of a commit and the current one; itself when there is none."""
    try:
        return git("merge-base", commit, "HEAD", at=top).split()[0]
    except (GitError, IndexError):
        return commit


def _fetching(top: Path) -> str:
    try:
        shallow = git("rev-parse", "--is-shallow-repository", at=top).strip() == "true"
    except GitError:
        return ""
    return " This clone holds the last commits alone: fetch the others first." if shallow else ""


def _paths(top: Path, names: Iterable[str]) -> Iterable[Path]:
    for name in names:
        if name:
            # A folder with a slash at its end is another repository.
            yield top / name.rstrip("/")
