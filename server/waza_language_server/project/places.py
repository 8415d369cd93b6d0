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
"""The folder next to an eval file with the files of its tasks, unless a task sets ``context_dir``."""


def bases_of_run(project: Project, suite_folder: Path) -> tuple[Path, ...]:
    """Return where a run looks for files of a suite: next to it, in the working directory, in folders above.

    The working directory is unknown here: most likely it is an open folder.
    """
    boundary = project.disk.boundaries.around(suite_folder)
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
    """Yield the existing targets of a written path, and None for each that cannot be determined.

    ``kind`` says what it must be. A name in other capitals is undetermined, too. A path that leads up is
    relative to the eval file: ignore that it would leave the repository from a folder further up.
    """
    if not is_plain(written):
        yield None
        return
    boundary = project.disk.boundaries.around(suite_folder)
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
    """Return whether a written path certainly leads to no folder in any place where a run looks for it."""
    bases = bases_of_run(project, suite_folder)
    found = found_at(project, suite_folder, bases, written, "folder")
    return is_plain(written) and not any(True for _ in found)


def is_plain(written: str) -> bool:
    """Return whether a path is relative and literal: no variable, no pattern, no other system's form."""
    windows = PureWindowsPath(written)
    return bool(PurePosixPath(written).parts) and not (
        windows.drive
        or windows.root
        or written.startswith("~")
        or any(char in written for char in "\\\0{}$*")
    )
