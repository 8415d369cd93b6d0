"""A cache of files and folders on disk.

Cached values are compared with the times of the file system before use, so changes need not be reported.
Nothing here raises for anything on a disk (no permission, a broken link, a pipe, a binary, a huge file), and
no link is followed out of the project.
"""

from __future__ import annotations

import math
import os
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from waza_engine.files import FileError, read_beginning, read_bytes, text_of
from waza_engine.frozen import frozen
from waza_language_server.project.boundaries import Boundaries
from waza_language_server.project.document import reader_of
from waza_language_server.project.facts import Fact
from waza_language_server.syntax.tree import Tree, parse

if TYPE_CHECKING:
    from datetime import datetime


MAX_BYTES = 4_000_000
"""Bytes; larger files are not read, and their content stays unknown."""
_BEGINNING_BYTES = 50_000
TOO_LARGE = "the file is too large"
MAX_NAMES = 20_000
"""More names in one folder are not listed: the editor waits meanwhile, 30 ms for so many."""
MAX_KEPT = 20_000
"""Files and folders that are remembered before the memory is emptied."""
MAX_TREES = 20
"""Files whose trees are remembered: a tree takes many times the memory of its text."""
LARGEST_REMEMBERED = 200_000
"""Characters of a text whose tree is remembered as the last one."""

_Listed = tuple[tuple[str, bool], ...]
"""Names in a folder, each with whether it is a folder itself."""

Value = TypeVar("Value")
Kept = TypeVar("Kept", covariant=True)
Key = TypeVar("Key")


def content_of(path: Path, text: str) -> bytes:
    """Return the bytes of an open text once it is saved: an editor does not show a byte order mark."""
    content = text.encode("utf-8", "surrogatepass")
    with suppress(FileError):
        if not content.startswith(BOM_UTF8) and read_beginning(path, len(BOM_UTF8)) == BOM_UTF8:
            return BOM_UTF8 + content
    return content


@frozen()
class _Cached(Generic[Kept]):
    """A value computed from a file or folder, and the stamp of that.

    Unless ``settled``, the file may have changed without its stamp, so it is read again.
    """

    stamp: Stamp
    value: Kept
    settled: bool


LOOKUPS_VALID_SECONDS = 1.0
"""How long cached lookups are valid in long work."""


class Disk:
    """The cache of files and folders that all views of a project share."""

    def __init__(self, boundaries: Boundaries | None = None) -> None:
        self.boundaries = boundaries or Boundaries()
        self._folders: dict[Path, _Cached[Fact[_Listed]]] = {}
        self._present: dict[Path, tuple[_Listed, frozenset[str]]] = {}
        self._folded: dict[Path, tuple[_Listed, Mapping[str, _Listed]]] = {}
        self._derived: dict[tuple[Path, str], _Cached[object]] = {}
        self._trees: dict[Path, _Cached[Tree]] = {}
        self._last_tree: Tree | None = None
        self._lookups: dict[Hashable, object] | None = None
        self._valid_until = math.inf

    @contextmanager
    def cached_lookups(self, seconds: float = math.inf) -> Generator[None]:
        """Look up each folder and link once in this block, again after some ``seconds``.

        An outer block that caches lookups already is used.
        """
        if self._lookups is not None:
            yield
            return
        with self._using({}, time.monotonic() + seconds):
            yield

    @contextmanager
    def uncached_lookups(self) -> Generator[None]:
        """Look at the actual disk in this block, inside of a block with cached lookups."""
        with self._using(None, math.inf):
            yield

    @contextmanager
    def _using(self, lookups: dict[Hashable, object] | None, until: float) -> Generator[None]:
        links = self.boundaries.links
        before = self._lookups, self._valid_until, links.known
        self._lookups, self._valid_until = lookups, until
        links.known = None if lookups is None else {}
        try:
            yield
        finally:
            self._lookups, self._valid_until, links.known = before

    @property
    def caches_lookups(self) -> bool:
        """Return whether lookups are cached now."""
        return self._lookups is not None

    def once(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return ``compute()``, cached by the key while lookups are."""
        lookups = self._lookups
        if lookups is None:
            return compute()
        if self._valid_until < math.inf and (now := time.monotonic()) > self._valid_until:
            lookups.clear()
            self.boundaries.links.known = {}
            self._valid_until = now + LOOKUPS_VALID_SECONDS
        if key not in lookups:
            self._trim(lookups)
            lookups[key] = compute()
        value: Value = lookups[key]  # pyright: ignore[reportAssignmentType]
        return value

    def names(self, folder: Path) -> Fact[_Listed]:
        """Return the sorted names in a folder, each with whether it is a folder itself."""
        return self.once(("names", folder), lambda: self._names(folder))

    def _names(self, folder: Path) -> Fact[_Listed]:
        known = self._folders.get(folder)
        if known is None and (why := self._why_outside(folder, folder)):
            return Fact("unknown", (), why)
        stamp = stamp_of(folder)
        if isinstance(stamp, str):
            return Fact("unknown", (), stamp)
        if stamp is None:
            return Fact("absent", ())
        if known is None or not known.settled or known.stamp != stamp:
            why = "" if known is None else self._why_outside(folder, folder)
            settled = is_settled(stamp)
            known = _Cached(stamp, Fact("unknown", (), why) if why else self._list(folder), settled)
            self._trim(self._folders)
            self._folders[folder] = known
        return known.value

    def present(self, folder: Path) -> frozenset[str]:
        """Return the names in a folder as a set; none when it cannot be read."""
        return self._of_names(folder, self._present, lambda names: frozenset(name for name, _ in names))

    def alike(self, folder: Path, name: str) -> _Listed:
        """Return the entries of ``names`` that differ from a name in capitals at most."""
        return self._of_names(folder, self._folded, _by_folded_name).get(name.casefold(), ())

    def _of_names(
        self, folder: Path, memory: dict[Path, tuple[_Listed, Value]], compute: Callable[[_Listed], Value]
    ) -> Value:
        """Return ``compute(names of the folder)``, cached as long as these are the same object."""
        listed = self.names(folder).value
        known = memory.get(folder)
        if known is None or known[0] is not listed:
            self._trim(memory)
            known = memory[folder] = listed, compute(listed)
        return known[1]

    def holding(self, folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return which of some names are in a folder, in their order; none when it cannot be read."""
        present = self.present(folder)
        return tuple(name for name in names if name in present)

    def text(self, path: Path) -> Fact[str]:
        """Return the text of a file; absent if it does not exist, unknown if it cannot be read as text."""
        try:
            content = read_bytes(path, MAX_BYTES, within=self.boundaries.around(path.parent))
            return Fact("known", text_of(content))
        except FileError as error:
            if error.kind == "missing":
                return Fact("absent", "")
            return Fact("unknown", "", TOO_LARGE if error.kind == "too large" else error.why)

    def first_line(self, path: Path) -> str:
        """Return the beginning of a file with its first line that is not blank, "" if it cannot be read."""
        for count in (_BEGINNING_BYTES, MAX_BYTES):
            try:
                begin = read_beginning(path, count, within=self.boundaries.around(path.parent))
            except FileError:
                return ""
            if len(begin) < count or b"\n" in begin.strip():
                break
        return begin.decode("utf-8", "replace")

    def derived(self, path: Path, purpose: str, read: Callable[[Fact[str]], Value]) -> Value:
        """Return ``read(text of the file)``, computed once for each version of the file and purpose."""
        memory: dict[tuple[Path, str], _Cached[Value]]
        memory = self._derived  # pyright: ignore[reportAssignmentType] - a purpose has one type of value
        return self._cached(memory, (path, purpose), path, read, MAX_KEPT)

    def tree(self, path: Path) -> Tree:
        """Return the tree of a file, parsed once for each version of it; empty when it cannot be read."""
        return self._cached(
            self._trees, path, path, lambda text: reader_of(path)(text.value, None), MAX_TREES
        )

    def parsed(self, text: str) -> Tree:
        """Return the tree of the text of a file; the last one is cached."""
        if self._last_tree is None or self._last_tree.text != text:
            tree = parse(text)
            if len(text) > LARGEST_REMEMBERED:
                return tree
            self._last_tree = tree
        return self._last_tree

    def _cached(
        self,
        memory: dict[Key, _Cached[Value]],
        key: Key,
        path: Path,
        read: Callable[[Fact[str]], Value],
        most: int,
    ) -> Value:
        """Return the cached value of a file if it is unchanged, else read it now."""
        known = memory.get(key)
        if known is None and (why := self._why_outside(path, path.parent)):
            return read(Fact("unknown", "", why))
        stamp = stamp_of(path)
        if stamp is None or isinstance(stamp, str):
            return read(Fact("unknown", "", stamp) if stamp else Fact("absent", ""))
        if known is None or not known.settled or known.stamp != stamp:
            settled = is_settled(stamp)
            known = _Cached(stamp, read(self.text(path)), settled)
            self._trim(memory, most)
            memory[key] = known
        return known.value

    def _why_outside(self, path: Path, folder: Path) -> str:
        """Return why a path may not be looked up, "" if it may; ``folder`` decides the boundary."""
        boundary = self.boundaries.around(folder)
        if boundary.holds(path):
            return ""
        try:
            boundary.resolved(path)
        except FileError as error:
            return error.why
        return ""

    def _list(self, folder: Path) -> Fact[_Listed]:
        names: list[tuple[str, bool]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    names.append((entry.name, self._is_folder(entry, folder)))
                    if len(names) > MAX_NAMES:
                        return Fact("unknown", (), "the folder holds too many files")
        except (FileNotFoundError, NotADirectoryError):
            return Fact("absent", ())
        except OSError as error:
            return Fact("unknown", (), reason(error))
        return Fact("known", tuple(sorted(names)))

    def _is_folder(self, entry: os.DirEntry[str], folder: Path) -> bool:
        try:
            if entry.is_symlink() and not self.boundaries.around(folder).holds(Path(entry.path)):
                return False
            return entry.is_dir()
        except OSError:
            return False

    @staticmethod
    def _trim(memory: dict[Key, Value], most: int = MAX_KEPT) -> None:
        if len(memory) >= most:
            memory.clear()


def _by_folded_name(names: _Listed) -> Mapping[str, _Listed]:
    folded: dict[str, _Listed] = {}
    for each in names:
        key = each[0].casefold()
        folded[key] = (*folded.get(key, ()), each)
    return folded


Stamp = tuple[int, int, int, int, int]
"""When the content changed, size, number, device, and when anything changed last; times in nanoseconds."""

_TICK_NS = 100_000_000
_COARSE_TICK_NS = 3_000_000_000
_SECOND_NS = 1_000_000_000
CLOCK_SLACK_SECONDS = 1.0
"""Result files of other programs carry whole seconds."""


def stamp_of(path: Path) -> Stamp | str | None:
    """Return the fingerprint of a file, None if it does not exist, or why it is unknown."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return reason(error)
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev, status.st_ctime_ns


def was_there(path: Path, moment: datetime) -> bool:
    """Return whether a file is certainly unchanged since a moment."""
    stamp = stamp_of(path)
    return isinstance(stamp, tuple) and stamp[0] / 1e9 <= moment.timestamp() + CLOCK_SLACK_SECONDS


def identity_of(stamp: Stamp | str | None) -> tuple[int, int] | None:
    """Return the identity of a folder, the same for all of its names; None if it does not exist."""
    return stamp[2:4] if isinstance(stamp, tuple) else None


def is_settled(stamp: Stamp | str | None) -> bool:
    """Return whether every later change of the file will change its stamp.

    File systems count time in ticks, some in seconds: two changes within a tick have the same time.
    A time in the future counts as long ago: it is from another clock, or invented.
    """
    if not isinstance(stamp, tuple):
        return True
    times = stamp[0], stamp[4]
    is_coarse = any(moment % _SECOND_NS == 0 for moment in times)
    tick, now = _COARSE_TICK_NS if is_coarse else _TICK_NS, time.time_ns()
    return all(abs(now - moment) > tick for moment in times)


def reason(error: Exception) -> str:
    """Return a sentence why a file cannot be read."""
    if isinstance(error, PermissionError):
        return "there is no permission to read it"
    return "it cannot be read"
