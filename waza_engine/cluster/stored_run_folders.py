"""Fetches what the workers of a killed run have left in an object store, so that ``--resume`` reads it."""

from __future__ import annotations

import os
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.cluster.object_run_store import ObjectRunStore
from waza_engine.files import write_atomically
from waza_engine.results.reading.run_store_entries import is_held, note_in, remove_note, run_store_clock
from waza_engine.runs.loading.suite_on_disk import SuiteError


def fetch_run_store(folder: Path, store: str, within: Boundary) -> None:
    """Copy the trials of a run from its store into its folder.

    The objects of the run are removed, unless workers still execute trials. Raises ``SuiteError`` for another
    ``store`` than that of the run: a file in a folder must not decide where credentials are used.
    """
    name = note_in(folder, within)
    if name != f"{store}/{folder.name}":
        where = name.rpartition("/")[0]
        raise SuiteError(f"The trials of {folder.name} are in {where}: resume it with `--store {where}`.")
    try:
        run_store = ObjectRunStore(name)
        if run_store.is_there:
            remote, here = run_store.now(), run_store_clock(folder, within)
            for kind in ("workers", "trials"):
                for found, modified in run_store.listed(kind):
                    copy = folder / _flat(found)
                    write_atomically(copy, [run_store.content(found)], within=within)
                    # A lease is as old here as there.
                    renewed = here - (remote - modified)
                    os.utime(copy, (renewed, renewed))
            if is_held(folder, within, is_fetched=True):
                return
            run_store.remove()
        remove_note(folder, within)
    except OSError as error:
        raise SuiteError(f"{name} cannot be read: {error.strerror or error}.") from None


def _flat(name: str) -> str:
    """Return the name in a folder of an object; the lines about a trial are next to it there."""
    parts = name.split("/")
    return "/".join([*parts[:-2], ".".join(parts[-2:])]) if len(parts) > 3 else name
