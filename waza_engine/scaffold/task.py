"""A task for a suite that is there: a file that one of its patterns picks up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.scaffold.composing import compose
from waza_engine.scaffold.file_changes import ScaffoldError, as_beside, free_name, slug
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.task_globs import GlobError, matches, split_pattern

_FILE_NAME = re.compile(r"\w[\w.-]*")
_WILDCARDS = re.compile(r"\*+")
_SUFFIXES = (".yaml", ".yml")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?", re.IGNORECASE)
"""Names that Windows keeps for itself, with any ending."""


@dataclass(frozen=True, slots=True)
class NewTask:
    """A new task: the file and its content."""

    path: Path
    text: str


def new_task(identifier: str, suite: Path, *, prompt: str = "", name: str = "") -> NewTask:
    """Return a task for the suite of an eval file, or of the directory it is in; nothing is written.

    Raises ``ScaffoldError``, also when no pattern of the suite would pick the file up.
    """
    place = task_location(identifier, suite)
    if place.file is None:
        raise ScaffoldError(
            f"`tasks` of {place.suite} picks up {place.patterns}, where no new file fits; "
            "add `- tasks/*.yaml` to it first."
        )
    # If two graders share a name, only the later one counts.
    grader = free_name("has_answer", place.graders)
    return NewTask(place.file, as_beside(place.suite, _text(identifier, name, prompt, grader)))


def why_no_task(identifier: str, suite: Path, *, listed: bool = False) -> str | None:
    """Return why a suite can have no new task of that id; None when it can.

    ``listed``: its eval file lists the new one where no pattern would pick it up.
    """
    try:
        path = unused_task_path(identifier, suite).listed if listed else new_task(identifier, suite).path
    except ScaffoldError as error:
        return error.what
    return f"{path} is there already; choose another id." if path.exists() else None


def unused_task_path(identifier: str, suite: Path) -> TaskLocation:
    """Return where a task goes that its eval file may list. Raises ``ScaffoldError`` for an id in use."""
    place = task_location(identifier, suite)
    if place.taken is not None:
        raise ScaffoldError(f"{place.taken} has the id `{identifier}` already; choose another one.")
    return place


@dataclass(frozen=True, slots=True)
class TaskLocation:
    """The location of a new task of a suite; ``file`` is None when no pattern would match it.

    ``stem`` names its file, ``graders`` are the names that the suite's graders have.
    """

    suite: Path
    file: Path | None
    stem: str
    patterns: str
    graders: frozenset[str]
    taken: Path | None = None
    """The file that has a task of this id already, where no pattern picks up a new one."""

    @property
    def listed(self) -> Path:
        """Its file, where the eval file may list it."""
        return self.file or self.suite.parent / "tasks" / f"{self.stem}.yaml"


def task_location(identifier: str, suite: Path) -> TaskLocation:
    """Return the location of a new task. Raises ``ScaffoldError`` for an invalid or taken id."""
    if not identifier.strip() or any(not character.isprintable() for character in identifier):
        raise ScaffoldError("The id of a task must be a word such as `explains-loops`.")
    try:
        path = eval_file_of(suite).absolute()
        spec, _ = load_eval_file(path)
        known = _known_ids(path, spec)
    except (SuiteFileError, SuiteError) as error:
        raise ScaffoldError(f"{str(error).rstrip('.')}.") from None
    if spec.tasks_from:
        raise ScaffoldError(f"The tasks of {path} are the rows of {spec.tasks_from}; add a row there.")
    stem = identifier if _FILE_NAME.fullmatch(identifier) else slug(identifier, "task")
    place = _place(path.parent, spec, stem)
    wanted = ", ".join(f"`{element}`" for element in spec.tasks if isinstance(element, str)) or "nothing"
    # If nothing matches, report that first: another id would not help.
    if place is not None and identifier in known and known[identifier] != place:
        raise ScaffoldError(f"{known[identifier]} has the id `{identifier}` already; choose another one.")
    _refuse_on_other_systems(identifier, place or path.parent / "tasks" / f"{stem}.yaml")
    names = frozenset(entry.name or entry.type for entry in spec.graders)
    return TaskLocation(path, place, stem, wanted, names, None if place else known.get(identifier))


def _refuse_on_other_systems(identifier: str, file: Path) -> None:
    """Raise for a file name that would collide with another one on Windows or macOS."""
    for made in (file, *file.parents):
        if made.exists():
            return
        if _DEVICES.fullmatch(made.name):
            raise ScaffoldError(
                f"The file of the task `{identifier}` would be {file}, and Windows keeps that name "
                "for itself; choose another id."
            )
        beside = made.parent.iterdir() if made.parent.is_dir() else ()
        same = next((path for path in beside if path.name.lower() == made.name.lower()), None)
        if same is not None:
            raise ScaffoldError(
                f"{same} is there already, and on Windows and macOS {made.name} would be the same; "
                "choose another id."
            )


def _known_ids(path: Path, spec: EvalFile) -> dict[str, Path]:
    try:
        return {task.id: task.path for task in load_suite(path).tasks} if not spec.tasks_from else {}
    except SuiteError:
        return {}  # a suite without tasks yet


def _place(directory: Path, spec: EvalFile, stem: str) -> Path | None:
    for element in spec.tasks:
        if not isinstance(element, str):
            continue
        for path in _candidates(directory, element, stem):
            try:
                if path.suffix in _SUFFIXES and matches(directory, element, path):
                    return path
            except GlobError:
                break
    return None


def _candidates(directory: Path, pattern: str, stem: str) -> list[Path]:
    """Return paths that the pattern may pick up, with the id in the place of its wildcards."""
    if "*" not in pattern:
        return []
    *folders, last = split_pattern(pattern) or [""]
    above = directory
    for folder in folders:
        above = above.parent if folder == ".." else above / _filled(folder, stem)
    names = [_filled(last, stem), *(f"{stem}{suffix}" for suffix in _SUFFIXES)]
    return [above / name for name in names if name]


def _filled(pattern: str, stem: str) -> str:
    """Return a part of a pattern with a name in its place: ``**`` is one folder as ``*`` is."""
    return _WILDCARDS.sub(lambda _: stem, pattern)


_TASK = """\
id: $id
name: $name

inputs:
  prompt: $prompt

# What must a good answer contain? Make this check your own.
graders:
  - type: code
    name: $grader
    config:
      assertions:
        - len(output.strip()) > 0
"""


def _text(identifier: str, name: str, prompt: str, grader: str) -> str:
    asked = " ".join((prompt or "Replace this with what a user would write").split())
    return compose(_TASK, id=identifier, name=name or identifier, prompt=asked, grader=grader)
