"""Suites and tasks: the task files that an eval file picks up.

The globs of a suite start in the folder of its eval file, whatever folders are open.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.reading.searched_folders import is_environment
from waza_engine.spec.reading.task_globs import GlobError, expand, literal_path, matches
from waza_language_server.project.disk import Disk, identity_of, stamp_of
from waza_language_server.project.facts import Fact
from waza_language_server.project.outline import Outline

LEVELS_UP = 10
"""How many folders above a file are searched for its suite and its ``.waza.yaml``."""

MOST_PATHS = 20_000
"""The most paths of one glob that are checked."""


@frozen()
class Suite:
    """An eval file and its outline."""

    path: Path
    outline: Outline

    @property
    def folder(self) -> Path:
        """Where its globs, fixtures and results are."""
        return self.path.parent

    def named(self, *keys: Literal["tasks_from", "adapter", "recording"]) -> tuple[Path, ...]:
        """Return the paths that it names as its prompts, the adapter of its agent, its recording."""
        written = (getattr(self.outline, key) for key in keys)
        return tuple(
            Path(os.path.normpath(self.folder / each)) for each in written if each and "\0" not in each
        )

    @property
    def prompts(self) -> tuple[Path, ...]:
        """The file of JSON Lines with its tasks, if it has one."""
        return tuple(path for path in self.named("tasks_from") if path.suffix.lower() in ROW_SUFFIXES)


@frozen()
class Task:
    """A task file; its content is read on demand."""

    path: Path
    _read: Callable[[Path], Outline] = field(repr=False, compare=False)

    @property
    def outline(self) -> Outline:
        """The outline of the file."""
        return self._read(self.path)

    @property
    def id(self) -> str:
        """The id that results are keyed by; by default the file's name."""
        return self.outline.id or printable(self.path.stem)


def paths_of_pattern(disk: Disk, folder: Path, pattern: str) -> Fact[tuple[Path, ...]]:
    """Return the files that one glob of a suite picks up, in the order of a run.

    Absent if it picks up nothing; unknown if a folder on its way cannot be read or it is not a valid glob.
    """
    doubts: list[str] = []
    boundary = disk.boundaries.around(folder)

    def listed(place: Path) -> Path | None:
        """Return a folder whose names are known; record why they are not."""
        if ".." in place.parts or not place.is_relative_to(folder):
            place = Path(os.path.normpath(place))
            if not boundary.holds(place):
                doubts.append(f"it lies outside {boundary.name}")
                return None
        names = disk.names(place)
        if names.unknown:
            doubts.append(names.why)
        return place if names.known else None

    def listing(place: Path) -> tuple[tuple[str, bool], ...] | None:
        known = listed(place)
        return None if known is None else disk.names(known).value

    def has_entry(path: Path) -> bool:
        # The file system may be case-insensitive.
        known = listed(path.parent)
        return known is not None and any(name == path.name for name, _ in disk.alike(known, path.name))

    try:
        found = expand(folder, pattern, listing, has_entry=has_entry, limit=MOST_PATHS)
    except GlobError as error:
        return Fact("unknown", (), str(error))
    if found:
        return Fact("known", found)
    return Fact("unknown", (), doubts[0]) if doubts else Fact("absent", ())


def paths_of_suite(disk: Disk, suite: Suite) -> Fact[tuple[Path, ...]]:
    """Return the task files of a suite, each once, in the order of a run."""
    found: dict[Path, None] = {}
    doubt = "" if suite.outline.complete else "the eval file has syntax errors"
    for pattern in suite.outline.patterns:
        paths = paths_of_pattern(disk, suite.folder, pattern)
        found.update(dict.fromkeys(paths.value))
        doubt = doubt or paths.why
    if doubt:
        return Fact("unknown", tuple(found), doubt)
    return Fact("known", tuple(found)) if found else Fact("absent", ())


def folders_below(
    disk: Disk, folder: Path, entered: Callable[[str, str | None], bool], *, environments: bool = True
) -> Iterator[Path]:
    """Yield a folder and the folders below it, each once even if several links lead to it.

    ``entered`` returns whether to enter a folder, from its name and that of its parent (None at the top).
    Without ``environments`` virtual environments of Python are left out.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        identity = identity_of(stamp_of(place))
        if identity is None or identity in seen:
            continue
        seen.add(identity)
        names = disk.names(place).value
        inside = None if place is folder else place.name
        if inside is not None and not environments and is_environment([name for name, _ in names]):
            continue
        yield place
        waiting += [
            place / name for name, is_folder in reversed(names) if is_folder and entered(name, inside)
        ]


def picks_up(suite: Suite, path: Path) -> bool:
    """Return whether the globs of the suite match the path, whether it exists or not."""
    literal, others = _sorted_out(suite.folder, suite.outline.patterns)
    if path in literal:
        return True
    for pattern in others:
        try:
            if matches(suite.folder, pattern, path):
                return True
        except GlobError:
            continue
    return False


@lru_cache(maxsize=64)
def _sorted_out(folder: Path, patterns: tuple[str, ...]) -> tuple[frozenset[Path], tuple[str, ...]]:
    """Return the paths of the literal patterns, and the other patterns; a suite may list thousands."""
    places = {pattern: literal_path(folder, pattern) for pattern in dict.fromkeys(patterns)}
    literal = frozenset(place for place in places.values() if place is not None)
    return literal, tuple(pattern for pattern, place in places.items() if place is None)


def folders_above(path: Path) -> Iterator[Path]:
    """Yield the folder of a file and those above it, nearest first."""
    folder = path.parent
    for _ in range(LEVELS_UP + 1):
        yield folder
        if folder.parent == folder:
            return
        folder = folder.parent
