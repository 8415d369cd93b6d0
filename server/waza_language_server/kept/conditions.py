"""What the problems of a document depend on beside its text, and whether all of it is as it was.

Architecture invariant: light. It is asked when a document is opened, before the analysis is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from waza_engine.frozen import frozen
from waza_language_server.kept.digests import digest
from waza_language_server.project.stamps import Stamp, identity_of, stamp_of

MOST = 3_000
"""Files and folders that a kept result may depend on: to look at them takes hundredths of a second."""


@frozen()
class Conditions:
    """What was seen outside of a document while it was judged.

    ``stamps`` are those of files and folders, None where there was nothing; ``listed`` is the digest of what
    a folder held: when that is the same, the time at which it was written does not matter. ``resolved`` are
    paths with all links followed, None where that failed; ``plain`` paths are no links themselves.
    ``present`` tells what had a name at all, ``folders`` whether a link led to a folder, ``programs`` what
    could be started by its name. ``home`` is the user's folder.

    ``documents`` are the paths for which it was asked whether they are open. ``suites`` are the eval files
    that were found on the disk; ``asks_all`` tells that other open ones would have been looked at, too.
    """

    stamps: Mapping[str, Stamp | str | None]
    listed: Mapping[str, str]
    resolved: Mapping[str, str | None]
    plain: frozenset[str]
    present: Mapping[str, bool]
    folders: Mapping[str, bool]
    programs: Mapping[str, bool]
    home: str
    documents: frozenset[str]
    suites: frozenset[str]
    asks_all: bool

    def __len__(self) -> int:
        return sum(
            map(len, (self.stamps, self.resolved, self.plain, self.present, self.folders, self.programs))
        )

    def hold(self) -> bool:
        """Whether the disk, its links and the programs of this computer are as they were."""
        return (
            self.home == home()
            and all(map(self._is_as_it_was, self.stamps))
            and all(resolved(path) == place for path, place in self.resolved.items())
            and not any(map(_is_link, self.plain))
            and all(os.path.lexists(path) == there for path, there in self.present.items())
            and all(_is_folder(path) == is_that for path, is_that in self.folders.items())
            and all(has_program(name) == there for name, there in self.programs.items())
        )

    def _is_as_it_was(self, path: str) -> bool:
        stamp, now = self.stamps[path], stamp_of(Path(path))
        if stamp == now:
            return True
        listed = self.listed.get(path)
        return listed is not None and identity_of(stamp) == identity_of(now) and listing(path) == listed

    def as_json(self) -> dict[str, Any]:
        """Return the same for a file."""
        return {
            **{name: dict(getattr(self, name)) for name in _MAPPINGS},
            **{name: sorted(getattr(self, name)) for name in _SETS},
            "home": self.home,
            "asks_all": self.asks_all,
        }


_MAPPINGS = ("stamps", "listed", "resolved", "present", "folders", "programs")
_SETS = ("plain", "documents", "suites")


def conditions_of(written: Mapping[str, Any]) -> Conditions:
    """Return what ``as_json`` has written. Raises ``LookupError``, ``TypeError`` for anything else."""
    stamps: Mapping[str, Stamp | list[int] | str | None] = written["stamps"]
    given: dict[str, Any] = {
        **{name: written[name] for name in _MAPPINGS},
        **{name: frozenset[str](written[name]) for name in _SETS},
        "stamps": {path: tuple(each) if isinstance(each, list) else each for path, each in stamps.items()},
    }
    return Conditions(**given, home=written["home"], asks_all=written["asks_all"])


def listing(folder: str) -> str | None:
    """Return a digest of the names in a folder and what each is, None when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name, entry.is_symlink(), entry.is_dir()) for entry in entries)
    except OSError:
        return None
    return digest(repr(names).encode())


def home() -> str:
    """Return the user's folder; ``~`` when nobody knows it."""
    return os.path.expanduser("~")  # noqa: PTH111 - that of pathlib raises


def resolved(path: str | Path) -> str | None:
    """Return a path with all links followed, None when no file can have this name."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def has_program(name: str) -> bool:
    """Whether a program can be started by its name."""
    # With the first one: few suites start programs.
    import shutil

    return shutil.which(name) is not None


def _is_link(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - that of pathlib raises in some versions


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - the same
