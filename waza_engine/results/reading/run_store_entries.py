"""The folder that the workers of a run on a cluster share: its trials, as lines of a journal.

``.waza/runs/RUN/`` exists while the run is active. When its coordinator is killed, the folder holds more than
the journal: trials that ended later, and those whose agent was asked. ::

    workers/WORKER.json        who holds claims; its modification time is the lease
    trials/…/KEY.N.claim       attempt N to run a trial, by one worker
    trials/…/KEY.N.asked       the agent is asked, or the attempt is revoked; exists once
    trials/…/KEY.jsonl         answers that were paid for, and the trial so far, as a journal has them
    trials/…/KEY.json          the trial that has ended
    stop                       the run ends
    store.json                 all of this is in an object store, at this address
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.files import FileError, create_file, read_bytes, remove_file, write_atomically
from waza_engine.later_patterns import compiled_later
from waza_engine.results.json_values import Block, object_in, text_of
from waza_engine.results.result_file_names import LONGEST_BYTES, record_boundary, run_store_directory
from waza_engine.terminal import json_text

LEASE_SECONDS = 30.0
"""A worker that has not renewed its lease for so long has lost its claims."""
_RUN_ID = compiled_later(r"run-\d+-[0-9a-f]+")
_ENTRIES = (".asked", ".jsonl", ".json")
_NOTE = "store.json"


def run_store_of_journal(journal: Path, begun: Block) -> Path | None:
    """Return the shared folder of the run of a journal, None without one; ``begun`` is its first line."""
    run_id = text_of(begun.get("eval_id"))
    if record_boundary(journal) is None or not _RUN_ID.fullmatch(run_id):
        return None
    run_store = run_store_directory(journal.absolute().parents[2], run_id)
    return run_store if run_store.is_dir() and not run_store.is_symlink() else None


def entries_in(run_store: Path, within: Boundary) -> Iterator[Block]:
    """Yield what workers have left: answers and active trials first, then trials that have ended."""
    files = sorted(
        (_ENTRIES.index(file.suffix), file)
        for file in run_store.glob("trials/*/*")
        if file.suffix in _ENTRIES
    )
    for _, file in files:
        with contextlib.suppress(FileError):
            for line in read_bytes(file, LONGEST_BYTES, within=within).splitlines():
                entry = object_in(line)
                if entry is not None:
                    yield entry


def workers_in(run_store: Path, within: Boundary) -> Iterator[Block]:
    """Yield the workers on this machine that have executed trials of the run, each with its ``process``."""
    for lease in run_store.glob("workers/*.json"):
        with contextlib.suppress(FileError):
            worker = object_in(read_bytes(lease, LONGEST_BYTES, within=within))
            if worker is not None and worker.get("machine") == platform.node():
                yield worker


def write_note(run_store: Path, store: str, within: Boundary) -> None:
    """Note that the trials of the run are at the address of an object store. Raises ``OSError``."""
    write_atomically(run_store / _NOTE, [json_text({"store": store}).encode()], within=within)


def note_in(run_store: Path, within: Boundary) -> str:
    """Return the address at which the trials of the run are, "" when they are in the folder."""
    with contextlib.suppress(FileError):
        return text_of(
            (object_in(read_bytes(run_store / _NOTE, LONGEST_BYTES, within=within)) or {}).get("store")
        )
    return ""


def remove_note(run_store: Path, within: Boundary) -> None:
    """Note that all of the store is in the folder now. Raises ``OSError``."""
    remove_file(run_store / _NOTE, within=within)


def is_held(run_store: Path, within: Boundary, *, is_fetched: bool = False) -> bool:
    """Return whether a worker still executes a trial of the run, or may: its trials are in a store.

    ``is_fetched`` says that those are in the folder as well.
    """
    if not is_fetched and note_in(run_store, within):
        return True
    with contextlib.suppress(OSError):
        now = run_store_clock(run_store, within)
        for claim in run_store.glob("trials/*/*.claim"):
            ended = claim.with_name(claim.name.split(".")[0] + ".json")
            lease = run_store / "workers" / f"{_worker_of(claim, within)}.json"
            if not ended.exists() and lease.is_file() and not is_over(lease, now, within):
                return True
    return False


def _worker_of(claim: Path, within: Boundary) -> str:
    with contextlib.suppress(FileError):
        return text_of((object_in(read_bytes(claim, LONGEST_BYTES, within=within)) or {}).get("worker"))
    return ""


def is_over(lease: Path, now: float, within: Boundary) -> bool:
    """Return whether a lease is over: it was not renewed, or its process on this machine has ended.

    ``now`` is the time of ``run_store_clock``. Raises ``OSError`` when the lease cannot be read.
    """
    from waza_engine.results.reading.journals import goes_on

    if now - os.stat(lease).st_mtime > LEASE_SECONDS:  # noqa: PTH116 - within was resolved below
        return True
    worker = object_in(read_bytes(lease, LONGEST_BYTES, within=within)) or {}
    return worker.get("machine") == platform.node() and not goes_on(worker)


def run_store_clock(run_store: Path, within: Boundary) -> float:
    """Return the time by the clock of the folder, which may be that of another machine, in seconds.

    Raises ``OSError``.
    """
    file = run_store / f"clock-{platform.node()}-{os.getpid()}"
    remove_file(file, within=within)
    with create_file(file, within=within) as created:
        return os.fstat(created.fileno()).st_mtime


def remove_run_store(run_store: Path, within: Boundary) -> None:
    """Remove the shared folder of a run whose results are written."""
    if within.holds(run_store) and not run_store.is_symlink():
        shutil.rmtree(run_store, ignore_errors=True)
        with contextlib.suppress(OSError):
            run_store.parent.rmdir()
