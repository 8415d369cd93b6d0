"""Where paths of a suite may start when it is run, and whether something is there, as far as can be seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from waza_language_server.project.index import Project

Kind = Literal["file", "folder"]

FIXTURES = "fixtures"
"""The folder beside an eval file where the files of its tasks are, unless a task says ``context_dir``."""


def bases_of_run(project: Project, suite_folder: Path) -> tuple[Path, ...]:
    """Return where a run looks for what a suite names: beside it, where it is started, in folders above it.

    Where it is started nobody knows here: in an open folder, most likely.
    """
    boundary = project.disk.reach.around(suite_folder)
    above = (folder for folder in suite_folder.parents if boundary.holds(folder))
    return tuple(dict.fromkeys((suite_folder, *project.roots, *above)))


def roots_around(project: Project, path: Path) -> tuple[Path, ...]:
    """Return the open folders that hold a file, or all where none does.

    In another one its run is not started: that may have files of the same names.
    """
    return tuple(root for root in project.roots if path.is_relative_to(root)) or project.roots


def found_at(
    project: Project, suite_folder: Path, bases: Iterable[Path], written: str, kind: Kind | None = None
) -> Iterator[Path | None]:
    """Yield where a written path leads that something is at, and None where nobody can tell.

    ``kind`` says what it must be. Whether a name in other capitals is the same nobody can tell either. A path
    that leads up is written from the eval file: that it would leave the repository from a folder further up
    tells nothing.
    """
    if not is_plain(written):
        yield None
        return
    boundary = project.disk.reach.around(suite_folder)
    for base in bases:
        target = Path(os.path.normpath(base / written))
        if base != suite_folder and not boundary.holds(target) and written.startswith(".."):
            continue
        names = project.disk.names(target.parent) if boundary.holds(target) else None
        if names is None or names.unknown:
            yield None
            continue
        for name, is_folder in project.disk.alike(target.parent, target.name):
            if name != target.name:
                yield None
            elif kind is None or is_folder == (kind == "folder"):
                yield target


def no_folder_at(project: Project, suite_folder: Path, written: str) -> bool:
    """Whether it can be seen that no folder is where a run of a suite looks for a written path."""
    bases = bases_of_run(project, suite_folder)
    found = found_at(project, suite_folder, bases, written, "folder")
    return is_plain(written) and not any(True for _ in found)


def is_plain(written: str) -> bool:
    """Whether a path is relative and means what it says: no variable, no pattern, no other system's form."""
    windows = PureWindowsPath(written)
    return bool(PurePosixPath(written).parts) and not (
        windows.drive
        or windows.root
        or written.startswith("~")
        or any(char in written for char in "\\\0{}$*")
    )
