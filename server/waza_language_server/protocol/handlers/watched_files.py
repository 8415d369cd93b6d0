"""Files change on disk, or the client opens other folders: take a new view of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_engine.results.result_file_names import FOLDER, JOURNAL_SUFFIX
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from pathlib import Path

    from lsprotocol import types

    from waza_language_server.protocol.server import WazaServer

_RESULTS = compiled_later(r"[/\\](\.waza([/\\]results([/\\][^/\\]*\.json)?)?|reviews\.jsonl)$")


def did_change(ls: WazaServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Refresh what depends on the files: scores for results, everything for suite files."""
    journals = {change.uri for change in params.changes if _is_journal(path_of(change.uri))}
    for path in map(path_of, journals):
        if path is not None:
            _saw_journal(ls, path)
    results = {change.uri for change in params.changes if _RESULTS.search(str(path_of(change.uri) or ""))}
    if results:
        ls.changes.scores_changed()
    handled = results | journals
    others = [path_of(change.uri) for change in params.changes if change.uri not in handled]
    if ls.grades_live and any(path in ls.live.files for path in others):
        ls.live.edited(anyway=True)
        others = [path for path in others if path not in ls.live.files]
    others = [path for path in others if path is None or not _is_foreign(ls, path)]
    if others:
        changed = [path for path in others if path is not None]
        ls.changes.closed_files_changed(changed)
        ls.changes.files_changed(changed)


def _is_foreign(ls: WazaServer, path: Path) -> bool:
    """Return whether a file of JSON Lines belongs to no suite: logs and datasets change all the time."""
    if path.suffix not in ROW_SUFFIXES:
        return False
    project = ls.session.project
    return project.claim(path) is None and not any(project.suites_that_name(path))


def _is_journal(path: Path | None) -> bool:
    return (
        path is not None and path.name.endswith(JOURNAL_SUFFIX) and path.parts[-3:-1] == (FOLDER, "results")
    )


def _saw_journal(ls: WazaServer, journal: Path) -> None:
    """Watch the run of a journal, unless the server started it: its own runs send events."""
    folder = journal.parents[2]
    if all(run.target.suite.parent != folder for run in ls.active_runs):
        ls.external_runs.saw(journal)


def did_change_folders(ls: WazaServer, _params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Take the folders that the client has open now."""
    from waza_language_server.protocol.services.session import client_roots

    ls.session.files_changed(client_roots(ls))
    ls.changes.closed_files_changed(None)
    ls.changes.files_changed()
