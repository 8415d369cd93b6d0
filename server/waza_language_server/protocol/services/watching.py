"""Files whose changes the client reports: suite files, results, and those that live verdicts depend on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_engine.spec.foreign_evals import is_named_as_evals
from waza_language_server.project.uris import uri_of

if TYPE_CHECKING:
    from waza_language_server.protocol.connection import ClientConnection

# When a folder is deleted, some clients report the folder but not the files in it.
_FOLDERS = ("**/.waza", "**/.waza/results")
_WATCHED = (
    "**/*.{yaml,yml}",
    "**/{evals,*.evals}.json",
    "**/*.{jsonl,ndjson}",
    "**/{adapters/*,*adapter*}.json",
    "**/SKILL.md",
    "**/.waza/results/*.json",
    *_FOLDERS,
)

_METHOD = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
log = logging.getLogger(__name__)


async def watch_files(client: ClientConnection) -> None:
    """Ask the client to report changes of suite files and results."""
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
    registration = types.Registration(
        id="waza-files",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    try:
        await client.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
    except JsonRpcException as error:
        log.warning("The client does not report changed files: %s", error.message)


def is_watched(path: Path) -> bool:
    """Return whether changes of a file are reported in any case, if it lies in the workspace."""
    return path.suffix in (".yaml", ".yml") or path.name == "SKILL.md" or is_named_as_evals(path.name)


class LiveFiles:
    """Files other than suite files that live verdicts depend on: schemas and snapshots, of any name.

    The client watches just these, so that a verdict does not outlive its file. Call ``watch`` in the event
    loop.
    """

    def __init__(self, client: ClientConnection, on_change: Callable[..., None]) -> None:
        """``on_change`` is called with ``anyway=True`` when one of the files may have changed."""
        self._client = client
        self._on_change = on_change
        self._paths: frozenset[Path] = frozenset()
        self._number = 0
        self._is_asking = False

    def __contains__(self, path: Path | None) -> bool:
        """Return whether a verdict was made of a file."""
        return path in self._paths

    def watch(self, paths: Iterable[Path]) -> None:
        """Ask for reports of these files from now on, and of no others; what stays is not asked for again."""
        wanted = frozenset(paths)
        if wanted != self._paths and self._client.abilities.watches_files:
            self._paths = wanted
            if not self._is_asking:
                self._is_asking = True
                self._client.in_background(self._ask())

    async def _ask(self) -> None:
        asked: frozenset[Path] = frozenset()
        try:
            while asked != self._paths:
                asked = self._paths
                await self._register(asked)
        except JsonRpcException as error:
            log.warning("The client does not report changed schemas and snapshots: %s", error.message)
        finally:
            self._is_asking = False
        # One of them may have changed before the client watched it.
        if asked and self._client.grades_live:
            self._on_change(anyway=True)

    async def _register(self, paths: frozenset[Path]) -> None:
        before, self._number = self._number, self._number + 1
        if paths:
            watchers = [types.FileSystemWatcher(self._pattern(path)) for path in sorted(paths)]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration(_id(self._number), _METHOD, options)
            await self._client.client_register_capability_async(types.RegistrationParams([registration]))
        if before:
            gone = types.Unregistration(_id(before), _METHOD)
            await self._client.client_unregister_capability_async(types.UnregistrationParams([gone]))
        self._number = self._number if paths else 0

    def _pattern(self, path: Path) -> types.RelativePattern | str:
        # Reports of other files that match do no harm.
        name = "".join("?" if character in "*?[]{}" else character for character in path.name)
        if self._client.abilities.watches_any_folder:
            return types.RelativePattern(uri_of(path.parent), name)
        return f"**/{name}"


def _id(number: int) -> str:
    return f"waza-live-files-{number}"
