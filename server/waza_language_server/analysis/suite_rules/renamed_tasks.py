"""Renamed task files: an unlisted file next to the place of one that is listed and missing."""

from __future__ import annotations

from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.spec.reading.task_globs import is_literal
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suites import picks_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project

_ENDINGS = (".yaml", ".yml")
_MOST_LOOKED_AT = 50


@frozen()
class Renamed:
    """The probable new file, as an eval file would list it; ``id`` is "" unless it identifies the task."""

    pattern: str
    id: str = ""

    @property
    def words(self) -> str:
        """Return the sentence for a message."""
        if self.id:
            return f'"{self.pattern}" has the id "{self.id}" and is in no list: was it renamed?'
        return f'"{self.pattern}" is the only task beside it that is in no list: was it renamed?'


def renamed_to(document: Document, project: Project, path: Path, pattern: str) -> Renamed | None:
    """Return the most likely new file for a missing one, None if there is no clear candidate.

    It is the one whose ``id`` the missing file was named after, or the only one that no suite lists.
    """
    beside = list(islice(_beside(document, project, path, pattern), _MOST_LOOKED_AT + 1))
    unlisted = [name for name in beside[:_MOST_LOOKED_AT] if _is_unlisted(project, path, name)]
    stem = _plain(PurePosixPath(pattern).stem)
    named = [
        Renamed(name, written)
        for name in unlisted
        if _plain(written := project.outline(path.parent / name).id or "") == stem
    ]
    if named:
        return named[0] if len(named) == 1 else None
    # One of those that were not checked may be unlisted as well.
    is_only = len(unlisted) == 1 and len(beside) <= _MOST_LOOKED_AT
    return Renamed(unlisted[0]) if is_only else None


def _beside(document: Document, project: Project, path: Path, pattern: str) -> Iterator[str]:
    folder = PurePosixPath(pattern).parent
    names = Nearby(project, document).entries(path.parent / folder).value
    files = [name for name, is_folder in names if not is_folder and name.endswith(_ENDINGS)]
    for name in files:
        if is_literal(name):
            yield str(folder / name)


def _is_unlisted(project: Project, path: Path, name: str) -> bool:
    file = path.parent / name
    if file == path or project.claim(file) != "task":
        return False
    return not any(picks_up(suite, file) for suite in project.suites_of(file))


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-")
