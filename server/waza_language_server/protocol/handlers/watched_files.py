"""Files change on disk, or the client opens other folders: take a new view of the project."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_engine.later_patterns import compiled_later
from waza_engine.results.places import FOLDER, JOURNAL_SUFFIX
from waza_engine.spec.foreign_evals import is_named_as_evals
from waza_language_server.project.disk import LOOKED_AT_AGAIN_SECONDS
from waza_language_server.project.suite_files import read_some_suites
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.asking_again import ask_for_all, ask_for_problems, ask_for_scores
from waza_language_server.protocol.turns import MOMENT_SECONDS, UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.protocol.server import WazaServer

# When a folder is deleted, some clients report the folder but not the files in it.
_FOLDERS = ("**/.waza", "**/.waza/results")
_WATCHED = (
    "**/*.{yaml,yml}",
    "**/{evals,*.evals}.json",
    "**/SKILL.md",
    "**/.waza/results/*.json",
    f"**/.waza/results/*{JOURNAL_SUFFIX}",
    "**/reviews.jsonl",
    *_FOLDERS,
)
_RESULTS = compiled_later(r"[/\\](\.waza([/\\]results([/\\][^/\\]*\.json)?)?|reviews\.jsonl)$")

log = logging.getLogger(__name__)


async def watch_files(ls: WazaServer) -> None:
    """Ask the client to report changes of suite files and results."""
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
    registration = types.Registration(
        id="waza-files",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    try:
        await ls.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
    except JsonRpcException as error:
        log.warning("The client does not report changed files: %s", error.message)


def did_change(ls: WazaServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Refresh what depends on the files: scores for results, everything for suite files."""
    journals = {change.uri for change in params.changes if _is_journal(path_of(change.uri))}
    for path in map(path_of, journals):
        if path is not None:
            _saw_journal(ls, path)
    results = {change.uri for change in params.changes if _RESULTS.search(str(path_of(change.uri) or ""))}
    if results:
        refresh_scores(ls)
    told = results | journals
    others = [path_of(change.uri) for change in params.changes if change.uri not in told]
    if ls.judges_live and any(path in ls.live.files for path in others):
        ls.live.edited(anyway=True)
        others = [path for path in others if path not in ls.live.files]
    if others:
        changed = [path for path in others if path is not None]
        ls.files_changed(changed)
        look_at_files_again(ls, changed)


def _is_journal(path: Path | None) -> bool:
    return (
        path is not None and path.name.endswith(JOURNAL_SUFFIX) and path.parts[-3:-1] == (FOLDER, "results")
    )


def _saw_journal(ls: WazaServer, journal: Path) -> None:
    """Watch the run of a journal, unless the server started it: its own runs send events."""
    folder = journal.parents[2]
    if all(run.target.suite.parent != folder for run in ls.active_runs):
        ls.unended_runs.saw(journal)


def is_watched(path: Path) -> bool:
    """Return whether changes of a file are reported in any case, if it lies in the workspace."""
    return path.suffix in (".yaml", ".yml") or path.name == "SKILL.md" or is_named_as_evals(path.name)


def did_change_folders(ls: WazaServer, _params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Take the folders that the client has open now."""
    from waza_language_server.protocol.services.client_session import client_roots

    ls.session.files_changed(client_roots(ls))
    ls.files_changed(None)
    look_at_files_again(ls)


def read_workspace(ls: WazaServer) -> object:
    """Read some files of the workspace before references are requested; ``UNFINISHED`` if more are left."""
    with ls.session.project.disk.held_still(LOOKED_AT_AGAIN_SECONDS):
        if not read_some_suites(ls.session.project, time.monotonic() + MOMENT_SECONDS):
            return UNFINISHED
    if ls.session.take_suites_found():
        ls.diagnostics.all_again()
    return None


def refresh_scores(ls: WazaServer) -> None:
    """Read the results again and let the client ask for what shows them: there are new scores."""
    ls.session.project.scores.forget()
    if ls.judges_live:
        ls.live.edited()
    ls.forget_estimates()
    ls.forget_histories()
    ask_for_scores(ls)


def refresh_problems(ls: WazaServer) -> None:
    """Look for the problems of all open documents again."""
    ls.diagnostics.all_again()
    ask_for_problems(ls)


def look_at_files_again(ls: WazaServer, changed: Iterable[Path] | None = None) -> None:
    """Take a new view of the disk, and send refresh requests for everything that depends on it.

    ``changed`` are all files that have changed, None if unknown.
    """
    ls.session.files_changed(changed=changed)
    if ls.judges_live:
        ls.live.edited(anyway=True)
    ls.forget_estimates()
    ls.turns.later("workspace", lambda: read_workspace(ls))
    ls.diagnostics.all_again()
    # A skill that has changed makes scores stale.
    ask_for_all(ls)
