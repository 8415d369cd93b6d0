"""Find suites: the one in a directory, all below it, and those that test a skill."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import is_named
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.spec.foreign_evals import (
    ForeignEval,
    ForeignEvalError,
    foreign_eval_in,
    is_faulty_evals,
    is_named_as_evals,
)
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import EVAL_NAMES, is_environment, is_searched
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spelling import nearest

_LEVELS = 6
_SKILL = re.compile(r"""(?:^skill|"skill_name")[ \t]*:[ \t]*["']?([\w.][^"'#,\n]*)""", re.MULTILINE)
"""The skill of an ``eval.yaml`` or ``evals.json`` with a mistake."""


def eval_files(root: Path) -> list[Path]:
    """Return every eval file below a directory that runs, sorted; foreign folders are left out."""
    return sorted(path for path in _eval_files(root) if _foreign(path) is None)


def foreign_eval_files(paths: Iterable[Path]) -> list[ForeignEvalError]:
    """Return the eval files of other tools that do not run, in and below those paths that are directories."""
    found = (_foreign(path) for root in paths if root.is_dir() for path in sorted(_eval_files(root)))
    return [each for each in found if each is not None]


def eval_file_of(path: Path) -> Path:
    """Return the eval file in a directory or, without one, the only one below it.

    A path that is not a directory is returned unchanged; loading it reports what is wrong. Raises
    ``SuiteError`` for a directory without a suite, or with several.
    """
    return only_suite(path, eval_files_of([path]))


def only_suite(directory: Path, found: Sequence[Path]) -> Path:
    """Return the only eval file below a directory. Raises ``SuiteError`` when there are several."""
    if len(found) > 1:
        listed = ", ".join(str(file.parent) for file in found)
        raise SuiteError(f"{directory}: there are several suites below this directory ({listed}); name one.")
    return found[0]


def eval_files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the eval files that paths and names of skills select, each once, in the order of the paths.

    A directory means its own suite or, without one, all suites below it. Raises ``SuiteError`` for a path or
    a name that selects nothing.
    """
    found: dict[str, Path] = {}
    for path in paths:
        for eval_file in _selected(path):
            found.setdefault(os.path.realpath(eval_file), eval_file)
    return list(found.values())


def runs_as_suite(path: Path) -> bool:
    """Return whether a file is an eval file of another tool that runs: an ``evals.json``, a trigger list."""
    found = _evals_in(path)
    return found is not None and found.runs


def suite_of_task(path: Path) -> tuple[Path, str] | None:
    """Return the eval file that names a task file, and the id of the task; None for another kind of file.

    The folder of the task file and those above it are searched.
    """
    task_file = path.absolute()
    for folder in task_file.parents[:_LEVELS]:
        for eval_file in (folder / name for name in EVAL_NAMES if is_named(folder / name)):
            try:
                tasks = load_suite(eval_file, disabled=True).tasks
            except (SuiteError, SuiteFileError):
                continue
            found = next((task.id for task in tasks if task.path == task_file), None)
            if found is not None and eval_file != task_file:
                return eval_file, found
    return None


def _selected(path: Path) -> list[Path]:
    if not path.is_dir():
        is_name = len(path.parts) == 1 and not path.suffix and not is_named(path)
        return _testing_skill(path.name) if is_name else [path]
    if not path.is_absolute():
        # The current folder may have been deleted; this raises ``OSError`` then.
        Path.cwd()
    found = suites_in(path)
    if not found:
        others = [f"{error}." for error in foreign_eval_files([path])]
        none = f"{path}: there is no eval.yaml or evals.json in this directory or below it."
        raise SuiteError(*others or [none])
    return found


def suites_in(directory: Path) -> list[Path]:
    """Return the suite of a directory or, without one, all suites below it.

    An ``evals.json`` does not run beside an eval file that tests its skill: one was made of the other.
    """
    own = next((directory / name for name in EVAL_NAMES if is_named(directory / name)), None)
    if own is not None and _foreign(own) is None:
        return [own]
    return _once_each(eval_files(directory))


def _once_each(found: Sequence[Path]) -> list[Path]:
    tested = {_skill_of(path) for path in found if path.suffix != ".json"} - {None}
    return [path for path in found if path.suffix != ".json" or _skill_of(path) not in tested]


def _skill_of(eval_file: Path) -> str | None:
    """Return the skill that an eval file tests, None if the file cannot be read."""
    try:
        return load_eval_file(eval_file)[0].skill
    except SuiteFileError:
        return None


def _testing_skill(skill: str) -> list[Path]:
    """Return the eval files below the working directory that test a skill.

    An unreadable file is one of them, unless its text names only other skills: loading it reports why.
    """
    found: list[Path] = []
    tested: set[str] = set()
    unread: list[str] = []
    for eval_file in eval_files(Path()):
        try:
            skills = {load_eval_file(eval_file)[0].skill}
        except SuiteFileError as error:
            skills = _skills_named_in(eval_file)
            unread += [] if skills else [f"{error}."]
        tested |= skills
        if skill in skills or not skills:
            found.append(eval_file)
    if skill in tested:
        return _once_each(found)
    near = nearest(skill, tested)
    hint = f"; did you mean `{near}`?" if near is not None else "."
    which = "that can be read" if unread else "here"
    none = f"There is no path `{skill}`, and no suite {which} tests a skill with this name{hint}"
    raise SuiteError(none, *unread)


def _skills_named_in(eval_file: Path) -> set[str]:
    """Return the skills that a file names which cannot be read as a suite; none if its text shows none."""
    try:
        text = read_text(eval_file, within=suite_boundary(eval_file.parent))
    except SuiteFileError:
        return set()
    return {name.strip() for name in _SKILL.findall(text)}


def _eval_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        inside = None if folder == os.fspath(root) else Path(folder).name
        if inside is not None and is_environment(files):
            folders.clear()
            continue
        folders[:] = [name for name in folders if is_searched(name, inside)]
        yield from (Path(folder) / name for name in files if name in EVAL_NAMES)
        evals = (Path(folder) / name for name in files if is_named_as_evals(name))
        yield from (path for path in evals if _evals_in(path) is not None or is_faulty(path))


def is_faulty(path: Path) -> bool:
    """Return whether a file is called like evals of other tools, and has a mistake that hides what it is."""
    try:
        return is_faulty_evals(read_text(path, within=suite_boundary(path.parent)), path)
    except SuiteFileError:
        return is_named_as_evals(path.name)


def _foreign(path: Path) -> ForeignEvalError | None:
    found = _evals_in(path)
    return None if found is None or found.runs else ForeignEvalError(path, found)


def _evals_in(path: Path) -> ForeignEval | None:
    try:
        return foreign_eval_in(read_text(path, within=suite_boundary(path.parent)), path)
    except SuiteFileError:
        return None
