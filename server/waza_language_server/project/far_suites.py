"""The suites whose globs lead out of their folder: ``one/eval.yaml`` with ``../tasks/*.yaml``.

The suites of a task are searched above it; these are elsewhere, so they are indexed by the target of their
globs while the workspace is read. An entry is only a hint: callers check the file of a suite before they rely
on it.
"""

from __future__ import annotations

import os
from bisect import insort
from typing import TYPE_CHECKING

from waza_engine.spec.reading.task_globs import is_literal, split_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from waza_language_server.project.suites import Suite

MOST_OF_FILE = 16
"""The most suites elsewhere that are searched for one file while it is written: their trees are cached."""

_Place = tuple["Path", int, str]
"""A folder, how many levels below it the files lie, and their name when a glob names one file alone."""


class FarSuites:
    """A memory of them that all views of the same open folders share."""

    def __init__(self) -> None:
        self.version = 0
        """Grows with each glob that is noted and was not known."""
        self._at: dict[_Place, list[Path]] = {}
        """In the order of their paths, so that the result does not depend on when each was noted."""
        self._places: dict[Path, frozenset[_Place]] = {}
        self._doubts = 1
        self._known_since = 0
        self._news: set[_Place] = set()

    @property
    def is_known(self) -> bool:
        """Return whether all suites of the workspace were read, and no change was reported since."""
        return self._known_since == self._doubts

    @property
    def moment(self) -> int:
        """The moment to pass to ``all_noted``, taken before the search begins."""
        return self._doubts

    def doubt(self) -> None:
        """Take note that files have changed on the disk."""
        self._doubts += 1

    def all_noted(self, moment: int) -> None:
        """Take note that all suites of the workspace were read since a ``moment``."""
        self._known_since = moment

    def note(self, suite: Suite) -> None:
        """Note where the globs of a suite lead."""
        places = frozenset(_places_of(suite))
        before = self._places.get(suite.path, frozenset[_Place]())
        if places == before:
            return
        for place in before - places:
            self._at[place].remove(suite.path)
        for place in places - before:
            insort(self._at.setdefault(place, []), suite.path)
            self._news.add(place)
            self.version += 1
        self._places[suite.path] = places

    def of(self, path: Path) -> Iterator[Path]:
        """Yield the eval files elsewhere that may pick up a file."""
        for place in _places_around(path):
            yield from tuple(self._at.get(place, ()))

    def folders_of(self, eval_file: Path) -> tuple[Path, ...]:
        """Return the folders in and below which a suite picks up what does not lie below its own."""
        return tuple(folder for folder, _, _ in self._places.get(eval_file, ()))

    def take_news(self) -> FarNews:
        """Return the globs that were noted since the last call."""
        news, self._news = self._news, set[_Place]()
        return FarNews(news)


class FarNews:
    """Globs that were noted since the last call."""

    def __init__(self, places: set[_Place]) -> None:
        self._places = places

    def concern(self, path: Path) -> bool:
        """Return whether one of them may pick up a file."""
        return bool(self._places) and not self._places.isdisjoint(_places_around(path))


def _places_around(path: Path) -> Iterator[_Place]:
    yield path.parent, 1, path.name
    for levels, folder in enumerate(path.parents, 1):
        yield folder, levels, ""


def _places_of(suite: Suite) -> Iterator[_Place]:
    for pattern in suite.outline.patterns:
        # Nearly every glob stays where it is, and is read no further.
        segments = split_pattern(pattern) if ".." in pattern else []
        if not segments or segments[0] != ".." or segments[-1] == "..":
            continue
        literal = next((at for at, each in enumerate(segments) if not is_literal(each)), len(segments))
        at = min(literal, len(segments) - 1)
        folder = type(suite.folder)(os.path.normpath(suite.folder.joinpath(*segments[:at])))
        yield folder, len(segments) - at, segments[-1] if literal == len(segments) else ""
