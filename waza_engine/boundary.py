"""How far a path of a suite, a record or a lock file may lead: one boundary for engine and editor.

Somebody's repository must not make this program read, write or list the rest of the disk, wake a network
drive or open a device. A path that a person types on a command line is not restricted: it may lead anywhere.

Architecture invariant: light (the language server imports it), and the one place that decides this.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from waza_engine.frozen import frozen

Kind = Literal[
    "missing",
    "directory",
    "special",
    "too large",
    "permission",
    "outside",
    "unreadable",
    "not UTF-8",
    "binary",
]
"""The reasons why a file has no usable content; ``special`` is a pipe, a socket or a device."""
_OPEN_FOLDERS = "WAZA_OPEN_FOLDERS"
"""The variable in which the server keeps the open folders of its editor; engines inherit it."""
_LEVELS_UP = 2
"""How many levels above a suite without a repository its tested skill may be."""
_DEVICES = frozenset({"con", "prn", "aux", "nul", "conin$", "conout$"}) | {
    f"{name}{digit}" for name in ("com", "lpt") for digit in "123456789¹²³"
}


class FileError(OSError):
    """A file without usable content. ``why`` is one clause for a person, which fits after a colon.

    ``line`` counts from 1 where the content is at fault, and is 0 otherwise.
    """

    def __init__(self, kind: Kind, why: str, number: int = errno.EINVAL, *, line: int = 0) -> None:
        super().__init__(number, why)
        self.kind: Kind = kind
        self.why = why
        self.line = line

    def __str__(self) -> str:
        return self.why


@frozen()
class Boundary:
    """The folders that paths must not lead out of, resolved; ``name`` is their name for people."""

    folders: tuple[str, ...]
    name: str

    @classmethod
    def around(cls, *folders: Path, name: str) -> Boundary:
        """Return the boundary around folders, which may be reached through links themselves.

        A path that no folder can have holds nothing.
        """
        possible = [folder for folder in folders if "\0" not in str(folder)]
        return cls(tuple(dict.fromkeys(os.path.realpath(folder) for folder in possible)), name)

    def holds(self, path: Path) -> bool:
        """Return whether a path lies in one of the folders once all links in it are followed."""
        written = str(path)
        try:
            return not self._is_foreign(written) and self._holds(self._followed(written))
        except (OSError, ValueError):
            return False

    def resolved(self, path: Path) -> str:
        """Return the path with all links followed. Raises ``FileError`` when it leads out."""
        written = str(path)
        if self._is_foreign(written):
            raise FileError("outside", "it names a network share or a device", errno.EACCES)
        try:
            place = os.path.realpath(written)
        except (OSError, ValueError):
            raise FileError("missing", "no file can have this name", errno.ENOENT) from None
        if not self._holds(place):
            what = "it" if place == os.path.abspath(written) else "a link"  # noqa: PTH100 - keeps links
            raise FileError("outside", f"{what} leads out of {self.name}", errno.EACCES)
        return place

    def first(
        self,
        written: str,
        places: Iterable[Path],
        key: str,
        is_there: Callable[[Path], bool] = os.path.exists,
    ) -> Path:
        """Return the first existing place of a written path's candidates, or else the first candidate.

        Places outside are not checked. Raises ``FileError``, which names the key, when there is no other, or
        when the path names a network share or a device.
        """
        listed = list(places)
        if "\0" in written:
            return listed[0]  # as a place at which nothing can be
        inside = [] if is_foreign(written) else [place for place in listed if self.holds(place)]
        there = next((place for place in inside if is_there(place)), None)
        if there is None and inside[:1] != listed[:1]:
            why = "names a network share or a device" if is_foreign(written) else f"leads out of {self.name}"
            raise FileError("outside", f"`{key}`: `{written}` {why}, so it is not used", errno.EACCES)
        return listed[0] if there is None else there

    def _is_foreign(self, path: str) -> bool:
        # On Windows a query about such a path is enough to wake its drive.
        return os.name == "nt" and is_foreign(path) and not self._holds(path)

    def _followed(self, path: str) -> str:
        return os.path.realpath(path)

    def _holds(self, resolved: str) -> bool:
        # Windows treats `C:` and `c:` as the same; elsewhere nothing is changed.
        place = os.path.normcase(resolved)
        return any(
            place == folder or place.startswith(folder if folder.endswith(os.sep) else folder + os.sep)
            for folder in map(os.path.normcase, self.folders)
        )


def suite_boundary(
    directory: Path, opened: Iterable[Path] = (), is_there: Callable[[Path], bool] = os.path.lexists
) -> Boundary:
    """Return the boundary of the suite, task or record in a directory.

    That is the outermost repository around it. Without a repository it is the directory itself, the skill
    that it belongs to, and an open folder of the editor above it; on a command line, the working directory.
    ``opened`` are folders that a person has opened: they count wherever they are, with their repositories.
    The home folder and those above it never do.
    """
    here = Path(os.path.abspath(directory))  # noqa: PTH100 - links stay as they are
    folders: dict[Path, None] = {}
    # A suite may be reached through a link, from the same repository or from elsewhere.
    starts = [here] if "\0" in str(here) else [here, Path(os.path.realpath(here))]
    for start in dict.fromkeys(starts):
        repository = repository_around(start, is_there)
        above = (opened for opened in _opened_folders() if start.is_relative_to(opened))
        skills = (level for level in (start, *start.parents[:_LEVELS_UP]) if is_there(level / "SKILL.md"))
        folders |= dict.fromkeys([repository] if repository else [start, *above, *[*skills][:1]])
    for root in opened:
        folders |= dict.fromkeys(place for place in (root, repository_around(root, is_there)) if place)
    # A folder may be a link to the home folder or to the root of the disk.
    possible = [folder for folder in folders if "\0" not in str(folder)]
    allowed = [folder for folder in possible if not is_too_wide(Path(os.path.realpath(folder)))]
    name = str(min(allowed, key=lambda folder: len(folder.parts), default="the folder of the suite"))
    return Boundary.around(*allowed, name=name)


def note_open_folders(folders: Iterable[Path]) -> None:
    """Allow suites in an editor's open folders to name files in them; engines started later inherit it."""
    os.environ[_OPEN_FOLDERS] = os.pathsep.join(str(folder) for folder in folders if "\0" not in str(folder))


def boundary_of_named(directory: Path) -> Boundary:
    """Return the boundary for files created in a directory that a person has named, even the home folder."""
    return Boundary.around(directory, *map(Path, suite_boundary(directory).folders), name=str(directory))


def resolve_suite_path(
    directory: Path,
    written: str,
    key: str,
    is_there: Callable[[Path], bool] = os.path.exists,
    *,
    here_first: bool = False,
) -> Path:
    """Resolve a path of a suite: next to the eval file, or from the working directory or one above.

    Public suites write paths from their repository's root, where upstream is started; an editor starts the
    engine elsewhere. ``here_first`` begins at the working directory. If nothing exists, the path next to the
    eval file is returned. Raises ``FileError``, which names the key, when the path leads out of the boundary.
    """
    path = os.path.expanduser(written)  # noqa: PTH111 - that of pathlib raises
    within, beside = suite_boundary(directory), directory / path
    here = [place / path for place in _working_directory()]
    above = (place / path for place in directory.parents)
    if here_first:
        there = next((place for place in here if within.holds(place) and is_there(place)), None)
        if there is not None and not is_foreign(written):
            return there
    try:
        return within.first(written, (beside, *here, *above), key, is_there)
    except FileError as error:
        advice = "" if is_foreign(written) else _advice(directory, beside)
        raise FileError(error.kind, error.why + advice, errno.EACCES) from None


def _advice(directory: Path, place: Path) -> str:
    """Return how a suite without a repository may use a place near it, as the end of a message; or ""."""
    here = Path(os.path.realpath(directory))
    try:
        common = Path(os.path.commonpath([here, os.path.abspath(place)]))  # noqa: PTH100 - follows no link
    except ValueError:  # On another drive, or no possible name.
        return ""
    if (
        repository_around(here) is not None
        or common == common.parent
        or common not in here.parents[:_LEVELS_UP]
    ):
        return ""
    where = (
        "a folder of their own, with `git init`"
        if is_too_wide(common)
        else f"one repository: run `git init` in {common}"
    )
    return f"; to use it, put both in {where}"


def repository_around(folder: Path, is_there: Callable[[Path], bool] = os.path.lexists) -> Path | None:
    """Return the outermost repository around a folder: a link below it may have led into another one.

    A home folder that is under version control is not a project.
    """
    return next(_repositories(reversed((folder, *folder.parents)), is_there), None)


def checkout_around(folder: Path) -> Path | None:
    """Return the innermost repository around a folder, which git uses there.

    Files are only named from it: ``repository_around`` says how far they may lead.
    """
    return next(_repositories((folder, *folder.parents), os.path.lexists), None)


def _repositories(folders: Iterable[Path], is_there: Callable[[Path], bool]) -> Iterator[Path]:
    return (folder for folder in folders if not is_too_wide(folder) and is_there(folder / ".git"))


def path_in_repository(path: Path) -> str:
    """Return a path as a build service wants it: with slashes, relative to the root of the repository.

    That is the one that git uses in the working directory, or else where the file is. Without a repository
    the path is relative to the working directory; outside of that it is absolute.
    """
    place, here = Path(os.path.realpath(path)), Path.cwd()
    checkout = os.environ.get("GITHUB_WORKSPACE")
    roots = (Path(checkout) if checkout else None, checkout_around(here), checkout_around(place.parent), here)
    for root in roots:
        if root is not None and place.is_relative_to(real := Path(os.path.realpath(root))):
            return place.relative_to(real).as_posix()
    return place.as_posix()


def is_too_wide(folder: Path) -> bool:
    """Return whether a folder is the home folder, holds it, or is the root of a disk: too much."""
    home = os.path.expanduser("~")  # noqa: PTH111 - that of pathlib raises
    homes = (Path(home), Path(os.path.realpath(home)))
    return folder == folder.parent or any(each.is_relative_to(folder) for each in homes)


def is_foreign(written: str) -> bool:
    r"""Return whether a path names a network share or a device of Windows; on every system, as text alone.

    Those are ``//host/share``, ``\\host\share``, ``\\.\pipe\x``, ``\\?\C:\x`` and names such as ``NUL``.
    """
    plain = written.replace("\\", "/")
    if plain.startswith(("//", "/??/")):
        return True
    name = plain.rpartition("/")[2]
    # Windows takes `nul.txt` and `nul:` for the device, too; elsewhere they are files as any other.
    name = name.partition(".")[0].partition(":")[0].rstrip() if os.name == "nt" else name
    return name.casefold() in _DEVICES


def _opened_folders() -> tuple[Path, ...]:
    """Return the folders that a person works in: those of the editor, else the working directory."""
    in_editor = os.environ.get(_OPEN_FOLDERS)
    if in_editor is None:
        return _working_directory()
    return tuple(map(Path, filter(None, in_editor.split(os.pathsep))))


def _working_directory() -> tuple[Path, ...]:
    try:
        return (Path.cwd(),)
    except OSError:
        return ()
