"""The context that every rule and feature gets in addition to the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.project.disk import stamp_of

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.disk import Disk, Stamp
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.mentions import Mention
    from waza_language_server.schema.catalog import Catalog

MOST_KEPT = 50_000
"""Mentions of all files that are kept: about 20 MB."""


@frozen()
class _Known:
    stamp: Stamp
    kind: str
    mentions: tuple[Mention, ...]


class KnownMentions:
    """A memory of mentions, shared by all views of a workspace with the same schemas and open folders."""

    def __init__(self) -> None:
        self._files: dict[Path, _Known] = {}
        self._size = 0
        self._last: tuple[Path, Stamp, str] | None = None

    def of(self, path: Path, kind: str) -> tuple[Mention, ...] | None:
        """Return the mentions of a file of this kind, None if it was not read or has changed since."""
        known = self._files.get(path)
        if known is None or known.kind != kind:
            return None
        if stamp_of(path) != known.stamp:
            self._drop(path)
            return None
        return known.mentions

    def keep(self, path: Path, kind: str, stamp: Stamp, mentions: tuple[Mention, ...]) -> None:
        """Cache the mentions of a file; ``stamp`` is that of the file before it was read."""
        self._drop(path)
        # A file without any counts as well.
        if self._size + len(mentions) + 1 <= MOST_KEPT:
            self._files[path] = _Known(stamp, kind, mentions)
            self._size += len(mentions) + 1

    def text(self, path: Path, disk: Disk) -> str:
        """Return the text of a file; repeated calls return the same object."""
        stamp = stamp_of(path)
        if self._last is None or self._last[:2] != (path, stamp):
            text = disk.text(path).value
            if not isinstance(stamp, tuple):
                return text
            self._last = path, stamp, text
        return self._last[2]

    def _drop(self, path: Path) -> None:
        known = self._files.pop(path, None)
        if known is not None:
            self._size -= len(known.mentions) + 1


@frozen()
class Workspace:
    """The files around a document, and what may be written in them.

    Architecture invariant: the owner of the files (a session, a terminal command) creates it and passes it
    on. No other code chooses a catalog: it would lack the grader types of plug-ins.
    """

    project: Project
    catalog: Catalog
    known: KnownMentions = field(default_factory=KnownMentions, compare=False, repr=False)
    """The mentions of closed files, as far as they were read."""

    severities: Mapping[str, str] = field(default_factory=dict[str, str])
    """The client's severity overrides by code: ``off`` or a severity."""

    def with_document(self, document: Document) -> Workspace:
        """Return the same in which this document is open as it is."""
        return replace(self, project=self.project.with_document(document))

    def with_project(self, project: Project) -> Workspace:
        """Return the same with other files."""
        known = self.known if project.disk is self.project.disk else KnownMentions()
        return replace(self, project=project, known=known)

    def with_catalog(self, catalog: Catalog) -> Workspace:
        """Return the same in which something else may be written."""
        return Workspace(self.project, catalog, severities=self.severities)
