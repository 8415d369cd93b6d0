"""Find what changed in git since a commit: the files, committed or not, and the suite as it was.

The files are those that differ between the commit and the disk, and those that git neither tracks nor
ignores; an ignored eval file is new, too. If the current commit does not descend from the given one, their
merge base is used instead: changes on another branch are not changes of this one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from waza_engine.files import Boundary, FileError, checked_size
from waza_engine.processes.git import PLAIN, GitError, commit_named, git
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles, Version

_MOST_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files of a repository that changed since ``commit``, its full hash. ``top`` is the working tree.

    ``paths`` have no links in their directories. A submodule, or a repository inside this one, is one path:
    all below it has changed.
    """

    top: Path
    commit: str
    paths: frozenset[Path]
    _before: dict[Path, str | None] = field(default_factory=dict[Path, str | None])
    _known: dict[Path, Path | None] = field(default_factory=dict[Path, Path | None])

    def place(self, path: Path) -> Path | None:
        """Return the changed path that equals or contains a file or folder, None if it is unchanged."""
        # Many tasks name the same files.
        if path not in self._known:
            self._known[path] = next(self._places(path), None)
        return self._known[path]

    def covers(self, path: Path) -> bool:
        """Return whether git knows this path; one outside the working tree may have changed unseen."""
        found = Path(os.path.realpath(path))
        return found == self.top or self.top in found.parents

    def _places(self, path: Path) -> Iterator[Path]:
        for found in places_of(path):
            yield from (place for place in (found, *found.parents) if place in self.paths)

    def text_before(self, place: Path) -> str | None:
        """Return the content of a changed path at the commit, None if it was not a file then."""
        if place not in self._before:
            name = place.relative_to(self.top).as_posix()
            try:
                blob = f"{self.commit}:{name}"
                text = git("cat-file", "blob", blob, at=self.top, limit_bytes=_MOST_BYTES)
            except GitError:
                text = None
            self._before[place] = text
        return self._before[place]


def changed_since(eval_file: Path, commit: str) -> ChangedFiles:
    """Return what has changed in the repository of a suite since a commit, named as in git.

    Raises ``SuiteError`` when there is no repository, no such commit, or git fails.
    """
    directory = eval_file.parent
    try:
        top = Path(git("rev-parse", "--show-toplevel", at=directory).rstrip("\n"))
    except GitError as error:
        why = (
            "is in no git repository" if "not a git repository" in str(error) else f"cannot be asked: {error}"
        )
        raise SuiteError(f"`--changed-since` asks git what has changed, and {directory} {why}.") from None
    found = commit_named(commit, top) if commit else None
    if found is None:
        raise SuiteError(f"`--changed-since`: git knows no commit `{commit}` in {top}.{_fetching(top)}")
    try:
        shared = _shared(found, top)
        listed = ("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", shared, "--")
        changed = git(*PLAIN, *listed, at=top, limit_bytes=_MOST_BYTES)
        untracked = ("ls-files", "--others", "--exclude-standard", "-z")
        new = git(*PLAIN, *untracked, at=top, limit_bytes=_MOST_BYTES)
        # Generated suites are often ignored, so no commit has their earlier text.
        own = ("ls-files", "--others", "--full-name", "-z", "--", f":(literal){eval_file.name}")
        new += git(*PLAIN, *own, at=directory)
    except GitError as error:
        raise SuiteError(f"`--changed-since {commit}`: {error}.") from None
    top = Path(os.path.realpath(top))
    return ChangedFiles(top, shared, frozenset(_paths(top, (changed + new).split("\0"))))


class FilesBefore(SuiteFiles):
    """The files of a suite at a commit: a changed file has its old text, a new one cannot be read.

    Folders are listed as they are now. ``opened`` are open files, by absolute path.
    """

    __slots__ = ("_changes", "_opened")

    def __init__(self, changes: ChangedFiles, opened: Mapping[Path, str] | None = None) -> None:
        laid = DISK.overlaid(opened or {})
        super().__init__(laid._texts, laid._identities)
        self._changes = changes
        self._opened = opened or {}

    def overlaid(self, texts: Mapping[Path, str]) -> Self:
        """Return these files with open files on top."""
        return type(self)(self._changes, {**self._opened, **texts})

    def bytes_of(self, path: Path, limit: int, *, within: Boundary | None = None) -> bytes:
        """Return the content that a file had. Raises ``FileError``."""
        place = None if self._is_open(path) else self._changed(path)
        if place is None:
            return SuiteFiles.bytes_of(self, path, limit, within=within)
        text = self._before(place, path)
        if text is None:
            raise FileError("missing", "the file did not exist", errno.ENOENT)
        if within is not None:
            within.resolved(path)
        return checked_size(text.encode("utf-8", "surrogatepass"), limit)

    def is_named(self, path: Path) -> bool:
        """Return whether a file existed."""
        place = self._changed(path)
        return SuiteFiles.is_named(self, path) if place is None else self._before(place, path) is not None

    def is_there(self, path: Path) -> bool:
        """Return whether something existed at a path."""
        place = self._changed(path)
        return SuiteFiles.is_there(self, path) if place is None else self._before(place, path) is not None

    def version(self, path: Path) -> Version | None:
        """Return a version that differs when the old text differs."""
        place = None if self._is_open(path) else self._changed(path)
        if place is None:
            return SuiteFiles.version(self, path)
        text = self._before(place, path)
        return None if text is None else Version(text)

    def _is_open(self, path: Path) -> bool:
        return bool(self._texts) and SuiteFiles._open_text(self, path) is not None

    def _changed(self, path: Path) -> Path | None:
        return self._changes.place(path)

    def _before(self, place: Path, path: Path) -> str | None:
        # Files below a submodule are not in this repository.
        below = place not in places_of(path)
        return None if below else self._changes.text_before(place)


def places_of(path: Path) -> tuple[Path, Path]:
    """Return where a path is, the links of its folders followed, and where it leads when it is one."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - links stay
    return Path(os.path.realpath(folder), name), Path(os.path.realpath(path))


def _shared(commit: str, top: Path) -> str:
    """Return the merge base of a commit and the current one; itself when there is none."""
    try:
        return git("merge-base", commit, "HEAD", at=top).split()[0]
    except (GitError, IndexError):
        return commit


def _fetching(top: Path) -> str:
    try:
        shallow = git("rev-parse", "--is-shallow-repository", at=top).strip() == "true"
    except GitError:
        return ""
    return " This clone holds the last commits alone: fetch the others first." if shallow else ""


def _paths(top: Path, names: Iterable[str]) -> Iterable[Path]:
    for name in names:
        if name:
            # A folder with a slash at its end is another repository.
            yield top / name.rstrip("/")
