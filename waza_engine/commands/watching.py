"""``waza-engine run --watch``: run or grade again what each change of a suite's files affects."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from waza_engine.commands.narrowing import check_free
from waza_engine.counting import counted
from waza_engine.early_interruption import INTERRUPTED
from waza_engine.runs.choosing import chosen
from waza_engine.runs.loading.discovery import eval_files_of
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.passes.deciding_files import inputs_today
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import is_environment, is_searched
from waza_engine.terminal import complain, say

_SECONDS_BETWEEN_LOOKS = 0.5
_MOST_FILES = 10_000

_State: TypeAlias = Mapping[Path, tuple[int, int]]
"""The files of a suite, each with the time of its last change in nanoseconds and its size in bytes."""


def watch(
    paths: Sequence[Path],
    settings: RunSettings,
    carry_out: Callable[[Sequence[Path]], int],
    *,
    live: bool = False,
) -> int:
    """Carry out a command for all suites, then for those whose files change, until Ctrl-C.

    ``carry_out`` gets the eval files, and reports the errors of a suite itself. With ``live`` it starts no
    agent; without, a suite whose executor may cost is refused.
    """
    suites: dict[Path, _WatchedSuite] = {}
    try:
        while True:
            try:
                found = eval_files_of(paths)
                if not (suites or live):
                    _check_free(found, settings)
            except SuiteError as error:
                complain(str(error))
                return 2
            suites = {path: suites.get(path) or _WatchedSuite(path, settings) for path in found}
            changed = [path for path, suite in suites.items() if suite.has_changed()]
            if changed:
                if carry_out(changed) == INTERRUPTED:
                    return INTERRUPTED
                say(f"watching {counted(len(suites), 'suite')}; Ctrl-C ends it")
            pause()
    except KeyboardInterrupt:
        return INTERRUPTED


def pause() -> None:
    """Wait until it is time to look for changes again."""
    time.sleep(_SECONDS_BETWEEN_LOOKS)


class _WatchedSuite:
    """The files in the directory of a suite, and those outside that its tasks read."""

    def __init__(self, eval_file: Path, settings: RunSettings) -> None:
        self._eval_file = eval_file
        self._settings = replace(settings, path=eval_file)
        self._outside: frozenset[Path] = frozenset()
        self._state: _State = {}

    def has_changed(self) -> bool:
        """Return whether a file was added, changed or deleted since the last call; true for the first."""
        if self._seen() == self._state:
            return False
        # A suite that cannot be loaded keeps the files that it had.
        with contextlib.suppress(SuiteError, SuiteFileError):
            choice = chosen(self._settings)
            read = inputs_today(choice.suite, choice.tasks).files
            self._outside = frozenset(self._eval_file.parent / file.path for file in read)
        self._state = self._seen()
        return True

    def _seen(self) -> _State:
        found: dict[Path, tuple[int, int]] = {}
        for path in {*islice(_files_below(self._eval_file.parent), _MOST_FILES), *self._outside}:
            with contextlib.suppress(OSError):
                status = path.stat()
                found[path] = status.st_mtime_ns, status.st_size
        return found


def _files_below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        inside = None if folder == os.fspath(root) else Path(folder).name
        folders[:] = (
            [] if inside and is_environment(files) else [n for n in folders if is_searched(n, inside)]
        )
        yield from (Path(folder) / name for name in files)


def _check_free(suites: Sequence[Path], settings: RunSettings) -> None:
    for path in suites:
        # The run reports why a suite cannot be loaded.
        with contextlib.suppress(SuiteFileError):
            check_free(chosen(replace(settings, path=path)).suite, settings)
