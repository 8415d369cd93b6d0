"""The folders that paths of a suite may be relative to in a run, and what exists there."""

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
    """Return where a run looks for files of a suite: next to it, in its working directory, in folders above.

    The working directory is unknown here; it is most likely an open folder.
    """
    boundary = project.disk.boundaries.around(suite_folder)
    above = (folder for folder in suite_folder.parents if boundary.holds(folder))
    return tuple(dict.fromkeys((suite_folder, *project.roots, *above)))


def roots_around(project: Project, path: Path) -> tuple[Path, ...]:
    """Return the open folders that contain a file, or all if none does.

    A run is not started in the others, which may have files of the same names.
    """
    return tuple(root for root in project.roots if path.is_relative_to(root)) or project.roots


def found_at(
    project: Project, suite_folder: Path, bases: Iterable[Path], written: str, kind: Kind | None = None
) -> Iterator[Path | None]:
    """Yield the existing targets of a path in a suite, and None for each that cannot be determined.

    ``kind`` is the kind of target. A name with other capitals is undetermined. A path with ``..`` is
    relative to the eval file, so bases from which it would leave the repository are skipped.
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
    """Return whether a path certainly names no folder, from any base of a run."""
    bases = bases_of_run(project, suite_folder)
    found = found_at(project, suite_folder, bases, written, "folder")
    return is_plain(written) and not any(True for _ in found)


def is_plain(written: str) -> bool:
    """Return whether a path is relative and literal: no variable, pattern, drive or backslash."""
    windows = PureWindowsPath(written)
    return bool(PurePosixPath(written).parts) and not (
        windows.drive
        or windows.root
        or written.startswith("~")
        or any(char in written for char in "\\\0{}$*")
    )
