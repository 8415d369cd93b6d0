"""Resolve the paths in a grader's options: below the workspace, or next to the eval file.

A path that leaves the workspace is an error of the suite. A link in the workspace that leads out of it is the
agent's doing: nothing outside is read, and the check on it fails.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from waza_engine.boundary import FileError, resolve_suite_path, suite_boundary
from waza_engine.graders.base import GraderError
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles


def workspace_path(workspace: Path, written: str) -> Path:
    """Return the place of a written path. Raises ``GraderError`` unless it lies below the workspace."""
    return _place(workspace if workspace.is_absolute() else workspace.absolute(), written)


# Graders of every trial ask for the same few places, and again with every edit of a suite.
@lru_cache(maxsize=10_000)
def _place(workspace: Path, written: str) -> Path:
    if Path(written).is_absolute() or Path(written).drive:
        raise GraderError(f"`{written}` is an absolute path; write it relative to the workspace")
    if "\0" in written:
        raise GraderError("a path must not contain a NUL character")
    # Use strings, because this runs for every trial and links must not be resolved.
    root = os.path.abspath(workspace)  # noqa: PTH100
    place = os.path.normpath(os.path.join(root, written))  # noqa: PTH118
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        raise GraderError(f"`{written}` is not inside the workspace; write a path below it")
    return Path(place)


def is_there(place: Path) -> bool:
    """Return whether something exists at a path; paths that must not be read count as absent."""
    return DISK.is_there(place)


def is_folder(place: Path) -> bool:
    """Return whether a path is a folder."""
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False


def leads_outside(workspace: Path, place: Path) -> bool:
    """Return whether links lead from the path out of the workspace."""
    if _is_plainly_below(workspace, place):
        return False
    try:
        return not place.resolve().is_relative_to(workspace.resolve())
    except (OSError, RuntimeError):
        return True


def _is_plainly_below(workspace: Path, place: Path) -> bool:
    """Return whether no link is on the way from the workspace down to a path."""
    if os.name != "posix":
        # Other systems have more kinds of links.
        return False
    at, below = str(workspace), str(place)
    if not below.startswith(at + os.sep):
        return False
    for name in below[len(at) + 1 :].split(os.sep):  # noqa: PTH206 - a path takes longer to make
        at += os.sep + name
        if name == os.pardir or os.path.islink(at):  # noqa: PTH114
            return False
    return True


def beside_suite(suite_directory: Path, written: str, key: str) -> Path:
    """Return a path that is relative to the eval file's directory. Raises ``GraderError`` for one outside."""
    with _as_fault_of_suite():
        return suite_boundary(suite_directory).first(written, [suite_directory / written], key)


def from_working_directory(suite_directory: Path, written: str, key: str, files: SuiteFiles = DISK) -> Path:
    """Return the result of ``resolve_suite_path``. Raises ``GraderError`` for a path that leads outside."""
    with _as_fault_of_suite():
        return resolve_suite_path(suite_directory, written, key, files.is_there, here_first=True)


@contextmanager
def _as_fault_of_suite() -> Generator[None]:
    try:
        yield
    except FileError as error:
        raise GraderError(error.why) from None
