"""Find suites: the one in a directory, all below it, and those that test a skill."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import is_named
from waza_engine.runs.loading.suite import SuiteError, load_suite
from waza_engine.spec.foreign_evals import foreign_eval_in
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import EVAL_NAMES, is_environment, is_searched
from waza_engine.spec.reading.yaml_reader import read_text

_LEVELS = 6


def eval_files(root: Path) -> list[Path]:
    """Return every eval file below a directory, sorted; foreign folders are left out."""
    return sorted(_eval_files(root))


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
    own = next((path / name for name in EVAL_NAMES if is_named(path / name)), None)
    found = eval_files(path) if own is None else [own]
    if not found:
        raise SuiteError(f"{path}: there is no eval.yaml in this directory or below it.")
    return found


def _testing_skill(skill: str) -> list[Path]:
    """Return the eval files below the working directory that test a skill."""
    by_skill: dict[str, list[Path]] = {}
    for eval_file in eval_files(Path()):
        with contextlib.suppress(SuiteFileError):
            by_skill.setdefault(load_eval_file(eval_file)[0].skill, []).append(eval_file)
    if skill in by_skill:
        return by_skill[skill]
    near = difflib.get_close_matches(skill, by_skill, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else "."
    raise SuiteError(f"There is no path `{skill}`, and no suite here tests a skill with this name{hint}")


def _eval_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        inside = None if folder == os.fspath(root) else Path(folder).name
        if inside is not None and is_environment(files):
            folders.clear()
            continue
        folders[:] = [name for name in folders if is_searched(name, inside)]
        places = [Path(folder) / name for name in files]
        yield from (place for place in places if place.name in EVAL_NAMES or _is_of_vally(place))


def _is_of_vally(path: Path) -> bool:
    """Return whether a file is a Vally eval file under a name that only Vally uses: ``*.eval.yaml``."""
    if not path.name.endswith((".eval.yaml", ".eval.yml")):
        return False
    with contextlib.suppress(SuiteFileError):
        found = foreign_eval_in(read_text(path, within=suite_boundary(path.parent)), path)
        return found is not None and found.dialect == "vally"
    return False
