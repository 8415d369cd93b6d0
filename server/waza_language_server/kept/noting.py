"""A project that notes what is asked of the disk: what the problems of a document depend on.

Architecture invariant: what the analysis asks outside of a document it asks of its project and its disk. They
answer here as they always do, from the same memory as far as that is beyond doubt.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from waza_engine.files import Boundary
from waza_language_server.kept.conditions import Conditions, home, listing, resolved
from waza_language_server.project.disk import MAX_NAMES, Disk
from waza_language_server.project.index import Project
from waza_language_server.project.reach import Reach
from waza_language_server.project.stamps import Stamp, is_settled
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_language_server.project.disk import Remembered
    from waza_language_server.project.document import Document
    from waza_language_server.project.facts import Fact
    from waza_language_server.project.suites import Suite

Key = TypeVar("Key")
Value = TypeVar("Value")


class Notes:
    """What was seen, and whether it is certain that a change of it would be seen."""

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp | str | None] = {}
        self.listed: dict[str, str] = {}
        self.resolved: dict[str, str | None] = {}
        self.present: dict[str, bool] = {}
        self.folders: dict[str, bool] = {}
        self.programs: dict[str, bool] = {}
        self.documents: set[str] = set()
        self.suites: set[str] = set()
        self.asks_all = False
        self.is_settled = True
        """Whether all of it was left alone meanwhile, and long enough for the next change to be seen."""
        self.is_complete = True
        """Whether all was seen."""

    def conditions(self) -> Conditions:
        """Return what was noted. Of paths in folders that are resolved only links need to be followed."""
        folders: dict[str, str | None] = {}
        plain: set[str] = set()
        for path, place in self.resolved.items():
            folder, name = os.path.split(path)
            there = folders.setdefault(folder, resolved(folder)) if name else None
            if there is not None and place == os.path.join(there, name):  # noqa: PTH118
                plain.add(path)
            else:
                folders[path] = place
        return Conditions(
            stamps=self.stamps,
            listed=self.listed,
            resolved=folders,
            plain=frozenset(plain),
            present=self.present,
            folders=self.folders,
            programs=self.programs,
            home=home(),
            documents=frozenset(self.documents),
            suites=frozenset(self.suites),
            asks_all=self.asks_all,
        )

    def note(self, seen: dict[str, Value], what: str, value: Value) -> None:
        """Take something that was seen; what is seen twice must look the same."""
        if seen.setdefault(what, value) != value:
            self.is_settled = False

    def stamp(self, path: Path, stamp: Stamp | str | None) -> None:
        """Take the stamp of a file or folder."""
        self.note(self.stamps, str(path), stamp)
        if not is_settled(stamp):
            self.is_settled = False


class NotingProject(Project):
    """The files around one open document, as a server sees them that has just been started."""

    def __init__(self, notes: Notes, project: Project, documents: Mapping[Path, Document]) -> None:
        """``project`` is that of a session, whose memory of the disk is used."""
        super().__init__(project.roots, None, _NotingDisk(notes, project.disk, project.roots))
        self._open = documents
        self.documents = _NotingDocuments(notes, documents)
        self._notes = notes

    def suite(self, path: Path) -> Suite:
        """Return the suite of an eval file, and note that it was found."""
        self._notes.suites.add(str(path))
        return super().suite(path)

    def with_document(self, document: Document) -> Project:
        """Return a view in which a document is as it is, for a trial of it: what it asks is noted, too."""
        path = path_of(document.uri)
        if path is None:
            return self
        view = copy(self)
        view._open = {**self._open, path: document}
        view.documents = _NotingDocuments(self._notes, view._open)
        return view

    def without(self, uri: str) -> Project:
        """Return a view that notes nothing."""
        self._notes.is_complete = False
        return super().without(uri)


class _NotingDocuments(Mapping[Path, "Document"]):
    def __init__(self, notes: Notes, documents: Mapping[Path, Document]) -> None:
        self._notes = notes
        self._documents = documents

    def __getitem__(self, path: Path) -> Document:
        self._notes.documents.add(str(path))
        return self._documents[path]

    def __iter__(self) -> Iterator[Path]:
        self._notes.asks_all = True
        return iter(self._documents)

    def __len__(self) -> int:
        self._notes.asks_all = True
        return len(self._documents)


class _NotingDisk(Disk):
    def __init__(self, notes: Notes, disk: Disk, roots: tuple[Path, ...]) -> None:
        super().__init__(_NotingReach(notes, roots))
        self._notes = notes
        # Folders are listed anew: the memory does not tell which of the names in them are links.
        self._derived, self._trees = disk._derived, disk._trees

    def stamp(self, path: Path) -> Stamp | str | None:
        stamp = super().stamp(path)
        self._notes.stamp(path, stamp)
        return stamp

    def holding(self, folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
        """Do the same; where it is none of them, nothing but these names counts."""
        places = [folder / name for name in names]
        if not self._lists_none_of(folder, names) or any(map(os.path.lexists, places)):
            return super().holding(folder, names)
        for place in places:
            self._notes.note(self._notes.present, str(place), False)
        return ()

    def _lists_none_of(self, folder: Path, names: tuple[str, ...]) -> bool:
        if self._led_outside(folder, folder):
            return False
        try:
            listed = [place.name for place in folder.iterdir()]
        except OSError:
            return False
        return len(listed) <= MAX_NAMES and not set(names).intersection(listed)

    def has_program(self, name: str) -> bool:
        there = super().has_program(name)
        self._notes.note(self._notes.programs, name, there)
        return there

    def text(self, path: Path) -> Fact[str]:
        self.stamp(path)
        return super().text(path)

    def _recalled(
        self, memory: dict[Key, Remembered[Value]], key: Key, path: Path, folder: Path
    ) -> Remembered[Value] | None:
        known = super()._recalled(memory, key, path, folder)
        # Where links lead was asked when it was read first; here it is asked again.
        return None if known is None or not known.settled or self._led_outside(path, folder) else known

    def _list(self, folder: Path) -> Fact[tuple[tuple[str, bool], ...]]:
        listed = listing(str(folder))
        if listed is not None:
            self._notes.note(self._notes.listed, str(folder), listed)
        return super()._list(folder)

    def _is_folder(self, entry: os.DirEntry[str], folder: Path) -> bool:
        is_folder = super()._is_folder(entry, folder)
        try:
            if entry.is_symlink():
                self._notes.note(self._notes.folders, entry.path, Path(entry.path).is_dir())
        except OSError:
            self._notes.is_complete = False
        return is_folder


class _NotingReach(Reach):
    def __init__(self, notes: Notes, roots: tuple[Path, ...]) -> None:
        super().__init__(roots)
        self._notes = notes

    def _is_there(self, path: Path) -> bool:
        there = super()._is_there(path)
        self._notes.note(self._notes.present, str(path), there)
        return there

    def _around(self, folder: Path) -> Boundary:
        for place in (folder, *self._roots, Path()):
            self._notes.note(self._notes.resolved, str(place), resolved(place))
        return _NotingBoundary(super()._around(folder), self._notes)


class _NotingBoundary(Boundary):
    def __init__(self, boundary: Boundary, notes: Notes) -> None:
        super().__init__(boundary.folders, boundary.name)
        self._notes = notes

    def holds(self, path: Path) -> bool:
        self._notes.note(self._notes.resolved, str(path), resolved(path))
        return super().holds(path)

    def resolved(self, path: Path) -> str:
        self._notes.note(self._notes.resolved, str(path), resolved(path))
        return super().resolved(path)
