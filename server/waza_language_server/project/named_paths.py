"""The files that a suite names by their paths, and the paths that it must name when files are moved.

The base folder of a relative path depends on its key; the candidates are tried in order, and the first that
exists is used. Backslashes may separate the parts, since a run accepts them on every system.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.spec.reading.task_globs import GlobError, is_literal, literally, split_pattern
from waza_language_server.project.eval_cases import skill_file_of
from waza_language_server.project.search_folders import FIXTURES, roots_around
from waza_language_server.project.suites import paths_of_pattern

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.mentions import Mention
    from waza_language_server.project.suite_files import SuiteSource

_INCLUDE = "include:"


@frozen()
class NamedPath:
    """The file or folder that a path means: ``target``, from the folder ``base``.

    ``holder`` is the file of the suite in whose folder, or below, the base is: it moves with it. None for a
    folder that does not come with one. Of a glob the target is the folder that its stars begin in; ``rest``
    are the levels there.
    """

    target: Path
    base: Path
    holder: Path | None
    rest: tuple[str, ...] = ()
    is_absolute: bool = False

    def moved(self, moves: Mapping[Path, Path]) -> NamedPath:
        """Return the same after files and folders were renamed; the content of a folder moves with it."""
        base = moved_path(self.base, moves)
        if self.holder is not None:
            below = os.path.relpath(self.base, self.holder.parent)
            base = Path(os.path.normpath(moved_path(self.holder, moves).parent / below))
        return NamedPath(moved_path(self.target, moves), base, self.holder, self.rest, self.is_absolute)

    @property
    def written(self) -> str:
        """The path with slashes: from its base, or from the root of the disk."""
        if self.is_absolute:
            return self.target.as_posix()
        steps = Path(os.path.relpath(self.target, self.base)).parts
        return PurePosixPath(*steps).as_posix()


class PathsIn:
    """The paths of one suite file, and their targets."""

    def __init__(self, project: Project, file: SuiteSource) -> None:
        self._project = project
        self._file = file

    def named(self, mention: Mention) -> NamedPath | None:
        """Return the target of a path, None if it does not exist or may not be read."""
        path = self._file.path
        written, rest = _levels(mention)
        if path is None or written is None:
            return None
        absolute = Path(written)
        is_absolute = absolute.is_absolute()
        bases = ((absolute.parent, None),) if is_absolute else self._bases(path, mention.schema_kind)
        for base, holder in bases:
            target = Path(os.path.normpath(base / written))
            if self._project.disk.boundaries.around(path.parent).holds(target) and self._exists(target):
                return NamedPath(target, base, holder, rest, is_absolute)
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
        written = _rewritten(literal, before, moves)
        if written is None or (written.startswith("../") and mention.schema_kind == "path.fixture"):
            # No relative path leads to another drive of Windows, and none to a fixture out of its folder.
            return None
        if mention.schema_kind == "task.glob":
            written = literally(written)
        plain = mention.name.removeprefix(_INCLUDE)
        head = mention.name[: len(mention.name) - len(plain)]
        steps = (*((written,) if written != "." or not rest else ()), *rest)
        here = plain.strip().startswith(("./", ".\\")) and not written.startswith("../")
        new = ("./" if here else "") + "/".join(steps)
        new += "/" if plain.strip().endswith(("/", "\\")) else ""
        new = head + (new.replace("/", "\\") if _has_backslashes(mention) else new)
        return new if mention.shape is None or mention.shape.takes_text(new) else None

    @property
    def holders(self) -> tuple[Path, ...]:
        """The files whose folders paths start at: those of its suites, and itself."""
        path = self._file.path
        if path is None:
            return ()
        skill = skill_file_of(self._project, path) if self._file.kind == "evals_json" else None
        return tuple(dict.fromkeys((*self._suites, *([skill] if skill is not None else []), path)))

    @cached_property
    def _suites(self) -> tuple[Path, ...]:
        path = self._file.path
        return tuple(suite.path for suite in self._project.every_suite_of(path)) if path is not None else ()

    @cached_property
    def _context_dir(self) -> str:
        """The folder that a task has its files in instead of `fixtures`, "" without one."""
        path = self._file.path
        own = (
            self._project.outline(path).context_dir
            if path is not None and self._file.kind == "task"
            else None
        )
        return own or ""

    def _bases(self, path: Path, schema_kind: str) -> Iterator[tuple[Path, Path | None]]:
        """Yield the folders a path may start at, each with the file of the suite that it moves with."""
        if schema_kind == "task.glob":
            yield path.parent, path
            return
        if schema_kind in ("command", "argument"):
            yield from self._bases_of_programs(path)
            return
        if schema_kind == "path.fixture":
            own = self._context_dir
            for suite in self._suites if not own else ():
                yield suite.parent / FIXTURES, suite
            # A run takes it from where it is started: an open folder or that of the suite, most likely.
            for root in roots_around(self._project, path) if own else ():
                yield root / own, None
            for holder in self.holders if own else ():
                yield holder.parent / own, None
        for holder in self.holders:
            yield holder.parent, holder
        for root in roots_around(self._project, path):
            yield root, None

    def _bases_of_programs(self, path: Path) -> Iterator[tuple[Path, Path | None]]:
        """Yield where programs start: in the working directory, else at the eval file or above it."""
        roots = roots_around(self._project, path)
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


def _rewritten(literal: str, before: NamedPath, moves: Mapping[Path, Path]) -> str | None:
    """Return the new path of a moved file, with slashes; None if it is unchanged, or no path leads there."""
    after = before.moved(moves)
    if before.is_absolute:
        return after.written if after.target != before.target else None
    steps = _renamed(literal, before.base, moves)
    if Path(os.path.normpath(after.base.joinpath(*steps))) == after.target:
        written = "/".join(steps) or "."
    else:
        try:
            written = after.written
        except ValueError:
            return None
    return written if written != ("/".join(PurePosixPath(literal).parts) or ".") else None


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
    """Return the part of a path that names one file or folder, with slashes, and the levels of a glob."""
    if mention.schema_kind != "task.glob":
        return (mention.name.replace("\\", "/") if _has_backslashes(mention) else mention.name), ()
    try:
        levels = split_pattern(_glob(mention))
    except GlobError:
        return None, ()
    first = next((at for at, level in enumerate(levels) if not is_literal(level)), len(levels))
    return "/".join(levels[:first]) or ".", tuple(levels[first:])


def _has_backslashes(mention: Mention) -> bool:
    """Return whether a path is separated by backslashes; in a glob they escape a character."""
    return mention.schema_kind != "task.glob" and "\\" in mention.name and "/" not in mention.name


def _glob(mention: Mention) -> str:
    return mention.name.removeprefix(_INCLUDE).strip()
