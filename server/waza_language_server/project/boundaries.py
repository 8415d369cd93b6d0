"""The boundaries around workspaces, beyond which no link and no path of a document is followed.

The content of a repository must not make an editor read the rest of the disk, or wake a network drive. Links
inside of a boundary work, also if the workspace itself was opened through a link.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from waza_engine.boundary import Boundary, repository_around, suite_boundary

MAX_LEVELS = 200
"""Paths with more folders are resolved by the system alone."""


class Links:
    """The targets of links, cached in ``known`` while the disk caches lookups."""

    def __init__(self) -> None:
        self.known: dict[str, str] | None = None

    def resolved(self, path: str) -> str:
        """Return a path with all links followed."""
        if self.known is None:
            return os.path.realpath(path)
        known = self.known.get(path)
        if known is None:
            known = self.known[path] = self._followed(path)
        return known

    def _followed(self, path: str) -> str:
        folder, name = os.path.split(path)
        is_plain = name not in {"", ".", ".."} and folder.startswith("/") and "\0" not in name
        if os.name != "posix" or not is_plain or path.count("/") > MAX_LEVELS:
            return os.path.realpath(path)
        place = os.path.join(self.resolved(folder), name)  # noqa: PTH118 - of texts
        return os.path.realpath(place) if os.path.islink(place) else place  # noqa: PTH114 - as above


class Boundaries:
    """The boundaries around folders. ``roots`` are the open folders."""

    def __init__(self, roots: Iterable[Path] = ()) -> None:
        self._roots = tuple(roots)
        self.links = Links()
        self._workspace: Boundary | None = None
        self._known: dict[Path, Boundary] = {}

    def around(self, folder: Path) -> Boundary:
        """Return the boundary of links in a folder.

        It is every open folder and the repository of the one that contains the folder; for a folder outside
        of them its repository, or else the folder alone.
        """
        known = self._known.get(folder)
        if known is None:
            known = self._known[folder] = self._around(folder)
        return known

    def _around(self, folder: Path) -> Boundary:
        is_open = any(folder.is_relative_to(root) for root in self._roots)
        if is_open and self._workspace is not None:
            return self._workspace
        folders = suite_boundary(folder, self._roots, self._is_there).folders
        outer = "its folder" if repository_around(folder, self._is_there) is None else "the repository"
        name = "the workspace" if is_open else outer
        boundary = _WithCachedLinks(folders, name, self.links)
        if is_open:
            self._workspace = boundary
        return boundary

    def _is_there(self, path: Path) -> bool:
        return os.path.lexists(path)


class _WithCachedLinks(Boundary):
    """A boundary that caches the targets of links: only for questions, not for opening files."""

    def __init__(self, folders: tuple[str, ...], name: str, links: Links) -> None:
        super().__init__(folders, name)
        self._links = links

    def _followed(self, path: str) -> str:
        return self._links.resolved(path)
