"""The files that a suite names by their paths, and the paths that it must name when files are moved.

A relative path starts at a folder that its key decides; the candidates are tried in order, and what exists
tells which is meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.spec.reading.task_globs import GlobError, is_literal, split_pattern
from waza_language_server.project.suites import paths_of_pattern

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.mentions import Mention
    from waza_language_server.project.suite_files import SuiteSource

_INCLUDE = "include:"


@frozen()
class NamedPath:
    """The file or folder that a path means: ``target``, from the folder ``base``.

    ``holder`` is the file of the suite in whose folder, or below, the base is: it moves with it. None for an
    open folder. Of a glob the target is the folder that its stars begin in; ``rest`` are the levels there.
    """

    target: Path
    base: Path
    holder: Path | None
    rest: tuple[str, ...] = ()

    def moved(self, moves: Mapping[Path, Path]) -> NamedPath:
        """Return the same after files and folders have got new names; what is in a folder moves with it."""
        base = self.base
        if self.holder is not None:
            below = os.path.relpath(self.base, self.holder.parent)
            base = Path(os.path.normpath(moved_path(self.holder, moves).parent / below))
        return NamedPath(moved_path(self.target, moves), base, self.holder, self.rest)

    @property
    def written(self) -> str:
        """The path from its base, with slashes."""
        steps = Path(os.path.relpath(self.target, self.base)).parts
        return PurePosixPath(*steps, *self.rest).as_posix()


class PathsIn:
    """The paths of one suite file, and what they mean."""

    def __init__(self, project: Project, file: SuiteSource) -> None:
        self._project = project
        self._file = file

    def named(self, mention: Mention) -> NamedPath | None:
        """Return what a path means, None when there is no such file or it may not be looked at."""
        path = self._file.path
        written, rest = _levels(mention)
        if path is None or written is None:
            return None
        for base, holder in self._bases(path, mention.schema_kind):
            target = Path(os.path.normpath(base / written))
            if self._project.disk.reach.around(path.parent).holds(target) and self._exists(target):
                return NamedPath(target, base, holder, rest)
        return None

    def files(self, mention: Mention) -> tuple[Path, ...]:
        """Return the files that a path or glob means."""
        found = self.named(mention)
        if found is None or self._file.path is None:
            return ()
        if found.rest:
            return paths_of_pattern(self._project.disk, self._file.path.parent, _glob(mention)).value
        return (found.target,)

    def rewritten(self, mention: Mention, moves: Mapping[Path, Path]) -> str | None:
        """Return what to write for a path after files and folders have got new names; None to leave it."""
        before, (literal, rest) = self.named(mention), _levels(mention)
        if before is None or literal is None:
            return None
        after, steps = before.moved(moves), _renamed(literal, before.base, moves)
        if Path(os.path.normpath(after.base.joinpath(*steps))) == after.target:
            written = "/".join((*steps, *rest)) or "."
        else:
            try:
                written = after.written
            except ValueError:
                # On Windows there is no relative path to another drive.
                return None
        if written == ("/".join((*PurePosixPath(literal).parts, *rest)) or "."):
            return None
        plain = mention.name.removeprefix(_INCLUDE)
        head = mention.name[: len(mention.name) - len(plain)]
        new = head + ("./" if plain.strip().startswith("./") else "") + written
        new += "/" if plain.strip().endswith("/") else ""
        return new if mention.shape is None or mention.shape.takes_text(new) else None

    @cached_property
    def _suites(self) -> tuple[Path, ...]:
        path = self._file.path
        return tuple(suite.path for suite in self._project.suites_of(path)) if path is not None else ()

    def _bases(self, path: Path, schema_kind: str) -> Iterator[tuple[Path, Path | None]]:
        """Yield the folders a path may start at, each with the file of the suite that it moves with."""
        if schema_kind == "task.glob":
            yield path.parent, path
            return
        if schema_kind in ("command", "argument"):
            yield from self._bases_of_programs(path)
            return
        if schema_kind == "path.fixture":
            for suite in self._suites:
                yield suite.parent / "fixtures", suite
        for holder in dict.fromkeys((*self._suites, path)):
            yield holder.parent, holder
        for root in self._project.roots:
            yield root, None

    def _bases_of_programs(self, path: Path) -> Iterator[tuple[Path, Path | None]]:
        """Yield where programs start: where runs do, else beside the eval file or in a folder above it."""
        roots = self._project.roots
        for root in roots:
            yield root, None
        for suite in self._suites or (path,):
            yield suite.parent, suite
            for above in suite.parent.parents:
                if any(above.is_relative_to(root) and above != root for root in roots):
                    yield above, None

    def _exists(self, path: Path) -> bool:
        return path.name in self._project.names(path.parent) or self._project.disk.names(path).known


def moved_path(path: Path, moves: Mapping[Path, Path]) -> Path:
    """Return where a file is after renames of files and folders."""
    for old, new in moves.items():
        if path.is_relative_to(old):
            return new / path.relative_to(old)
    return path


def _renamed(written: str, base: Path, moves: Mapping[Path, Path]) -> tuple[str, ...]:
    """Return the steps of a path with the new names of the folders and files on its way."""
    steps: list[str] = []
    place = base
    for step in PurePosixPath(written).parts:
        place = Path(os.path.normpath(place / step))
        new = moves.get(place)
        steps.append(new.name if new is not None and step == place.name else step)
    return tuple(steps)


def _levels(mention: Mention) -> tuple[str | None, tuple[str, ...]]:
    """Return the part of a path that names one file or folder, and the levels of a glob behind it."""
    if mention.schema_kind != "task.glob":
        return (None if Path(mention.name).is_absolute() else mention.name), ()
    try:
        levels = split_pattern(_glob(mention))
    except GlobError:
        return None, ()
    first = next((at for at, level in enumerate(levels) if not is_literal(level)), len(levels))
    return "/".join(levels[:first]) or ".", tuple(levels[first:])


def _glob(mention: Mention) -> str:
    return mention.name.removeprefix(_INCLUDE).strip()
