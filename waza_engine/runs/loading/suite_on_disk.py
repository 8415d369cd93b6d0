"""A suite on disk: the eval file and its tasks, each with its errors.

A task that cannot be used is a task in error; the others run. Raise only if nothing is left to run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from waza_engine.boundary import FileError, is_foreign, resolve_suite_path, suite_boundary
from waza_engine.files import Boundary, printable, relative_name
from waza_engine.graders.registry import known_type
from waza_engine.runs.loading.dataset import load_dataset
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.explain import location_of, sentence
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.loading import canonical_grader, inline_task, load_eval_file, load_task_file
from waza_engine.spec.problems import SuiteFileError, SuiteFileWarning
from waza_engine.spec.reading.file_cache import FileCache
from waza_engine.spec.reading.grader_packages import (
    LOCK_NAME,
    GraderPackageError,
    packaged_entry,
    refuse_javascript,
)
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.task_globs import GlobError, expand, is_literal, name_matches, split_pattern
from waza_engine.spec.reading.yaml_reader import read_text, read_yaml, read_yaml_file
from waza_engine.spec.task_file import TaskFile


class SuiteError(Exception):
    """The suite has nothing to run for this request; the message is for its author, one sentence a line."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


class AlreadyResumedError(SuiteError):
    """Another run has resumed the same run, or is doing so."""


class NothingAffectedError(SuiteError):
    """No change since a commit affects a task or the trigger prompts: nothing to run, and no error."""


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """A task of a suite. ``task`` is None when its file cannot be used, and ``error`` says why.

    ``place`` is its index in its file, from 0: among the elements of ``tasks``, or the rows of a dataset.
    ``digest`` is the SHA-256 of a task file as it was read.
    """

    id: str
    name: str
    path: Path
    task: TaskFile | None
    error: str = ""
    place: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """A loaded suite. ``directory`` is where its relative paths start.

    ``warnings`` name parts without effect. ``switched_off`` are the tasks with ``enabled: false``. ``digest``
    is the SHA-256 of the eval file, and of the dataset that it names, as they were read.
    """

    path: Path
    directory: Path
    spec: EvalFile
    tasks: tuple[SuiteTask, ...]
    warnings: tuple[str, ...] = ()
    switched_off: tuple[SuiteTask, ...] = ()
    digest: str = ""

    def file_of(self, task: SuiteTask) -> str:
        """Return the path of a task's file, relative to the suite, with slashes."""
        return relative_name(task.path, self.directory)

    def digest_of(self, task: SuiteTask) -> str:
        """Return a digest of the files that a task is loaded from; the same in each checkout."""
        return _digest(self.digest, task.digest)

    @property
    def is_trigger_list(self) -> bool:
        """Return whether it was made of a trigger list: the only suite without tasks."""
        return not (self.spec.tasks or self.spec.tasks_from)

    @property
    def grader_names(self) -> tuple[str, ...]:
        """The names of the graders that apply to every task."""
        return tuple(entry.name or entry.type for entry in self.spec.graders)


_SLASHES = "Write `/` between folders: `\\` escapes the next character"


def load_suite(
    path: Path,
    given: Mapping[str, object] | None = None,
    *,
    disabled: bool = False,
    lenient: bool = True,
    files: SuiteFiles = DISK,
    cache: FileCache | None = None,
    only: str | None = None,
) -> Suite:
    """Return the suite of an eval file with its enabled tasks, with ``disabled`` the disabled ones, too.

    ``given``, ``lenient`` and ``files`` are as for ``load_eval_file``. Files in ``cache`` are not loaded
    again. With ``only``, the tasks are those of this file (``Suite.file_of``), and no other task file is
    read: a worker needs the file of its trial alone.

    Raises:
        SuiteFileError: when the eval file cannot be used, or a grader of a package that it names.
        SuiteError: when it names no task at all.

    """
    path = path.absolute()
    cache = cache or FileCache()
    spec, found, broken, digest = cache.value_of(
        path,
        files,
        lambda files: _load(path, given, files, lenient=lenient),
        key=("eval file", repr(given), lenient),
    )
    spec = with_packages(path, spec, files)
    _check_paths(path, spec)
    warnings = [str(warning) for warning in found]
    if spec.tasks_from:
        dataset = load_dataset(path, spec, files)
        rows = tuple(
            _inside(path.parent, SuiteTask(row.id, row.name, dataset.path, row.task, row.error, index))
            for index, row in enumerate(dataset.tasks)
        )
        warnings += [*dataset.warnings, *_twice(rows)]
        digest = _digest(digest, _digest_of_file(dataset.path, files))
        return Suite(path, path.parent, spec, rows, tuple(warnings), digest=digest)
    if not spec.tasks:
        return Suite(path, path.parent, spec, (), tuple(warnings), digest=digest)
    tasks: list[SuiteTask] = []
    patterns: list[str] = []
    if only not in (None, path.name):
        tasks.append(_task_of_file(path.parent / only, suite_boundary(path.parent), warnings, files, cache))
    for position, element in enumerate(spec.tasks if only in (None, path.name) else ()):
        if position in broken:
            tasks.append(_broken_task(path, position, broken[position], files))
        elif not isinstance(element, str):
            task = inline_task(element)
            tasks.append(_suite_task(path, task, fallback=f"task-{position + 1}", place=position))
        elif only is None:
            patterns.append(element)
            tasks += _tasks_of_pattern(path, element, warnings, files, cache)
    if not tasks:
        wanted = ", ".join(f"`{pattern}`" for pattern in patterns) or "nothing"
        advice = f" {_SLASHES}." if any("\\" in pattern for pattern in patterns) else ""
        raise SuiteError(f"{path}: no task file matches {wanted} in {path.parent}.{advice}")
    tasks = [_inside(path.parent, task) for task in tasks]
    enabled = tuple(task for task in tasks if disabled or task.task is None or task.task.enabled)
    if not enabled:
        raise SuiteError(f"{path}: every task is switched off by `enabled: false`.")
    switched_off = tuple(task for task in tasks if task not in enabled)
    return Suite(path, path.parent, spec, enabled, (*warnings, *_twice(enabled)), switched_off, digest)


def select_tasks(
    suite: Suite, patterns: Sequence[str], tag_patterns: Sequence[str] = ()
) -> tuple[SuiteTask, ...]:
    """Return the tasks whose id or display name matches one of the patterns, all without patterns.

    With tag patterns, one of a task's tags must match one of them, too. Raises ``SuiteError`` for a pattern
    that cannot be read, and when nothing is left.
    """
    if suite.is_trigger_list and not patterns and not tag_patterns:
        return ()
    tagged = tuple(task for task in suite.tasks if _is_tagged(task, tag_patterns))
    if not tagged:
        wanted = ", ".join(f"`{pattern}`" for pattern in tag_patterns)
        known = dict.fromkeys(tag for task in suite.tasks if task.task is not None for tag in task.task.tags)
        raise SuiteError(f"No task has a tag {wanted}; the suite has {', '.join(known) or 'none'}.")
    if not patterns:
        return tagged
    try:
        chosen = tuple(task for task in tagged if _is_named(task, patterns))
    except GlobError as error:
        raise SuiteError(f"A task pattern cannot be read: {error}.") from None
    if not chosen:
        if off := [f"`{task.id}`" for task in suite.switched_off if _is_named(task, patterns)]:
            are = "is" if len(off) == 1 else "are"
            raise SuiteError(
                f"{', '.join(off)} {are} switched off by `enabled: false`; take that away or name others."
            )
        known = ", ".join(task.id for task in suite.tasks)
        wanted = ", ".join(f"`{pattern}`" for pattern in patterns)
        raise SuiteError(f"No task matches {wanted}; the suite has {known}.")
    return chosen


def _is_tagged(task: SuiteTask, patterns: Sequence[str]) -> bool:
    if not patterns:
        return True
    tags = () if task.task is None else task.task.tags
    try:
        return any(name_matches(pattern, tag) for pattern in patterns for tag in tags)
    except GlobError as error:
        raise SuiteError(f"A tag pattern cannot be read: {error}.") from None


def _load(
    path: Path, given: Mapping[str, object] | None, files: SuiteFiles, *, lenient: bool
) -> tuple[EvalFile, Sequence[SuiteFileWarning], Mapping[int, SuiteFileError], str]:
    """Return the eval file, its warnings, the errors of its inline tasks by position, and its digest."""
    broken: dict[int, SuiteFileError] = {}
    while True:
        try:
            spec, warnings = load_eval_file(path, given, lenient=lenient, left_out=broken, files=files)
            return spec, warnings, broken, _digest_of_file(path, files)
        except SuiteFileError as error:
            key, position = (*error.location, None, None)[:2]
            if not lenient or key != "tasks" or not isinstance(position, int) or position in broken:
                raise
            broken[position] = error


def _digest_of_file(path: Path, files: SuiteFiles, within: Boundary | None = None) -> str:
    return _digest(read_text(path, within=within, files=files))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _broken_task(path: Path, position: int, error: SuiteFileError, files: SuiteFiles) -> SuiteTask:
    written: Any = read_yaml(path, files=files)
    element = written["tasks"][position]
    known = cast("dict[str, object]", element) if isinstance(element, dict) else {}
    identifier = str(known.get("id") or f"task-{position + 1}")
    return SuiteTask(identifier, str(known.get("name") or identifier), path, None, str(error))


def _tasks_of_pattern(
    eval_path: Path, pattern: str, warnings: list[str], files: SuiteFiles, cache: FileCache
) -> list[SuiteTask]:
    within = suite_boundary(eval_path.parent)

    def listing(directory: Path) -> Iterable[tuple[str, bool]] | None:
        return files.listing(directory) if within.holds(directory) else None

    def has_entry(path: Path) -> bool:
        return within.holds(path.parent) and files.has_entry(path)

    try:
        if is_foreign(pattern) or not within.holds(eval_path.parent / pattern.partition("*")[0]):
            raise SuiteFileError(eval_path, 1, f"`tasks`: `{pattern}` leads out of {within.name}")
        paths = expand(eval_path.parent, pattern, listing, has_entry=has_entry)
    except GlobError as error:
        raise SuiteError(f"{eval_path}: the task pattern `{pattern}` cannot be read: {error}.") from None
    if not paths and all(map(is_literal, split_pattern(pattern))):
        warnings.append(f"{eval_path}: there is no file `{pattern}`, so this task is left out")
    elif not paths and "\\" in pattern:
        warnings.append(f"{eval_path}: no task file matches `{pattern}`. {_SLASHES}")
    return [_task_of_file(path, within, warnings, files, cache) for path in paths]


def _task_of_file(
    path: Path, within: Boundary, warnings: list[str], files: SuiteFiles, cache: FileCache
) -> SuiteTask:
    name = printable(path.stem)
    try:
        task, found, digest = _loaded_task(path, within, files, cache)
    except SuiteFileError as error:
        return SuiteTask(name, name, path, None, str(error))
    warnings += [str(warning) for warning in found]
    return _suite_task(path, task, fallback=name, digest=digest)


def _check_paths(path: Path, spec: EvalFile) -> None:
    """Raise ``SuiteFileError`` for a path of the eval file that leads out of the boundary of the suite."""
    config = spec.config
    named = [("config.skill_directories", written) for written in config.skill_directories]
    named += [("config.adapter", config.adapter), ("config.recording", config.recording)]
    try:
        for key, written in named:
            if written:
                resolve_suite_path(path.parent, written, key)
    except FileError as error:
        raise SuiteFileError(path, 1, error.why) from None


def _inside(directory: Path, found: SuiteTask) -> SuiteTask:
    """Return a task, in error when a path of it leads out of the boundary of the suite."""
    task = found.task
    if task is None:
        return found
    named = [("context_dir", task.context_dir)]
    named += [("skill_directories", written) for written in task.skill_directories]
    try:
        for key, written in named:
            if written:
                resolve_suite_path(directory, written, key)
    except FileError as error:
        return replace(found, task=None, error=f"{found.path}: {error.why}")
    return found


def _loaded_task(
    path: Path, within: Boundary, files: SuiteFiles, cache: FileCache
) -> tuple[TaskFile, Sequence[SuiteFileWarning], str]:
    def load(files: SuiteFiles) -> tuple[TaskFile, Sequence[SuiteFileWarning], str]:
        task, warnings = load_task_file(path, within=within, files=files)
        return task, warnings, _digest_of_file(path, files, within)

    return cache.value_of(path, files, load, key="task file", within=within)


def _suite_task(path: Path, task: TaskFile, *, fallback: str, place: int = 0, digest: str = "") -> SuiteTask:
    identifier = task.id or fallback
    return SuiteTask(identifier, task.name or identifier, path, task, place=place, digest=digest)


def _is_named(task: SuiteTask, patterns: Sequence[str]) -> bool:
    return any(name_matches(pattern, task.id) or name_matches(pattern, task.name) for pattern in patterns)


def _twice(tasks: Sequence[SuiteTask]) -> list[str]:
    seen: dict[str, SuiteTask] = {}
    warnings: list[str] = []
    for task in tasks:
        earlier = seen.setdefault(task.id, task)
        if earlier is not task:
            warnings.append(f"{task.path}: the task id `{task.id}` occurs twice, first in {earlier.path}")
    return warnings


def with_packages(path: Path, spec: EvalFile, files: SuiteFiles) -> EvalFile:
    """Return the eval file with its ``ref`` keys replaced by the graders they name.

    ``path`` is that of the eval file. Raises ``SuiteFileError`` at a ``ref`` that cannot be resolved.
    """
    if not any(entry.ref for entry in spec.graders):
        return spec
    graders: list[GraderEntry] = []
    for position, entry in enumerate(spec.graders):
        try:
            graders.append(packaged_grader(entry, path, files) if entry.ref else entry)
        except GraderPackageError as error:
            place = ("graders", position, "ref")
            line = read_yaml_file(path, files=files).line_of(place)
            raise SuiteFileError(path, line, str(error), place) from None
    return spec.model_copy(update={"graders": tuple(graders)})


def packaged_grader(entry: GraderEntry, eval_path: Path, files: SuiteFiles) -> GraderEntry:
    """Return the grader that an entry's ``ref`` names: that of the package, with the entry's keys.

    The entry's keys win; ``config`` is merged key by key, recursively. Raises ``GraderPackageError``.
    """
    lock_path = eval_path.parent / LOCK_NAME
    lock = _read(lock_path, files) if files.is_named(lock_path) else None
    written = packaged_entry(entry.ref, eval_path, lock, lambda path: _read(path, files))
    known = {key: value for key, value in written.items() if key in GraderEntry.model_fields and key != "ref"}
    try:
        preset = canonical_grader(GraderEntry.model_validate(known))
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        why = sentence(finding, location_of(finding, known))
        raise GraderPackageError(f"the grader of `{entry.ref}` cannot be used: {why}") from None
    if entry.type not in ("", preset.type):
        raise GraderPackageError(
            f"the grader of `{entry.ref}` is of type `{preset.type}`, not `{entry.type}`; leave `type` out"
        )
    grader = known_type(preset.type)
    if grader is not None and grader.runs_program:
        raise GraderPackageError(
            f"the grader of `{entry.ref}` is of type `{preset.type}`, which runs programs; "
            "write such a grader into the suite itself"
        )
    config = _merged(preset.config, entry.config)
    refuse_javascript(preset.type, config)
    own: dict[str, Any] = {"ref": entry.ref, "config": config}
    if entry.name:
        own["name"] = entry.name
    if "weight" in entry.model_fields_set and entry.weight:
        own["weight"] = entry.weight
    if "required" in entry.model_fields_set:
        own["required"] = entry.required
    return preset.model_copy(update=own)


def _read(path: Path, files: SuiteFiles) -> object:
    try:
        return read_yaml(path, files=files)
    except SuiteFileError as error:
        raise GraderPackageError(error.beside(path.name)) from None


def _merged(preset: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(preset)
    for key, value in own.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _merged(cast("dict[str, Any]", below), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged
