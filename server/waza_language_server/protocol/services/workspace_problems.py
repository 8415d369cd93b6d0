"""Diagnostics of the suite files that are not open, computed again when something near them changes.

Open documents are left out: clients request theirs separately. Files are near a change if they are below its
folder; a ``SKILL.md`` or ``.waza.yaml`` concerns all. The effects of an edit on other files are reported
when it is saved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.frozen import frozen
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.claim import CONFIG_NAMES, SKILL_NAME
from waza_language_server.project.disk import LOOKUPS_VALID_SECONDS
from waza_language_server.project.document import Document
from waza_language_server.project.suite_files import (
    files_in_folder,
    files_named_by_suites,
    folders_of_workspace,
    read_some_suites,
)
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.turns import MOMENT_SECONDS

Shown = TypeVar("Shown")
"""The form of a problem that the client shows."""

if TYPE_CHECKING:
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.suite_files import SuiteSource
    from waza_language_server.protocol.services.session import Session

    Convert = Callable[[Document, tuple[Problem, ...]], list[Shown]]

MOST_PROBLEMS = 10_000
"""The most problems of all closed files together: each costs the client, and more are not read."""
_MOST_CHANGES = 200
_CONCERN_ALL = frozenset({SKILL_NAME, *CONFIG_NAMES})


@frozen()
class Report(Generic[Shown]):
    """The problems that a client is to show of a file from now on, with the id for its next request."""

    uri: str
    items: Sequence[Shown]
    result_id: str


@frozen()
class _Judged(Generic[Shown]):
    """The last report of a file, and the number of changes that were reported by then."""

    uri: str
    text: str
    changes: int
    items: Sequence[Shown]
    result_id: str


@frozen()
class _Search:
    """The folders that are left to look into, the next one last, and the files found in the others."""

    changes: int
    folders: list[Path]
    seen: set[Path] = field(default_factory=set[Path])


class WorkspaceProblems(Generic[Shown]):
    """Answers ``workspace/diagnostic``; one for each session."""

    def __init__(self, session: Session, convert: Convert[Shown]) -> None:
        """``convert`` converts the problems of a document to the form that the client shows."""
        self._session = session
        self._convert = convert
        self._judged: dict[Path, _Judged[Shown]] = {}
        self._changes: list[Path | None] = [None]
        self._forgotten = 0
        self._complete_at = -1
        self._search: _Search | None = None
        self._far_version = 0

    def changed(self, paths: Iterable[Path] | None) -> None:
        """Take note that files changed on the disk or were closed; None when everything may be another."""
        if paths is None:
            self._changes.append(None)
        else:
            far = self._session.project.far
            for path in paths:
                self._changes.append(None if path.name in _CONCERN_ALL else path.parent.parent)
                self._changes += far.folders_of(path)
        if len(self._changes) > _MOST_CHANGES:
            self._forgotten += len(self._changes) - 1
            self._changes = [None]

    def reports(self, previous: Mapping[str, str]) -> list[Report[Shown]]:
        """Return the changes since the results that a client has, by URI: problems, or none.

        They are those of the last time that ``judge_some`` returned True.
        """
        opened = set(self._session.uris)
        # Whatever URI a file is open by, and whether or not its text is ours.
        paths = set(map(path_of, opened))
        known = {each.uri: each for path, each in self._judged.items() if path not in paths}
        found: list[Report[Shown]] = []
        shown = 0
        for uri, judged in known.items():
            shown += len(judged.items)
            if shown > MOST_PROBLEMS:
                break
            if previous.get(uri, _CLEAN) == judged.result_id:
                continue
            found.append(Report(uri, judged.items, judged.result_id))
        nothing: tuple[Shown, ...] = ()
        for uri, result in previous.items():
            if uri not in known and uri not in opened and result != _CLEAN:
                found.append(Report(uri, nothing, _CLEAN))
        return found

    def judge_some(self) -> bool:
        """Diagnose for a moment closed files that a change may affect; return whether none is left."""
        until = time.monotonic() + MOMENT_SECONDS
        with self._session.project.disk.cached_lookups(LOOKUPS_VALID_SECONDS):
            return self._judge_until(until)

    def _judge_until(self, until: float) -> bool:
        project = self._session.project
        far = project.far
        if not read_some_suites(project, until):
            return False
        if self._far_version != far.version:
            # Tasks have other suites now, wherever they lie.
            self._far_version = far.version
            self.changed(None)
        now = self._forgotten + len(self._changes)
        if self._complete_at == now:
            return True
        if self._search is None or self._search.changes != now:
            self._search = _Search(now, collect(folders_of_workspace(project, None))[::-1])
        search = self._search
        while search.folders:
            project.read_folder(search.folders[-1])
            folder = search.folders[-1]
            for file in chain(files_in_folder(project, folder), files_named_by_suites(project, folder)):
                checkpoint()
                if file.path is None or file.path in search.seen:
                    continue
                if file.document is None and self._session.text(file.uri) is None:
                    self._judge_file(file, file.path, now)
                search.seen.add(file.path)
                if time.monotonic() >= until:
                    return False
            search.folders.pop()
        for path in [path for path in self._judged if path not in search.seen]:
            del self._judged[path]
        self._complete_at = now
        self._search = None
        return True

    def _judge_file(self, file: SuiteSource, path: Path, now: int) -> None:
        workspace = self._session.workspace
        workspace.project.read(path)
        text = workspace.project.text(path)
        known = self._judged.get(path)
        if known is not None and text.known and known.text == text.value and not self._concerns(path, known):
            return
        kind = workspace.project.claim(path, text.value) if text.known else None
        items: list[Shown] = []
        if kind is not None:
            document = Document(file.uri, 0, text.value, kind)
            problems = diagnose(document, workspace)
            # A list of problems shows no hints.
            shown = tuple(problem for problem in problems if problem.severity != "hint")
            items = self._convert(document, shown)
        result_id = f"{hash(tuple(items)):x}" if items else _CLEAN
        self._judged[path] = _Judged(file.uri, text.value if text.known else "", now, items, result_id)

    def _concerns(self, path: Path, known: _Judged[Shown]) -> bool:
        """Return whether a change that was reported since concerns a file."""
        since = max(known.changes - self._forgotten, 0)
        return any(folder is None or path.is_relative_to(folder) for folder in self._changes[since:])


_CLEAN = "clean"
