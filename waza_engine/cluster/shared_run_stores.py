"""The stores of the runs of a process: folders of their suites, or in the store of ``--store``.

A run with a store has a folder as well, with a note of where its trials are: ``stored_run_folders.py``
fetches them when the run was killed.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.cluster.bundle import content_name, make_bundle, manifest_name
from waza_engine.cluster.object_run_store import ObjectRunStore
from waza_engine.cluster.run_store import FolderRunStore, RunStore
from waza_engine.results.reading.run_store_entries import write_note
from waza_engine.results.result_file_names import run_store_directory
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.trials.context import RunContext
from waza_engine.runs.trials.selection import SelectedTask

CheckReads = Callable[[RunStore, Path, str], None]
"""Raises ``SuiteError`` when a worker does not see a store; gets the suite and the name of a file in it."""


class SharedRunStores:
    """``store`` is the address of an object store, "" for folders; ``warn`` gets sentences for the user."""

    def __init__(self, store: str, warn: Callable[[str], None]) -> None:
        self._store = store
        self._warn = warn
        self._in_store: list[tuple[Path, ObjectRunStore]] = []

    def open(
        self, tasks: Sequence[SelectedTask], context: RunContext, check: CheckReads
    ) -> tuple[RunStore, str]:
        """Return the store of a pass, and the digest of the bundle there, "" without one.

        Raises ``SuiteError`` when the store cannot be used, or by all workers.
        """
        directory, run_id = context.suite.directory, context.progress.stream.run_id
        within = suite_boundary(directory)
        folder = FolderRunStore(run_store_directory(directory, run_id), within)
        try:
            nonce = folder.create()
            if not self._store:
                check(folder, directory, nonce)
                return folder, ""
            name = f"{self._store}/{run_id}"
            write_note(folder.folder, name, within)
        except OSError as error:
            raise SuiteError(f"{folder.name} cannot be written: {error.strerror or error}.") from None
        try:
            run_store = ObjectRunStore(name)
            nonce = run_store.create()
            self._in_store.append((folder.folder, run_store))
            check(run_store, directory, nonce)
            bundle = make_bundle(tasks, context)
            if not run_store.has(manifest_name(bundle.digest)):
                run_store.write(content_name(bundle.digest), bundle.content)
                run_store.write(manifest_name(bundle.digest), bundle.manifest)
        except OSError as error:
            raise SuiteError(f"{name} cannot be used: {error.strerror or error}.") from None
        if bundle.warning:
            self._warn(bundle.warning)
        return run_store, bundle.digest

    def check(self, check: CheckReads) -> None:
        """Raise ``SuiteError`` when this machine or a worker cannot use the store."""
        name = f"{self._store}/check-{secrets.token_hex(4)}"
        try:
            run_store = ObjectRunStore(name)
            try:
                check(run_store, Path(), run_store.create())
            finally:
                run_store.remove()
        except OSError as error:
            raise SuiteError(f"{name} cannot be used: {error.strerror or error}.") from None

    def close(self) -> None:
        """Remove the stores of runs whose results are written; others can be resumed."""
        for folder, run_store in self._in_store:
            if not folder.exists():
                # Objects that stay are never read again.
                with contextlib.suppress(OSError):
                    run_store.remove()
